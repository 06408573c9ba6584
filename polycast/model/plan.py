"""A plan: which formats travel over every link, and which operators every broker runs (CCD, section 2.2).

Validity and cost are computed here from scratch, independently of every algorithm that makes plans.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from polycast.errors import BadInput
from polycast.model.delivery import Delivery, Unserved
from polycast.model.problem import Flags, Floats, Indices, Problem


class Cost(msgspec.Struct, frozen=True):
    """What a plan costs: ``total = alpha · transmission + beta · conversion + penalty``."""

    total: float
    transmission: float
    conversion: float
    penalty: float


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One broker's part of a plan, with formats by name.

    ``runs`` is in an order in which it can be run; ``delivers`` has one format per want, in order.
    """

    name: str
    receives: tuple[str, ...]
    runs: tuple[tuple[str, str], ...]
    delivers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """The answer to a placement problem.

    Parameters
    ----------
    receives : (n, m)
        Whether a broker receives a format over the link from its parent; for the root, the published format.
    made_from : (n, m)
        The format from which a broker makes a format; -1 where it does not make it. So a broker makes a format
        at most once.
    delivered : (w,)
        The format that satisfies each want.
    deliveries, unserved
        The subscriptions behind the wants, and those that no format suits, where the plan is for a publication.
    """

    problem: Problem
    receives: Flags
    made_from: Indices
    delivered: Indices
    deliveries: tuple[Delivery, ...] = ()
    unserved: tuple[Unserved, ...] = ()

    @cached_property
    def cost(self) -> Cost:
        """What the plan costs, summed exactly and rounded once."""
        problem = self.problem
        below = self.receives.copy()
        below[problem.root] = False
        at, formats = np.nonzero(below)
        transmission = math.fsum((problem.link_cost[at] * problem.size[formats]).tolist())
        at, formats = np.nonzero(self.made_from >= 0)
        operators = problem.conversion[self.made_from[at, formats], formats]
        conversion = math.fsum((problem.compute_cost[at] * operators).tolist())
        penalties = self._penalties()
        penalty = math.fsum(penalties[penalties > 0].tolist())
        total = math.fsum((problem.alpha * transmission, problem.beta * conversion, penalty))
        return Cost(total, transmission, conversion, penalty)

    @cached_property
    def held(self) -> Flags:
        """Which formats each broker has in the end: what it receives, and all it can really make from that."""
        held = self.receives.copy()
        made = self.made_from >= 0
        source = np.where(made, self.made_from, 0).astype(np.intp)
        while True:
            more = held | (made & np.take_along_axis(held, source, axis=1))
            if np.array_equal(more, held):
                return held
            held = more

    def fault(self) -> str | None:
        """Why the plan is not valid, naming the broker and the format; None for a valid plan."""
        problem = self.problem
        checks = (
            (self._wrong_at_root(), "the root holds {format}, and only the published format is there"),
            (self._without_operator(), "no operator makes {format} there"),
            (
                (self.made_from >= 0) & ~self.held,
                "{format} is made from what is not there, or from itself in a circle",
            ),
            (self._sent_from_nowhere(), "{format} is received, and the broker above does not have it"),
            (self._sent() & ~problem.sendable, "{format} is sent, and it cannot be sent"),
            (self._undelivered(), "{format} is delivered, and it is not there"),
        )
        for wrong, reason in checks:
            if wrong.any():
                broker, format = np.argwhere(wrong)[0]
                name = problem.format_names[format]
                return f'broker "{problem.broker_names[broker]}": ' + reason.format(format=f'"{name}"')
        if not np.isfinite(self._penalties()).all():
            return "a want is given a format that does not satisfy it"
        return None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every broker's part, in the order of the problem."""
        problem, names = self.problem, self.problem.format_names
        start = problem.want_start
        received = _rows(self.receives)
        made = _rows(self.made_from >= 0)
        return tuple(
            Step(
                name=problem.broker_names[broker],
                receives=tuple(names[format] for format in received[broker]),
                runs=tuple((names[source], names[target]) for source, target in self._runs(broker, made[broker])),
                delivers=tuple(names[format] for format in self.delivered[start[broker] : start[broker + 1]]),
            )
            for broker in range(problem.brokers)
        )

    def _runs(self, broker: int, made: Sequence[int]) -> list[tuple[int, int]]:
        """The operators of a broker, each after the one that makes its source."""
        waiting = dict.fromkeys(made)
        runs: list[tuple[int, int]] = []
        for first in made:
            chain = []
            format = first
            while format in waiting:
                del waiting[format]
                source = int(self.made_from[broker, format])
                chain.append((source, format))
                if self.receives[broker, source]:
                    break
                format = source
            runs.extend(reversed(chain))
        return runs

    def _sent(self) -> Flags:
        sent = self.receives.copy()
        sent[self.problem.root] = False
        return sent

    def _wrong_at_root(self) -> Flags:
        expected = np.zeros_like(self.receives)
        expected[self.problem.root, self.problem.published] = True
        wrong = np.zeros_like(self.receives)
        wrong[self.problem.root] = (self.receives != expected)[self.problem.root]
        return wrong

    def _without_operator(self) -> Flags:
        made = self.made_from >= 0
        costs = self.problem.conversion[np.where(made, self.made_from, 0), np.arange(self.problem.formats)]
        return made & ~np.isfinite(costs)

    def _sent_from_nowhere(self) -> Flags:
        return self._sent() & ~self.held[self.problem.parent]

    def _undelivered(self) -> Flags:
        delivered = np.zeros_like(self.receives)
        delivered[self.problem.want_broker, self.delivered] = True
        return delivered & ~self.held

    def _penalties(self) -> Floats:
        """The penalty of every want's format; infinite where that format does not satisfy it."""
        problem = self.problem
        want = np.repeat(np.arange(problem.wants), np.diff(problem.choice_start))
        chosen = problem.choice_format == self.delivered[want]
        penalties = np.full(problem.wants, np.inf)
        np.minimum.at(penalties, want[chosen], problem.choice_penalty[chosen])
        return penalties


