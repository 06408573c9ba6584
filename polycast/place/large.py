"""Good plans and a bound close to them, for content graphs of any size.

The whole problem is one directed Steiner tree in the multilayer graph (CCD, section 3). Dual ascent bounds it from
below, and leaves free edges among which a first tree is found; region by region, deeper and deeper, the plan is
then made as cheap as it gets.
"""

import time

import numpy as np

from polycast.model.problem import Flags
from polycast.place.all_in_root import all_in_root
from polycast.place.arrays import Arrays, Parts, arrays_of, blank_parts, parts_of, plan_of_parts
from polycast.place.bounds import lower_bound
from polycast.place.dual_ascent import ROUNDING, Ascent, ascend, begin_ascent
from polycast.place.ledger import ledger_of
from polycast.place.refine import SLICE, refine_rounds, start_plan
from polycast.place.region import Region, adopt, region_of
from polycast.place.search import Search
from polycast.place.steiner import entries
from polycast.place.steiner_ascent import steiner_free
from polycast.place.watched import watched

# With more edges than this, the multilayer graph of all brokers would take a gigabyte: then its parts must do.
MOST_EDGES = 20_000_000

# Elementary steps of dual ascent between two looks at the clock: some 30 ms.
EFFORT = 1e7

DEPTHS = (1, 2, 3)


def large(search: Search) -> None:
    """Offer ever better plans and a bound, until the plan is settled or the time is over."""
    problem = search.problem
    search.offer(all_in_root(problem))
    search.raise_bound(lower_bound(problem))
    arrays = arrays_of(problem)
    if _edges(arrays) <= MOST_EDGES:
        _begin_with_ascent(search, arrays)
    else:
        search.offer(start_plan(problem, "best"))
    for depth in DEPTHS:
        _settle(search, arrays, depth)


def _edges(arrays: Arrays) -> int:
    """How many edges the multilayer graph of all brokers has."""
    sending, making = len(arrays.size), len(arrays.source)
    return int(arrays.wanting.sum()) * (sending + making) + len(arrays.choice_format)


def _begin_with_ascent(search: Search, arrays: Arrays) -> None:
    """Offer the tree that dual ascent in the whole graph leads to, and its bound."""
    if search.spent:
        return
    parts = blank_parts(search.problem)
    whole = region_of(arrays, parts, search.problem.root, search.problem.brokers)
    ascent = begin_ascent(whole.graph, whole.root, whole.terminals)
    done = False
    while not done and not search.spent:
        done = ascend(whole.graph, whole.root, whole.terminals, ascent, EFFORT)
        search.raise_bound(ascent.bound[0] * (1.0 - ROUNDING))
        search.report(None, f"no plan costs less than {search.lower_bound:.6g}")
    if done and watched(search, lambda stop: _write(arrays, parts, whole, ascent, stop), "a first plan"):
        search.offer(plan_of_parts(search.problem, parts))


def _write(arrays: Arrays, parts: Parts, whole: Region, ascent: Ascent, stop: Flags) -> None:
    """Write down the plan of a tree among the edges that are free after the ascent."""
    edges = steiner_free(whole.graph, whole.root, whole.terminals, ascent.price, 1, stop)
    if not stop[0]:
        adopt(arrays, parts, whole, entries(whole.graph, whole.root, whole.terminals, edges))


def _settle(search: Search, arrays: Arrays, depth: int) -> None:
    """Refine the best plan until no region of this depth changes any more."""
    assert search.best is not None
    parts, ledger = parts_of(search.best), ledger_of(search.best, depth)
    rounds = 1
    while not search.spent and not ledger.settled.all():
        start = time.perf_counter()
        refine_rounds(arrays, parts, ledger, np.full(rounds, -1, np.int32))
        rounds = max(1, int(rounds * min(2.0, SLICE / (time.perf_counter() - start))))
        gap = 1.0 - search.lower_bound / ledger.total[0] if ledger.total[0] else 0.0
        search.report(float(ledger.settled.mean()), f"cost {ledger.total[0]:.6g}, at most {gap:.2%} too much")
    search.offer(plan_of_parts(search.problem, parts))
