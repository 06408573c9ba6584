"""Good plans and a bound close to them, for content graphs of any size.

The whole problem is one directed Steiner tree in the multilayer graph (CCD, section 3). Dual ascent bounds it from
below, and leaves free edges among which a first tree is found; region by region, deeper and deeper, the plan is
then made as cheap as it gets. From there on the wants share the costs ever better, which raises the bound, and the
edges that they pay for in full are those of ever better trees.
"""

import time
from typing import NamedTuple

import numpy as np

from polycast.model.plan import Plan
from polycast.model.problem import Flags, Floats, Ints
from polycast.place.all_in_root import all_in_root
from polycast.place.arrays import Arrays, Parts, arrays_of, blank_parts, parts_of, plan_of_parts
from polycast.place.bounds import lower_bound
from polycast.place.dual_ascent import ROUNDING, ascend, begin_ascent
from polycast.place.ledger import ledger_of
from polycast.place.refine import SLICE, refine_rounds, start_plan
from polycast.place.region import Region, adopt, region_of
from polycast.place.search import Search
from polycast.place.shares import (
    Shares,
    bound_of,
    columns_of,
    find_ways,
    offer_more,
    places_of,
    settle,
    shares_of,
    unpaid,
    values_of,
)
from polycast.place.steiner import entries
from polycast.place.steiner_ascent import steiner_free
from polycast.place.watched import watched

# With more edges than this, the multilayer graph of all brokers would take a gigabyte: then its parts must do.
MOST_EDGES = 20_000_000

# With more values than this, shares would take 100 MB, and a step of theirs 100 ms: then dual ascent must do.
MOST_SHARES = 25_000_000

# Elementary steps of dual ascent between two looks at the clock: some 30 ms.
EFFORT = 1e7

DEPTHS = (1, 2, 3)

# Shares begin to move at a pace of 1 and end at the last; the slower, the higher the bound.
LAST_PACE = 0.01
STEPS, MOST_STEPS = 500, 2000

# The shares of that way at which a plan is drawn from what is paid for.
DRAWN = (0.25, 0.5, 0.75, 0.95)

# The part of its weight that may be left unpaid on an edge that a plan is drawn from.
NEARLY_PAID = 0.01


class Whole(NamedTuple):
    """The multilayer graph of all brokers, and how the wants share its costs, if there is room for that."""

    region: Region
    shares: Shares | None
    column: Ints
    place: Ints


def large(search: Search) -> None:
    """Offer ever better plans and a bound, until both are settled or the time is over."""
    problem = search.problem
    search.offer(all_in_root(problem))
    search.raise_bound(lower_bound(problem))
    arrays = arrays_of(problem)
    if _edges(arrays) > MOST_EDGES:
        search.offer(start_plan(problem, "best"))
        _refine(search, arrays, search.plan)
        return
    whole = _whole(search, arrays)
    _ascend(search, arrays, whole)
    _refine(search, arrays, search.plan)
    if whole.shares is not None:
        _share(search, arrays, whole, whole.shares)


def _edges(arrays: Arrays) -> int:
    """How many edges the multilayer graph of all brokers has."""
    sending, making = len(arrays.size), len(arrays.source)
    return int(arrays.wanting.sum()) * (sending + making) + len(arrays.choice_format)


def _whole(search: Search, arrays: Arrays) -> Whole:
    region = region_of(arrays, blank_parts(search.problem), search.problem.root, search.problem.brokers)
    nobody = np.empty(0, np.int64)
    if values_of(arrays) > MOST_SHARES:
        return Whole(region, None, nobody, nobody)
    shares = shares_of(arrays)
    return Whole(region, shares, columns_of(arrays, shares, region), places_of(arrays, shares, region))


def _ascend(search: Search, arrays: Arrays, whole: Whole) -> None:
    """Offer the tree that dual ascent in the whole graph leads to, and its bound."""
    graph, root, terminals = whole.region.graph, whole.region.root, whole.region.terminals
    ascent = begin_ascent(graph, root, terminals)
    if whole.shares is not None:
        ascent = ascent._replace(account=whole.shares.paid, column=whole.column, place=whole.place)
    done = False
    while not done and not search.spent:
        done = ascend(graph, root, terminals, ascent, EFFORT)
        search.raise_bound(ascent.bound[0] * (1.0 - ROUNDING))
        search.report(None, f"no plan costs less than {search.lower_bound:.6g}")
    if done:
        _draw(search, arrays, whole.region, ascent.price, level=1)


def _draw(search: Search, arrays: Arrays, region: Region, price: Floats, level: int) -> Plan | None:
    """Offer the plan of a tree among the edges that have no price."""
    parts = blank_parts(search.problem)
    if not watched(
        search, lambda stop: _write(arrays, parts, region, price, level, stop), "a plan from the bound"
    ):
        return None
    plan = plan_of_parts(search.problem, parts)
    search.offer(plan)
    return plan


def _write(arrays: Arrays, parts: Parts, region: Region, price: Floats, level: int, stop: Flags) -> None:
    edges = steiner_free(region.graph, region.root, region.terminals, price, level, stop)
    if not stop[0]:
        adopt(arrays, parts, region, entries(region.graph, region.root, region.terminals, edges))


def _refine(search: Search, arrays: Arrays, plan: Plan) -> None:
    """Refine a plan until no region of any depth changes any more."""
    for depth in DEPTHS:
        plan = _settle(search, arrays, plan, depth)


def _settle(search: Search, arrays: Arrays, plan: Plan, depth: int) -> Plan:
    """Refine a plan until no region of this depth changes any more."""
    parts, ledger = parts_of(plan), ledger_of(plan, depth)
    rounds = 1
    while not search.spent and not ledger.settled.all():
        start = time.perf_counter()
        refine_rounds(arrays, parts, ledger, np.full(rounds, -1, np.int32))
        rounds = max(1, int(rounds * min(2.0, SLICE / (time.perf_counter() - start))))
        search.report(float(ledger.settled.mean()), _standing(search, float(ledger.total[0])))
    plan = plan_of_parts(search.problem, parts)
    search.offer(plan)
    return plan


def _share(search: Search, arrays: Arrays, whole: Whole, shares: Shares) -> None:
    """Raise the bound step by step, and draw plans from what is paid for."""
    start, steps, done, drawn = time.perf_counter(), 0, 0.0, 0
    settle(arrays, shares)
    while done < 1.0 and not search.spent and not search.proved:
        ways = find_ways(arrays, shares)
        if ways > search.lower_bound:
            search.raise_bound(bound_of(arrays, shares, ways))
        offer_more(arrays, shares, LAST_PACE**done)
        settle(arrays, shares)
        search.report(done, _standing(search, search.plan.cost.total))
        if drawn < len(DRAWN) and done > DRAWN[drawn]:
            drawn += 1
            price = np.maximum(0.0, unpaid(arrays, shares, whole.region, whole.column) - NEARLY_PAID)
            plan = _draw(search, arrays, whole.region, price, level=2)
            if plan is not None:
                _refine(search, arrays, plan)
        steps += 1
        done = _done(search, start, steps)


def _done(search: Search, start: float, steps: int) -> float:
    """How much of the way of the shares is done: with a time limit they take all of the time, if not for ever."""
    if search.deadline == np.inf:
        return steps / STEPS
    return max(steps / MOST_STEPS, (time.perf_counter() - start) / (search.deadline - start))


def _standing(search: Search, cost: float) -> str:
    gap = 1.0 - search.lower_bound / cost if cost else 0.0
    return f"cost {cost:.6g}, at most {gap:.2%} too much"
