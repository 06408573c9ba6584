"""Nobody misses a violation because of what a parent filtered: any divergence, also while the tree moves."""

import math
from collections.abc import Hashable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.model.tree import Tree
from polycast.tree.coherency import UNWANTED, Filter, effective_tolerances
from polycast.tree.divergence import (
    ABSOLUTE,
    AGE,
    CHANGES,
    DIVERGENCES,
    EDITS,
    RELATIVE,
    Divergence,
    Version,
    divergence,
    edit_distance,
)
from tests.tree.instances import random_parents

SQUARED = Divergence("squared", lambda one, other: (one.value - other.value) ** 2, metric=False)


class Dissemination:
    """A tree of filters through which messages pass at once; without filters it is the reference."""

    def __init__(self, tree: Tree, tolerances: dict[str, float], measure: Divergence) -> None:
        self.source, self.tolerances = tree.names[tree.root], tolerances
        self.parents = tree.as_mapping()
        self.effective = effective_tolerances(tree, tolerances)
        self.filters: dict[Hashable, Filter] = {
            name: Filter(measure, 0.0 if name == self.source else self.effective[name]) for name in tree.names
        }
        for child, parent in self.parents.items():
            self.filters[parent].adopt(child, self.effective[child])
        self.messages = 0

    def publish(self, version: Version) -> None:
        self.forward(self.source, self.filters[self.source].receive(version))

    def forward(self, sender: Hashable, children: list[Hashable]) -> None:
        for child in children:
            self.messages += 1
            copy = self.filters[sender].copy
            assert copy is not None
            self.forward(child, self.filters[child].receive(copy))

    def move(self, child: str, parent: str) -> None:
        """Hang a server elsewhere: first everybody's new tolerance, from the root down and from the leaves up."""
        copy = self.filters[self.parents[child]].drop(child)
        self.parents[child] = parent
        names = (self.source, *self.parents)
        tree = Tree.of(self.source, self.parents)
        new, old = effective_tolerances(tree, self.tolerances), self.effective
        down = [tree.names[node] for node in tree.order.tolist() if node != tree.root]
        for name in reversed(down):
            if new[name] > old[name]:
                self.forward(name, self.filters[name].keep_to(new[name]))
        self.effective = new
        for name in down:
            below = self.parents[name]
            had = copy if name == child else self.filters[below].drop(name)
            if self.filters[below].adopt(name, new[name], had):
                self.forward(below, [name])
            if new[name] < old[name]:
                self.forward(name, self.filters[name].keep_to(new[name]))
        assert set(names) == set(self.filters)

    def violated(self, truth: Version) -> Iterator[str]:
        """Who is not content, though a message for everybody would make it so."""
        for name, tolerance in self.tolerances.items():
            copy = self.filters[name].copy
            if copy is None or self.filters[name].divergence(truth, copy) >= tolerance:
                yield name


def versions(rng: np.random.Generator, measure: Divergence, count: int) -> Iterator[Version]:
    """Values on a grid of 1/64, so that sums are exact, at times that are."""
    value, text, time = 8.0, "abcabc", 0.0
    for number in range(count):
        value += float(rng.integers(-40, 41)) / 64
        time += float(rng.integers(1, 64)) / 64
        place = int(rng.integers(len(text)))
        text = text[:place] + "abc"[rng.integers(3)] + text[place + 1 :]
        yield Version(text if measure is EDITS else value, number, time)


STRICTEST = {ABSOLUTE: 0.25, RELATIVE: 0.03, EDITS: 1.0, CHANGES: 1.0, AGE: 0.5, SQUARED: 0.2}


def drawn(rng: np.random.Generator, measure: Divergence, servers: int) -> Dissemination:
    parents = random_parents(rng, list(range(servers)))
    tree = Tree.of("s", {f"n{child}": f"n{parent}" if parent else "s" for child, parent in parents.items()})
    wanting = [name for name in tree.names[1:] if rng.random() < 0.8]
    return Dissemination(tree, {name: STRICTEST[measure] * int(rng.integers(1, 9)) for name in wanting}, measure)


@pytest.mark.parametrize("measure", STRICTEST, ids=lambda measure: measure.name)
def test_nobody_misses_a_violation(measure: Divergence) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        network = drawn(rng, measure, 14)
        everything = 0
        for version in versions(rng, measure, 150):
            network.publish(version)
            everything += len(network.parents)
            assert not list(network.violated(version))
        assert network.messages < everything


