"""Refine a plan region by region (CCD, Algorithms 2 and 3): a Steiner tree for one broker and those just below it.

What a region receives and what it hands on stay as they are, so that what the region saves, the plan saves, and
nothing else needs to be computed again.
"""

import time
from collections.abc import Callable

import numpy as np

from polycast.errors import NoSolution
from polycast.kernel import kernel
from polycast.model.plan import Plan
from polycast.model.problem import Floats, Indices, Problem
from polycast.place.all_in_leaves import all_in_leaves
from polycast.place.all_in_root import all_in_root
from polycast.place.arrays import Arrays, Parts, arrays_of, parts_of, plan_of_parts
from polycast.place.bounds import lower_bound
from polycast.place.ledger import Ledger, ledger_of, local_cost, recount
from polycast.place.reduced import reduced
from polycast.place.region import adopt, region_of
from polycast.place.search import Search
from polycast.place.single_format import single_format
from polycast.place.steiner import steiner, weight_of

STARTS: dict[str, Callable[[Problem], Plan]] = {
    "all-in-root": all_in_root,
    "all-in-leaves": all_in_leaves,
    "single-format": single_format,
}

# Elementary steps that the minimum tree of one region may take, before a good one must do: some 0.2 ms.
EFFORT = 1e5

# A saving that is a smaller share than this of what the region costs is taken for rounding.
LEAST_SAVING = 1e-9

# Rounds run in slices of about this many seconds, between which a time limit or Ctrl-C can end the search.
SLICE = 0.03


def place_refine(search: Search) -> None:
    """Offer a plan that refinement has made from a simple one, and the paper's lower bound."""
    start = _offer_start(search)
    search.raise_bound(lower_bound(search.problem))
    parts = parts_of(start)
    try:
        _run(search, parts, ledger_of(start, search.options.depth))
    finally:
        search.offer(plan_of_parts(search.problem, parts))


def _offer_start(search: Search) -> Plan:
    """Offer the plan to start from; before one that takes longer, the best of the simple plans."""
    problem, start = search.problem, search.options.start
    if start != "reduced":
        plan = start_plan(problem, start)
    else:
        plan = start_plan(problem, "best")
        search.offer(plan)
        plan = reduced(problem, search.deadline) or plan
    search.offer(plan)
    return plan


def start_plan(problem: Problem, start: str) -> Plan:
    """The plan to start from: one of the simple ones, or the best of them."""
    if start != "best":
        return STARTS[start](problem)
    plans = []
    for simple in STARTS.values():
        try:
            plans.append(simple(problem))
        except NoSolution as none:
            reason = none
    if not plans:
        raise reason
    return min(plans, key=lambda plan: plan.cost.total)


def _run(search: Search, parts: Parts, ledger: Ledger) -> None:
    """All rounds, in slices that are as long as the time between two looks at the clock may be."""
    problem, options = arrays_of(search.problem), search.options
    rng = np.random.default_rng(options.seed)
    rounds, done = 1, 0
    while done < options.iterations and not search.spent:
        rounds = min(rounds, options.iterations - done)
        if options.select == "random":
            picks = rng.integers(search.problem.brokers, size=rounds).astype(np.int32)
        else:
            picks = np.full(rounds, -1, np.int32)
        start = time.perf_counter()
        costs = refine_rounds(problem, parts, ledger, picks)
        elapsed = time.perf_counter() - start
        if options.history:
            search.history.extend(costs.tolist())
        done += rounds
        search.report(done / options.iterations, f"cost {ledger.total[0]:.6g}")
        if len(costs) < rounds:
            break
        rounds = max(1, int(rounds * min(2.0, SLICE / elapsed)))
    if options.history and not search.spent:
        search.history.extend([float(ledger.total[0])] * (options.iterations - len(search.history)))


@kernel
def refine_rounds(problem: Arrays, parts: Parts, ledger: Ledger, picks: Indices) -> Floats:
    """A round for each pick, and the cost after each; -1 picks by slack, and ends where all are settled."""
    costs = np.empty(len(picks))
    for done, pick in enumerate(picks):
        broker = pick if pick >= 0 else _most_slack(ledger)
        if broker < 0:
            return costs[:done]
        if problem.wanting[broker]:
            _refine(problem, parts, ledger, broker)
        costs[done] = ledger.total[0]
    return costs


@kernel
def _most_slack(ledger: Ledger) -> int:
    """The broker whose region costs most above its lower bounds, of those that are not settled; -1 if all are."""
    best, most = -1, -np.inf
    for broker in range(len(ledger.slack)):
        if ledger.slack[broker] > most and not ledger.settled[broker]:
            best, most = broker, ledger.slack[broker]
    return best


@kernel
def _refine(problem: Arrays, parts: Parts, ledger: Ledger, top: int) -> None:
    """Plan the region of one broker anew, and keep that if it saves anything."""
    region = region_of(problem, parts, top, ledger.depth)
    entry = steiner(region.graph, region.root, region.terminals, EFFORT)
    cost = weight_of(region.graph, entry)
    before = local_cost(ledger, region.brokers)
    if before - cost > LEAST_SAVING * before:
        received = parts.receives[region.brokers]
        adopt(problem, parts, region, entry)
        recount(problem, parts, ledger, region.brokers, received)
    ledger.settled[top] = True
