"""The placement problem and its answer as JSON documents: what `polycast place` reads and writes."""

import math
import sys
from collections.abc import Callable

import msgspec
import numpy as np

from polycast.errors import BadInput
from polycast.model import codec
from polycast.model.broker import AnyOf, Broker
from polycast.model.format import ContentGraph, Format, Operator
from polycast.model.plan import Step
from polycast.model.problem import Problem, problem_of
from polycast.place.solve import Solution


class Instance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The question: a content graph (or the name or path of one), brokers, and a published format."""

    brokers: tuple[Broker, ...]
    published: str
    formats: tuple[Format, ...] | None = None
    operators: tuple[Operator, ...] | None = None
    graph: str | None = None
    alpha: float = 1.0
    beta: float = 1.0

    def content_graph(self) -> ContentGraph:
        """The content graph, where it is stated in full."""
        if self.formats is None or self.operators is None:
            raise BadInput("formats", "formats and operators are needed, or a graph in their place")
        return ContentGraph(formats=self.formats, operators=self.operators)


class Answer(msgspec.Struct, frozen=True):
    """The answer; every key is always there."""

    method: str
    cost: float
    transmission: float
    conversion: float
    penalty: float
    lower_bound: float
    optimal: bool
    seconds: float
    history: tuple[float, ...] | None
    brokers: tuple[Step, ...]


def read(
    data: bytes,
    where: str,
    load_graph: Callable[[str], ContentGraph],
    *,
    alpha: float | None = None,
    beta: float | None = None,
) -> Problem:
    """State the problem of a JSON document; weights given here stand before the document's own."""
    instance = codec.decode(data, Instance, where)
    try:
        return problem_of(
            _graph(instance, load_graph),
            instance.brokers,
            instance.published,
            instance.alpha if alpha is None else alpha,
            instance.beta if beta is None else beta,
        )
    except BadInput as error:
        raise BadInput(f"{where}, {error.where}", error.why) from None


def answer_of(solution: Solution) -> Answer:
    """Put a solution into words."""
    cost = solution.plan.cost
    return Answer(
        method=solution.method,
        cost=_figure(cost.total),
        transmission=_figure(cost.transmission),
        conversion=_figure(cost.conversion),
        penalty=_figure(cost.penalty),
        lower_bound=_figure(solution.lower_bound),
        optimal=solution.optimal,
        seconds=round(solution.seconds, 6),
        history=None if solution.history is None else tuple(map(_figure, solution.history)),
        brokers=solution.plan.steps,
    )


def _figure(cost: float) -> float:
    """The cost, or the short decimal that it is but for rounding: 45.8, rather than 45.800000000000004."""
    short = float(f"{cost:.{sys.float_info.dig}g}")
    return short if abs(short - cost) <= 2 * math.ulp(cost) else cost


def instance_of(problem: Problem) -> Instance:
    """Put a problem into words, its content graph in full."""
    names = problem.format_names
    return Instance(
        formats=tuple(
            Format(name=name, size=size if math.isfinite(size) else None)
            for name, size in zip(names, problem.size.tolist(), strict=True)
        ),
        operators=tuple(
            Operator(names[source], names[target], float(problem.conversion[source, target]))
            for source, target in np.argwhere(np.isfinite(problem.conversion)).tolist()
        ),
        brokers=tuple(_broker(problem, broker) for broker in range(problem.brokers)),
        published=names[problem.published],
        alpha=problem.alpha,
        beta=problem.beta,
    )


def _broker(problem: Problem, broker: int) -> Broker:
    above = int(problem.parent[broker])
    wants = range(problem.want_start[broker], problem.want_start[broker + 1])
    return Broker(
        name=problem.broker_names[broker],
        parent=None if above < 0 else problem.broker_names[above],
        link_cost=float(problem.link_cost[broker]),
        compute_cost=float(problem.compute_cost[broker]),
        wants=tuple(_want(problem, want) for want in wants),
    )


def _want(problem: Problem, want: int) -> str | AnyOf:
    """A want that one format alone satisfies, and at no penalty, is written as that format."""
    chosen = slice(problem.choice_start[want], problem.choice_start[want + 1])
    names = [problem.format_names[format] for format in problem.choice_format[chosen]]
    choices = dict(zip(names, problem.choice_penalty[chosen].tolist(), strict=True))
    return names[0] if len(names) == 1 and not any(choices.values()) else AnyOf(choices)


def _graph(instance: Instance, load_graph: Callable[[str], ContentGraph]) -> ContentGraph:
    stated = instance.formats is not None or instance.operators is not None
    if instance.graph is not None:
        if stated:
            raise BadInput("graph", "stands in place of formats and operators; give one or the other")
        return load_graph(instance.graph)
    return instance.content_graph()
