import numpy as np
import pytest

from polycast.errors import BadInput
from polycast.model.tree import Tree


def test_a_tree_knows_its_shape() -> None:
    tree = Tree.of("s", {"c": "b", "a": "s", "b": "a", "d": "s"})
    assert tree.names[tree.root] == "s"
    assert dict(zip(tree.names, tree.depths.tolist(), strict=True)) == {"s": 0, "a": 1, "d": 1, "b": 2, "c": 3}
    assert [tree.names[i] for i in tree.order] == ["s", "a", "d", "b", "c"]
    assert [tree.names[i] for i in tree.children[tree.root]] == ["a", "d"]
    assert tree.height == 3
    assert tree.as_mapping() == {"c": "b", "a": "s", "b": "a", "d": "s"}


def test_equality_is_of_structure() -> None:
    one = Tree.of("s", {"a": "s", "b": "a"})
    assert one == Tree(("b", "a", "s"), np.array([1, 2, -1], np.int32))
    assert hash(one) == hash(Tree(("b", "a", "s"), np.array([1, 2, -1], np.int32)))
    assert one != Tree.of("s", {"a": "s", "b": "s"})


def test_a_chain_of_any_length() -> None:
    tree = Tree([f"n{i}" for i in range(5000)], np.arange(-1, 4999, dtype=np.int32))
    assert tree.height == 4999


@pytest.mark.parametrize(
    ("root", "parents"),
    [
        ("s", {"s": "a", "a": "s"}),
        ("s", {"a": "b"}),
        ("s", {"a": "b", "b": "a"}),
        ("s", {"a": "a"}),
    ],
)
def test_what_is_no_tree(root: str, parents: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        Tree.of(root, parents)


def test_arrays_that_are_no_tree() -> None:
    for names, parents in (
        (("a", "a"), [-1, 0]),
        (("a", "b"), [-1, -1]),
        (("a", "b"), [-1, 2]),
        (("a",), [-1, 0]),
    ):
        with pytest.raises(BadInput):
            Tree(names, np.array(parents, np.int32))
