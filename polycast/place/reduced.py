"""A plan that is exact on a reduced graph: a few formats travel, and all others are made where they are wanted.

This is the initial plan that the authors of CCD leave to future work. A want becomes a want for any one of the
formats that travel, with what the chain of operators from there costs as its penalty.
"""

import numpy as np

from polycast.errors import NoSolution
from polycast.model.plan import Plan
from polycast.model.problem import Floats, Ints, Problem
from polycast.place.arrays import arrays_of, blank_parts, plan_of_parts
from polycast.place.exact import exact
from polycast.place.feasible import available, check_feasible
from polycast.place.paths import shortest_distances
from polycast.place.region import convert_everywhere
from polycast.place.search import Search
from polycast.place.steiner import EFFORT

# How many formats travel. The work doubles with each; more than ten gain less than refinement does in that time.
TRAVELLING = 10

# The share of all links that a format is taken to cross when it is decided which ones travel.
CROSSED = 0.1


# With so many, the exact part takes about as long as all the rest is worth.
MOST = 16


def reduced(problem: Problem, deadline: float = np.inf) -> Plan | None:
    """The plan that is cheapest when only a few formats may travel; None if the time is not enough."""
    check_feasible(problem)
    if not problem.wants:
        return plan_of_parts(problem, blank_parts(problem))
    chain = shortest_distances(problem.conversion)
    price = _prices(problem, chain)
    kept = _travelling(problem, price)
    search = Search(_among(problem, chain, price, kept), deadline=deadline)
    exact(search)
    if search.best is None:
        return None
    parts = blank_parts(problem)
    parts.receives[:, kept] = search.best.receives
    convert_everywhere(arrays_of(problem), parts, EFFORT)
    return plan_of_parts(problem, parts)


def _prices(problem: Problem, chain: Floats) -> Floats:
    """What it costs to serve each want (column) from each format (row); infinite if it cannot be done."""
    factor = problem.beta * problem.compute_cost[problem.want_broker]
    ways = chain[:, problem.choice_format]
    with np.errstate(invalid="ignore"):
        making = np.where(np.isinf(ways), np.inf, np.repeat(factor, np.diff(problem.choice_start)) * ways)
    price = np.minimum.reduceat(making + problem.choice_penalty, problem.choice_start[:-1], axis=1)
    if not problem.sendable[problem.published]:
        price[problem.published, problem.want_broker != problem.root] = np.inf
    return price


def _travelling(problem: Problem, price: Floats) -> Ints:
    """The published format and others that can be sent: each time the one that serves most, and spares most."""
    at_root, _ = available(problem)
    candidates = set(np.flatnonzero(at_root & problem.sendable).tolist()) - {problem.published}
    crossed = CROSSED * problem.alpha * problem.link_cost.sum()
    kept, paid = [problem.published], price[problem.published]

    def burden(candidate: int) -> tuple[int, float]:
        least = np.minimum(paid, price[candidate])
        served = np.isfinite(least)
        spent = least[served].sum() + crossed * problem.size[candidate]
        return int(np.count_nonzero(~served)), float(spent)

    while candidates and (len(kept) < TRAVELLING or np.isinf(paid).any()):
        best = min(sorted(candidates), key=burden)
        candidates.remove(best)
        kept.append(best)
        paid = np.minimum(paid, price[best])
        if len(kept) > MOST:
            raise NoSolution(f"a reduced graph would need more than {MOST} formats; begin with another plan")
    return np.array(sorted(kept))


def _among(problem: Problem, chain: Floats, price: Floats, kept: Ints) -> Problem:
    """The problem on a few formats, with chains for operators, and any of the formats for each want."""
    conversion = chain[np.ix_(kept, kept)]
    np.fill_diagonal(conversion, np.inf)
    choices = price[kept].T
    want, choice = np.nonzero(np.isfinite(choices))
    return problem.replace(
        size=problem.size[kept],
        conversion=conversion,
        choice_start=np.searchsorted(want, np.arange(problem.wants + 1)),
        choice_format=choice,
        choice_penalty=choices[want, choice],
        published=int(np.searchsorted(kept, problem.published)),
        format_names=[problem.format_names[format] for format in kept],
    )