def plan_of(problem: Problem, steps: Sequence[Step]) -> Plan:
    """Read a plan back from the brokers' parts, as an answer states them."""
    if [step.name for step in steps] != list(problem.broker_names):
        raise BadInput("brokers", "not the brokers of the problem, in its order")
    index = {name: format for format, name in enumerate(problem.format_names)}
    receives = np.zeros((problem.brokers, problem.formats), np.bool_)
    made_from = np.full((problem.brokers, problem.formats), -1, np.int32)
    delivered: list[int] = []
    try:
        for broker, step in enumerate(steps):
            receives[broker, [index[name] for name in step.receives]] = True
            for source, target in step.runs:
                if made_from[broker, index[target]] >= 0:
                    raise BadInput(f"brokers[{broker}].runs", f'"{target}" is made twice')
                made_from[broker, index[target]] = index[source]
            delivered.extend(index[name] for name in step.delivers)
    except KeyError as error:
        raise BadInput(f"brokers[{broker}]", f"no format is named {error}") from None
    counts = np.array([len(step.delivers) for step in steps])
    short = np.flatnonzero(counts != np.diff(problem.want_start))
    if len(short):
        raise BadInput(f"brokers[{short[0]}].delivers", "not one format per want")
    return Plan(problem, receives, made_from, np.array(delivered, np.int32))


def _rows(flags: Flags) -> list[list[int]]:
    """The positions of the true entries, row by row."""
    at, positions = np.nonzero(flags)
    starts = np.searchsorted(at, np.arange(len(flags) + 1))
    flat = positions.tolist()
    return [flat[starts[row] : starts[row + 1]] for row in range(len(flags))]