@pytest.mark.parametrize("measure", STRICTEST, ids=lambda measure: measure.name)
def test_nobody_misses_a_violation_while_the_tree_moves(measure: Divergence) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        network = drawn(rng, measure, 12)
        for version in versions(rng, measure, 150):
            network.publish(version)
            assert not list(network.violated(version))
            names = list(network.parents)
            child, parent = (names[i] for i in rng.choice(len(names), 2, replace=False))
            above = parent
            while above in network.parents and above != child:
                above = network.parents[above]
            if above != child:
                network.move(child, parent)
                assert not list(network.violated(version))


def test_without_shahs_condition_a_violation_is_missed() -> None:
    """A parent that compares only with its own copy does not see that both have drifted apart from the source."""
    for told, missed in ((3.0, False), (0.0, True)):
        parent = Filter(ABSOLUTE, tolerance=told)
        source = Filter(ABSOLUTE)
        source.adopt("p", 3.0)
        parent.adopt("q", 4.0)
        copy = None
        for number, value in enumerate((10.0, 13.5, 15.0)):
            version = Version(value, number)
            if source.receive(version) and parent.receive(version):
                copy = version
        assert copy is not None
        assert (ABSOLUTE(Version(15.0), copy) >= 4.0) == missed


@pytest.mark.parametrize(
    ("copy", "parents", "sources", "strict", "lax"),
    [(-1.02, 0.38, 0.58, 0.2, 1.6), (1.19, 0.29, 0.19, 0.1, 1.0), (0.215, 0.045, -0.005, 0.05, 0.22)],
)
def test_rounding_hides_no_violation(
    copy: float, parents: float, sources: float, strict: float, lax: float
) -> None:
    """The source's version does not concern the parent, and is as far from the child's copy as it tolerates."""
    parent = Filter(ABSOLUTE, tolerance=strict)
    parent.adopt("child", lax, Version(copy))
    assert abs(sources - parents) < strict
    assert abs(parents - copy) + strict < lax <= abs(sources - copy)
    assert parent.receive(Version(parents)) == ["child"]


def test_effective_tolerances_are_the_strictest_below() -> None:
    tree = Tree.of("s", {"a": "s", "b": "a", "c": "a", "d": "c", "e": "s"})
    effective = effective_tolerances(tree, {"a": 5.0, "b": 2.0, "d": 1.0})
    assert effective == {"s": 1.0, "a": 1.0, "b": 2.0, "c": 1.0, "d": 1.0, "e": UNWANTED}


def test_who_wants_nothing_gets_nothing() -> None:
    source = Filter()
    assert not source.adopt("idle", UNWANTED)
    assert not source.receive(Version(1.0))
    assert source.adopt("late", 1.0)  # and is told at once


@pytest.mark.parametrize("tolerance", [0.0, -1.0, math.nan])
def test_a_tolerance_is_above_0(tolerance: float) -> None:
    with pytest.raises(BadInput, match="above 0"):
        Filter().adopt("n1", tolerance)
    with pytest.raises(BadInput, match=r"tolerances\.n1"):
        effective_tolerances(Tree.of("s", {"n1": "s"}), {"n1": tolerance})


texts = st.text("ab", max_size=6)
moments = st.builds(Version, st.floats(-100, 100), st.integers(0, 50), st.floats(0, 1000))


@settings(max_examples=300)
@given(moments, moments, moments)
def test_divergences_are_distances(one: Version, two: Version, three: Version) -> None:
    for measure in (ABSOLUTE, RELATIVE, CHANGES, AGE):
        direct = measure(one, three)
        assert direct == measure(three, one) >= 0
        assert measure(one, one) == 0
        assert direct <= (measure(one, two) + measure(two, three)) * (1 + 1e-12)


@settings(max_examples=300)
@given(texts, texts, texts)
def test_the_edit_distance_is_one_too(one: str, two: str, three: str) -> None:
    direct = edit_distance(one, three)
    assert direct == edit_distance(three, one)
    assert (direct == 0) == (one == three)
    assert direct <= edit_distance(one, two) + edit_distance(two, three)
    assert abs(len(one) - len(three)) <= direct <= max(len(one), len(three))


def test_known_divergences() -> None:
    old, new = Version(8.0, 3, 10.0), Version(10.0, 5, 11.5)
    assert [DIVERGENCES[name](old, new) for name in ("absolute", "relative", "changes", "age")] == [2, 0.2, 2, 1.5]
    assert EDITS(Version("kitten"), Version("sitting")) == 3
    assert divergence("edits") is EDITS
    with pytest.raises(BadInput, match="none of"):
        divergence("guess")
