"""What no plan can cost less than: the lower bounds of CCD (appendix D), for unlike brokers and alternatives."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Floats, Problem
from polycast.place.arrays import Arrays, arrays_of, useful_operators
from polycast.place.digraph import Digraph, digraph_of
from polycast.place.dual_ascent import ROUNDING, dual_ascent
from polycast.place.feasible import available, derivable
from polycast.place.steiner import steiner
from polycast.place.steiner_exact import exact_price

# Elementary steps that the least cost of conversion may take to find; with more, a bound on it must do.
EFFORT = 1e7


def lower_bound(problem: Problem) -> float:
    """The sum of what sending, converting and penalties cost at the least, each taken alone."""
    total = link_bounds(problem).sum() + conversion_bound(problem) + penalty_bound(problem)
    return float(total * (1.0 - ROUNDING))


def penalty_bound(problem: Problem) -> float:
    """Every want takes its cheapest alternative."""
    return (
        float(np.minimum.reduceat(problem.choice_penalty, problem.choice_start[:-1]).sum())
        if problem.wants
        else 0.0
    )


def link_bounds(problem: Problem) -> Floats:
    """What must be spent at least on the link to every broker; 0 at the root.

    Some format must pass from which each want below can be made: the smallest such, for the want whose is largest.
    """
    at_root, _ = available(problem)
    passing = np.where(at_root & problem.sendable, problem.size, np.inf)
    leads_to = derivable(problem, np.eye(problem.formats, dtype=np.bool_))
    smallest = np.where(leads_to, passing[:, None], np.inf).min(axis=0)
    return _link_bounds(arrays_of(problem), smallest)


@kernel
def _link_bounds(problem: Arrays, smallest: Floats) -> Floats:
    size = np.zeros(len(problem.parent))
    for broker in problem.order[:0:-1]:
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            least = np.inf
            for choice in range(problem.choice_start[want], problem.choice_start[want + 1]):
                least = min(least, smallest[problem.choice_format[choice]])
            size[broker] = max(size[broker], least)
        size[problem.parent[broker]] = max(size[problem.parent[broker]], size[broker])
    size[problem.root] = 0.0
    return problem.alpha * problem.link_cost * size


def conversion_bound(problem: Problem) -> float:
    """Everything that is wanted is made once, at the cheapest of the brokers that anything passes through."""
    graph, terminals = _wanted_graph(problem)
    active = arrays_of(problem).wanting | (problem.parent < 0)
    cheapest = problem.beta * problem.compute_cost[active].min()
    if exact_price(graph, terminals) > EFFORT:
        return float(cheapest * dual_ascent(graph, problem.published, terminals)[0])
    entry = steiner(graph, problem.published, terminals, EFFORT)
    return float(cheapest * graph.weight[entry[entry >= 0]].sum())


def _wanted_graph(problem: Problem) -> tuple[Digraph, np.ndarray]:
    """The content graph, with a vertex more for every set of alternatives; and all that is wanted in it."""
    start, end = problem.choice_start[:-1], problem.choice_start[1:]
    wanted = {tuple(np.unique(problem.choice_format[a:b]).tolist()) for a, b in zip(start, end, strict=True)}
    groups = sorted(group for group in wanted if len(group) > 1)
    source, target = useful_operators(problem)
    weight = problem.conversion[source, target]
    tail = [*source, *(format for group in groups for format in group)]
    head = [*target, *(problem.formats + vertex for vertex, group in enumerate(groups) for _ in group)]
    weight = np.concatenate([weight, np.zeros(len(tail) - len(weight))])
    vertices = problem.formats + len(groups)
    graph = digraph_of(vertices, np.array(tail, np.int32), np.array(head, np.int32), weight)
    single = sorted(group[0] for group in wanted if len(group) == 1 and group[0] != problem.published)
    return graph, np.array([*single, *range(problem.formats, vertices)], np.int32)
