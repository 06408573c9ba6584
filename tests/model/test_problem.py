import numpy as np
import pytest

from polycast.errors import BadInput
from polycast.model.broker import AnyOf, Broker
from polycast.model.format import ContentGraph, Format, Operator
from polycast.model.problem import Problem, problem_of
from tests.problems import random_problem

MAPS = ContentGraph(
    formats=(Format(name="pdf", size=18.0), Format(name="jpg", size=3.0), Format(name="txt", size=None)),
    operators=(Operator("pdf", "jpg", 4.0), Operator("jpg", "txt", 2.0)),
)


def test_nouns_become_arrays() -> None:
    brokers = [
        Broker("leaf", "root", link_cost=2.0, wants=("jpg", AnyOf({"txt": 0.5, "pdf": 1.5}))),
        Broker("root"),
    ]
    problem = problem_of(MAPS, brokers, "pdf")
    assert problem.root == 1
    assert problem.parent.tolist() == [1, -1]
    assert problem.want_broker.tolist() == [0, 0]
    assert problem.choice_format.tolist() == [1, 2, 0]
    assert problem.choice_penalty.tolist() == [0.0, 0.5, 1.5]
    assert problem.sendable.tolist() == [True, True, False]
    assert problem.order.tolist() == [1, 0]


def test_every_parent_stands_before_its_children() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        problem = random_problem(rng, int(rng.integers(1, 40)), 3)
        position = np.argsort(problem.order)
        below = np.flatnonzero(problem.parent >= 0)
        assert sorted(problem.order) == list(range(problem.brokers))
        assert (position[problem.parent[below]] < position[below]).all()
        for broker in range(problem.brokers):
            children = problem.children[problem.child_start[broker] : problem.child_start[broker + 1]]
            assert children.tolist() == np.flatnonzero(problem.parent == broker).tolist()


def test_a_deep_tree_needs_no_recursion() -> None:
    names = [f"N{i}" for i in range(10_000)]
    brokers = [Broker(name, above) for name, above in zip(names, [None, *names[:-1]], strict=True)]
    assert len(problem_of(MAPS, brokers, "pdf").levels) == 10_000


@pytest.mark.parametrize(
    ("brokers", "place", "reason"),
    [
        ([], "brokers", "no broker"),
        ([Broker("a"), Broker("b")], "brokers[1]", 'neither "a" nor "b"'),
        ([Broker("a", "b"), Broker("b", "a")], "brokers", "no root"),
        ([Broker("a"), Broker("b", "c"), Broker("c", "b")], "brokers[1].parent", "circle"),
        ([Broker("a"), Broker("b", "x")], "brokers[1].parent", 'no broker is named "x"'),
        ([Broker("a"), Broker("a", "a")], "brokers[1]", 'second broker named "a"'),
        ([Broker("")], "brokers[0]", "name"),
        ([Broker("a"), Broker("b", "a", link_cost=-1.0)], "brokers[1].link_cost", "-1"),
        ([Broker("a", compute_cost=float("nan"))], "brokers[0].compute_cost", "nan"),
        ([Broker("a", compute_cost=float("inf"))], "brokers[0].compute_cost", "inf"),
        ([Broker("a", wants=("jpg", "gif"))], "brokers[0].wants[1]", '"gif"'),
        ([Broker("a"), Broker("b", "a", wants=(AnyOf({}),))], "brokers[1].wants[0]", "empty any"),
        ([Broker("a", wants=("jpg", AnyOf({"jpg": -1.0})))], "brokers[0].wants[1]", "penalty"),
    ],
)
def test_a_wrong_tree_names_the_place_and_the_reason(brokers: list[Broker], place: str, reason: str) -> None:
    with pytest.raises(BadInput) as caught:
        problem_of(MAPS, brokers, "pdf")
    assert caught.value.where == place
    assert reason in caught.value.why


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"beta": float("inf")}, "beta"),
        ({"published": 7}, "published"),
        ({"link_cost": np.ones(3)}, "link_cost"),
        ({"parent": [-1, 9]}, "brokers[1].parent"),
        ({"want_start": [0, 2, 1]}, "want_start"),
        ({"choice_format": [9]}, "brokers[1].wants[0]"),
        ({"size": [1.0, -2.0]}, "formats[1].size"),
        ({"conversion": [[0.0, 1.0], [-1.0, 0.0]]}, "operators[1, 0].cost"),
    ],
)
def test_arrays_are_validated_too(change: dict[str, object], place: str) -> None:
    sound = Problem(
        size=np.ones(2),
        conversion=np.ones((2, 2)),
        parent=np.array([-1, 0], np.int32),
        link_cost=np.ones(2),
        compute_cost=np.ones(2),
        want_start=np.array([0, 0, 1]),
        choice_start=np.array([0, 1]),
        choice_format=np.array([1], np.int32),
        choice_penalty=np.zeros(1),
    )
    with pytest.raises(BadInput) as caught:
        sound.replace(**change)
    assert caught.value.where == place
