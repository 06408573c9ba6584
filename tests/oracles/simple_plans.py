"""What the three simple plans cost, straight from their definitions; None where such a plan does not exist."""

from collections.abc import Callable
from itertools import product

import numpy as np

from polycast.model.problem import Problem
from tests.oracles.steiner import steiner_cost

Choice = tuple[int, float]


def choices_of(problem: Problem, broker: int) -> list[list[Choice]]:
    """For each want of a broker, the formats that satisfy it and their penalties."""
    return [choices_of_want(problem, want) for want in range(*problem.want_start[broker : broker + 2])]


def choices_of_want(problem: Problem, want: int) -> list[Choice]:
    choices = range(*problem.choice_start[want : want + 2])
    return [(int(problem.choice_format[c]), float(problem.choice_penalty[c])) for c in choices]


def children_of(problem: Problem, broker: int) -> list[int]:
    return np.flatnonzero(problem.parent == broker).tolist()


def making_cost(problem: Problem, broker: int, held: set[int], needed: set[int]) -> float:
    """The cheapest operators that make, at one broker, what is needed and wanted from what is held."""
    costs = []
    for chosen in product(*choices_of(problem, broker)):
        formats = frozenset(needed | {format for format, _ in chosen})
        penalty = sum(penalty for _, penalty in chosen)
        effort = steiner_cost(problem.conversion, frozenset(held), formats)
        if effort < np.inf:
            costs.append(problem.beta * problem.compute_cost[broker] * effort + penalty)
    return min(costs, default=np.inf)


def sending_cost(problem: Problem, broker: int, format: int) -> float:
    """What a format costs over the link to a broker."""
    if not problem.sendable[format]:
        return np.inf
    return problem.alpha * problem.link_cost[broker] * problem.size[format]


def total_cost(problem: Problem, received: dict[int, set[int]]) -> float | None:
    """The cost of a plan, once it is known which formats every broker receives."""
    total = 0.0
    for broker, held in received.items():
        needed = set().union(*(received[child] for child in children_of(problem, broker)))
        total += making_cost(problem, broker, held, needed) if held else 0.0
        if broker != problem.root:
            total += sum(sending_cost(problem, broker, format) for format in held)
    return total if total < np.inf else None


def all_in_leaves(problem: Problem) -> float | None:
    def wanting(broker: int) -> bool:
        return bool(choices_of(problem, broker)) or any(map(wanting, children_of(problem, broker)))

    received = {b: {problem.published} if wanting(b) else set() for b in range(problem.brokers)}
    return total_cost(problem, received | {problem.root: {problem.published}})


def single_format(problem: Problem) -> float | None:
    """The smallest format that makes all below; an empty set stands for a broker that needs nothing."""
    origin = frozenset({problem.published})
    reachable = [
        f for f in range(problem.formats) if steiner_cost(problem.conversion, origin, frozenset({f})) < np.inf
    ]
    candidates = sorted((f for f in reachable if problem.sendable[f]), key=lambda f: problem.size[f])
    received: dict[int, set[int]] = {}
    for broker in problem.order[::-1].tolist():
        needed = set().union(*(received[child] for child in children_of(problem, broker)))
        serving = [f for f in candidates if making_cost(problem, broker, {f}, needed) < np.inf]
        if broker == problem.root:
            received[broker] = {problem.published}
        elif not needed and not choices_of(problem, broker):
            received[broker] = set()
        elif serving:
            received[broker] = {serving[0]}
        else:
            return None
    return total_cost(problem, received)


def all_in_root(problem: Problem) -> float | None:
    """The root makes everything; a want takes what would be cheapest alone."""
    sent: dict[int, set[int]] = {broker: set() for broker in range(problem.brokers)}
    given: list[Choice] = []
    for want in range(problem.wants):
        broker = int(problem.want_broker[want])
        cost, choice, carried = min(
            (_alone(problem, broker, choice, carried), choice, carried)
            for choice in choices_of_want(problem, want)
            for carried in range(problem.formats)
        )
        if cost == np.inf:
            return None
        given.append(choice)
        while broker >= 0:
            sent[broker].add(carried)
            broker = problem.parent[broker]
    decided = problem.replace(
        choice_start=np.arange(problem.wants + 1),
        choice_format=np.array([format for format, _ in given], np.int32),
        choice_penalty=np.array([penalty for _, penalty in given]),
    )
    total = making_cost(decided, problem.root, {problem.published}, sent[problem.root])
    for broker in range(problem.brokers):
        if broker != problem.root:
            total += sum(sending_cost(problem, broker, format) for format in sent[broker])
            total += making_cost(decided, broker, sent[broker], set()) if sent[broker] else 0.0
    return total


def _alone(problem: Problem, broker: int, choice: Choice, carried: int) -> float:
    """What a want costs if the root makes one format for it, and the broker the rest."""
    format, penalty = choice
    if (broker == problem.root or problem.sendable[format]) and carried != format:
        return np.inf
    made = steiner_cost(problem.conversion, frozenset({problem.published}), frozenset({carried}))
    finished = steiner_cost(problem.conversion, frozenset({carried}), frozenset({format}))
    if np.inf in (made, finished):
        return np.inf
    total = penalty + problem.beta * problem.compute_cost[problem.root] * made
    total += problem.beta * problem.compute_cost[broker] * finished
    path = broker
    while path != problem.root:
        total += sending_cost(problem, path, carried)
        path = problem.parent[path]
    return total


ORACLES: dict[str, Callable[[Problem], float | None]] = {
    "all-in-root": all_in_root,
    "all-in-leaves": all_in_leaves,
    "single-format": single_format,
}
