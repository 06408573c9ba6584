"""The placement problem (CCD, section 2.2): a tree of brokers, what each wants, and what everything costs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polycast.errors import BadInput
from polycast.model.broker import AnyOf, Broker
from polycast.model.format import ContentGraph

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Problem:
    """A tree of brokers with their wants, as arrays: `n` brokers, `m` formats, `w` wants.

    Make one with :func:`problem_of` from nouns, or directly from arrays; both are validated alike.

    Parameters
    ----------
    size : (m,)
        What sending a format over a link of cost 1 costs; infinite if it cannot be sent.
    conversion : (m, m)
        What the operator from a format (row) to a format (column) costs; infinite where there is none.
    parent : (n,)
        The broker above each broker; -1 at the root.
    link_cost, compute_cost : (n,)
        Factors of the link from the parent, and of conversions at the broker.
    want_start : (n + 1,)
        The wants of broker `i` are ``want_start[i]`` up to ``want_start[i + 1]``.
    choice_start : (w + 1,)
        The formats that satisfy want `k` are the choices ``choice_start[k]`` up to ``choice_start[k + 1]``.
    choice_format, choice_penalty : (choices,)
        A format that would do, and its penalty.
    published
        The format in which the content reaches the root.
    """

    size: Floats
    conversion: Floats
    parent: Indices
    link_cost: Floats
    compute_cost: Floats
    want_start: Ints
    choice_start: Ints
    choice_format: Indices
    choice_penalty: Floats
    published: int = 0
    alpha: float = 1.0
    beta: float = 1.0
    format_names: Sequence[str] = ()
    broker_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, dtype in _DTYPES.items():
            array: npt.NDArray[Any] = np.ascontiguousarray(getattr(self, name), dtype)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not self.format_names:
            object.__setattr__(self, "format_names", tuple(f"F{f}" for f in range(self.formats)))
        if not self.broker_names:
            object.__setattr__(self, "broker_names", _Numbered(self.brokers))
        _check(self)

    @property
    def formats(self) -> int:
        return len(self.size)

    @property
    def brokers(self) -> int:
        return len(self.parent)

    @property
    def wants(self) -> int:
        return len(self.choice_start) - 1

    @cached_property
    def root(self) -> int:
        return int(np.flatnonzero(self.parent < 0)[0])

    @cached_property
    def sendable(self) -> Flags:
        """The formats that may travel over a link."""
        return np.isfinite(self.size)

    @cached_property
    def child_start(self) -> Ints:
        """The children of broker `i` are ``children[child_start[i]:child_start[i + 1]]``."""
        below = self.parent[self.parent >= 0]
        return np.concatenate(([0], np.cumsum(np.bincount(below, minlength=self.brokers)))).astype(np.int64)

    @cached_property
    def children(self) -> Indices:
        """All brokers but the root, grouped by parent, in the order of the input within a group."""
        return np.argsort(self.parent, kind="stable")[1:].astype(np.int32)

    @cached_property
    def order(self) -> Indices:
        """All brokers, level by level from the root: every parent stands before its children."""
        return np.concatenate(self.levels)

    @cached_property
    def levels(self) -> tuple[Indices, ...]:
        """The brokers at depth 0, 1, 2 and so on. Fewer than all brokers if some hang in a circle."""
        return tuple(_levels(self))

    @cached_property
    def want_broker(self) -> Indices:
        """The broker of every want."""
        return np.repeat(np.arange(self.brokers, dtype=np.int32), np.diff(self.want_start))

    def replace(self, **changes: Any) -> "Problem":
        """The same problem with some fields changed."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Problem(**(fields | changes))


_DTYPES: dict[str, type] = {
    "size": np.float64,
    "conversion": np.float64,
    "parent": np.int32,
    "link_cost": np.float64,
    "compute_cost": np.float64,
    "want_start": np.int64,
    "choice_start": np.int64,
    "choice_format": np.int32,
    "choice_penalty": np.float64,
}


