"""Slow truths about placement: Algorithm 1 of CCD, every plan there is, and an integer program."""

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import highspy
import numpy as np

from polycast.model.plan import Plan
from polycast.model.problem import Problem

INFINITE = float("inf")


def algorithm_1(problem: Problem) -> float:
    """The cost of the cheapest plan, by CCD's Algorithm 1 with the cost model Θ = ατ + βφ; infinite if none."""
    formats = range(problem.formats)
    every_set = [
        frozenset(c) for size in range(problem.formats + 1) for c in itertools.combinations(formats, size)
    ]
    children = {broker: np.flatnonzero(problem.parent == broker).tolist() for broker in range(problem.brokers)}

    @cache
    def steiner(held: frozenset[int], needed: frozenset[int]) -> float:
        """The least cost of converting some formats into some others; held and made ones may serve on the way."""
        best: dict[frozenset[int], float] = {held: 0.0}
        for made in every_set:  # by size, so that every set's value is final when it is looked at
            if made in best:
                for f in formats:
                    cost = min((problem.conversion[g, f] for g in made), default=INFINITE)
                    if f not in made and cost < INFINITE:
                        more = made | {f}
                        best[more] = min(best.get(more, INFINITE), best[made] + cost)
        return min((cost for made, cost in best.items() if needed <= made), default=INFINITE)

    def penalty(broker: int, held: frozenset[int]) -> float:
        total = 0.0
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            choices = range(problem.choice_start[want], problem.choice_start[want + 1])
            fit = [problem.choice_penalty[c] for c in choices if problem.choice_format[c] in held]
            total += min(fit, default=INFINITE)
        return total

    def sent(broker: int, formats: frozenset[int]) -> float:
        if not all(problem.sendable[f] for f in formats):
            return INFINITE
        return float(problem.alpha * problem.link_cost[broker] * sum(problem.size[f] for f in formats))

    @cache
    def optimal(broker: int, received: frozenset[int]) -> float:
        least = INFINITE
        for held in every_set:
            if received <= held:
                conversions = steiner(received, held)
                if conversions < INFINITE:
                    cost = problem.beta * problem.compute_cost[broker] * conversions + penalty(broker, held)
                    least = min(least, cost + sum(through(child, held) for child in children[broker]))
        return least

    @cache
    def through(child: int, held: frozenset[int]) -> float:
        return min(sent(child, s) + optimal(child, s) for s in every_set if s <= held)

    return optimal(problem.root, frozenset({problem.published}))


def every_plan(problem: Problem) -> Iterator[Plan]:
    """All valid plans, by trying everything; only for a handful of formats at two or three brokers."""
    n, m = problem.brokers, problem.formats
    sources = [[-1, *np.flatnonzero(np.isfinite(problem.conversion[:, f])).tolist()] for f in range(m)]
    made = [np.array(row, np.int32) for row in itertools.product(*sources)]
    received = [np.array(row, np.bool_) for row in itertools.product((False, True), repeat=m)]
    at_root = np.arange(m) == problem.published
    rows = [[at_root] if broker == problem.root else received for broker in range(n)]
    wants = np.split(problem.choice_format, problem.choice_start[1:-1])
    for receives in itertools.product(*rows):
        for made_from in itertools.product(made, repeat=n):
            for delivered in itertools.product(*wants) if problem.wants else [()]:
                plan = Plan(problem, np.array(receives), np.array(made_from), np.array(delivered, np.int32))
                if plan.fault() is None:
                    yield plan


def integer_program(problem: Problem, relaxed: bool = False, time_limit: float = 60.0) -> float:
    """The optimum by HiGHS; ``relaxed`` leaves out that arcs are whole."""
    model = integer_program_of(problem, relaxed)
    model.setOptionValue("time_limit", time_limit)
    model.run()
    if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return INFINITE
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal, model.getModelStatus()
    return float(model.getInfo().objective_function_value)


def integer_program_of(problem: Problem, relaxed: bool = False) -> highspy.Highs:
    """A directed Steiner tree in the multilayer graph, one flow from the root to each want.

    Every arc of the multilayer graph (a format over a link, an operator at a broker) is bought at its cost, and
    the flow of each want fits into what is bought. This is the strongest known compact formulation: its
    relaxation is as good as all directed cuts.
    """
    tails, heads, costs = _arcs(problem)
    m = problem.formats
    model = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("mip_rel_gap", 1e-9)
    kind = highspy.HighsVarType.kContinuous if relaxed else highspy.HighsVarType.kInteger
    bought = [model.addVariable(0, 1, cost, kind) for cost in costs]
    for want in range(problem.wants):
        broker = int(problem.want_broker[want])
        above = _path_to_root(problem, broker)
        used = [a for a in range(len(costs)) if tails[a] // m in above and heads[a] // m in above]
        flow = {a: model.addVariable(0, 1, 0) for a in used}
        for a, variable in flow.items():
            model.addConstr(variable <= bought[a])
        deliver: dict[int, list[Any]] = {}
        for choice in range(problem.choice_start[want], problem.choice_start[want + 1]):
            node = broker * m + int(problem.choice_format[choice])
            deliver.setdefault(node, []).append(model.addVariable(0, 1, problem.choice_penalty[choice]))
        balance: dict[int, list[Any]] = {at * m + f: [] for at in above for f in range(m)}
        for a, variable in flow.items():
            balance[heads[a]].append((1, variable))
            balance[tails[a]].append((-1, variable))
        for node, terms in balance.items():
            inflow = sum((sign * variable for sign, variable in terms), model.expr())
            outflow = sum(deliver.get(node, []), model.expr())
            source = 1 if node == problem.root * m + problem.published else 0
            model.addConstr(inflow + source == outflow)
    return model


def _arcs(problem: Problem) -> tuple[list[int], list[int], list[float]]:
    """The multilayer graph; the vertex of a format at a broker is ``broker * m + format``."""
    m = problem.formats
    arcs = []
    for broker in range(problem.brokers):
        above = int(problem.parent[broker])
        for f in range(m):
            if above >= 0 and problem.sendable[f]:
                cost = problem.alpha * problem.link_cost[broker] * problem.size[f]
                arcs.append((above * m + f, broker * m + f, cost))
            for g in range(m):
                if g != f and np.isfinite(problem.conversion[f, g]):
                    cost = problem.beta * problem.compute_cost[broker] * problem.conversion[f, g]
                    arcs.append((broker * m + f, broker * m + g, cost))
    tails, heads, costs = (list(column) for column in zip(*arcs, strict=True)) if arcs else ([], [], [])
    return tails, heads, costs


def _path_to_root(problem: Problem, broker: int) -> set[int]:
    above = set()
    while broker >= 0:
        above.add(broker)
        broker = int(problem.parent[broker])
    return above