class _Numbered(Sequence[str]):
    """The names N1, N2, ... of brokers that were given none; nothing is stored."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [f"N{i + 1}" for i in range(self._count)[position]]
        return f"N{range(self._count)[position] + 1}"


def problem_of(
    graph: ContentGraph,
    brokers: Sequence[Broker],
    published: str,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> Problem:
    """State the problem with nouns: a content graph, brokers that name their parents, and a published format."""
    if published not in graph:
        raise BadInput("published", f'no format is named "{published}"')
    size = np.array([math.inf if format.size is None else format.size for format in graph.formats])
    conversion = np.full((len(size), len(size)), np.inf)
    for operator in graph.operators:
        conversion[graph.index[operator.source], graph.index[operator.target]] = operator.cost
    counts, choices = [], []
    for position, broker in enumerate(brokers):
        for want_position, want in enumerate(broker.wants):
            where = f"brokers[{position}].wants[{want_position}]"
            choices.append(_choices(want, graph, where))
        counts.append(len(broker.wants))
    return Problem(
        size=size,
        conversion=conversion,
        parent=_parents(brokers),
        link_cost=np.array([broker.link_cost for broker in brokers], np.float64),
        compute_cost=np.array([broker.compute_cost for broker in brokers], np.float64),
        want_start=_starts(counts),
        choice_start=_starts([len(choice) for choice in choices]),
        choice_format=np.array([format for choice in choices for format, _ in choice], np.int32),
        choice_penalty=np.array([penalty for choice in choices for _, penalty in choice], np.float64),
        published=graph.index[published],
        alpha=alpha,
        beta=beta,
        format_names=tuple(graph.index),
        broker_names=tuple(broker.name for broker in brokers),
    )


def _starts(counts: Sequence[int]) -> Ints:
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64)


def _choices(want: str | AnyOf, graph: ContentGraph, where: str) -> list[tuple[int, float]]:
    members = {want: 0.0} if isinstance(want, str) else want.any
    for name in members:
        if name not in graph:
            raise BadInput(where, f'no format is named "{name}"')
    return [(graph.index[name], penalty) for name, penalty in members.items()]


def _parents(brokers: Sequence[Broker]) -> Indices:
    index: dict[str, int] = {}
    for position, broker in enumerate(brokers):
        if not broker.name:
            raise BadInput(f"brokers[{position}]", "a broker needs a name")
        if broker.name in index:
            raise BadInput(f"brokers[{position}]", f'a second broker named "{broker.name}"')
        index[broker.name] = position
    parent = np.full(len(brokers), -1, np.int32)
    for position, broker in enumerate(brokers):
        if broker.parent is not None:
            if broker.parent not in index:
                raise BadInput(f"brokers[{position}].parent", f'no broker is named "{broker.parent}"')
            parent[position] = index[broker.parent]
    return parent


def _levels(problem: Problem) -> list[Indices]:
    start, children = problem.child_start, problem.children
    levels = [np.array([problem.root], np.int32)]
    while True:
        above = levels[-1]
        counts = start[above + 1] - start[above]
        if not counts.any():
            return levels
        first = np.repeat(start[above] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        levels.append(children[first + np.arange(counts.sum())])


def _check(problem: Problem) -> None:
    _check_shapes(problem)
    if not problem.brokers:
        raise BadInput("brokers", "there is no broker")
    if not 0 <= problem.published < problem.formats:
        raise BadInput("published", f"no format has the number {problem.published}")
    for name in ("alpha", "beta"):
        weight = getattr(problem, name)
        if not 0 <= weight < math.inf:
            raise BadInput(name, f"{weight} is not a finite weight of 0 or more")
    _check_not_negative("formats", "size", problem.size, infinite=True)
    _check_not_negative("operators", "cost", problem.conversion, infinite=True)
    _check_not_negative("brokers", "link_cost", problem.link_cost)
    _check_not_negative("brokers", "compute_cost", problem.compute_cost)
    _check_wants(problem)
    _check_magnitude(problem)
    _check_tree(problem)


def _check_shapes(problem: Problem) -> None:
    n, m, choices = problem.brokers, problem.formats, len(problem.choice_format)
    expected = {
        "conversion": (m, m),
        "link_cost": (n,),
        "compute_cost": (n,),
        "want_start": (n + 1,),
        "choice_penalty": (choices,),
        "format_names": (m,),
        "broker_names": (n,),
    }
    for name, shape in expected.items():
        value = getattr(problem, name)
        actual = value.shape if isinstance(value, np.ndarray) else (len(value),)
        if actual != shape:
            raise BadInput(name, f"its shape is {actual}, and {shape} is needed")
    for name, last in (("want_start", problem.wants), ("choice_start", choices)):
        starts = getattr(problem, name)
        if not len(starts) or starts[0] != 0 or starts[-1] != last or (np.diff(starts) < 0).any():
            raise BadInput(name, f"does not rise from 0 to {last}")


def _check_not_negative(group: str, name: str, values: Floats, infinite: bool = False) -> None:
    wrong = ~(values >= 0) if infinite else ~((values >= 0) & (values < np.inf))
    if wrong.any():
        position = ", ".join(str(axis[0]) for axis in np.nonzero(wrong))
        value = values[wrong][0]
        raise BadInput(f"{group}[{position}].{name}", f"{value} is not a finite number of 0 or more")


def _check_wants(problem: Problem) -> None:
    empty = np.flatnonzero(np.diff(problem.choice_start) == 0)
    if len(empty):
        raise BadInput(_place_of_want(problem, int(empty[0])), "an empty any: nothing would satisfy it")
    bad_format = (problem.choice_format < 0) | (problem.choice_format >= problem.formats)
    bad_penalty = ~((problem.choice_penalty >= 0) & (problem.choice_penalty < np.inf))
    for bad, reason in (
        (bad_format, "no such format"),
        (bad_penalty, "a penalty is a finite number of 0 or more"),
    ):
        if bad.any():
            want = int(np.searchsorted(problem.choice_start, np.flatnonzero(bad)[0], "right")) - 1
            raise BadInput(_place_of_want(problem, want), reason)


def _check_magnitude(problem: Problem) -> None:
    """No sum of costs may overflow: an infinite cost means that something is impossible, and nothing else."""
    with np.errstate(over="ignore"):
        sending = problem.alpha * problem.link_cost.sum() * problem.size[problem.sendable].sum()
        operators = problem.conversion[np.isfinite(problem.conversion)]
        running = problem.beta * problem.compute_cost.sum() * operators.sum()
        penalties = problem.choice_penalty.sum()
        if not math.isfinite(sending + running + penalties):
            raise BadInput("brokers", "the costs are so large that their sum is not finite; use a larger unit")


def _place_of_want(problem: Problem, want: int) -> str:
    broker = int(problem.want_broker[want])
    return f"brokers[{broker}].wants[{want - problem.want_start[broker]}]"


def _check_tree(problem: Problem) -> None:
    outside = np.flatnonzero((problem.parent < -1) | (problem.parent >= problem.brokers))
    if len(outside):
        raise BadInput(f"brokers[{outside[0]}].parent", "no such broker")
    roots = np.flatnonzero(problem.parent < 0)
    if not len(roots):
        raise BadInput("brokers", "no root: every broker has a parent")
    names = problem.broker_names
    if len(roots) > 1:
        raise BadInput(
            f"brokers[{roots[1]}]",
            f'a second root: neither "{names[roots[0]]}" nor "{names[roots[1]]}" has a parent',
        )
    if sum(map(len, problem.levels)) < problem.brokers:
        lost = np.setdiff1d(np.arange(problem.brokers), np.concatenate(problem.levels))[0]
        raise BadInput(f"brokers[{lost}].parent", f'"{names[lost]}" hangs in a circle that never reaches the root')
