"""The cheapest placement there is, proved: a recursion over the sets of formats that a broker may hold."""

import numpy as np

from polycast.model.plan import Plan
from polycast.model.problem import Indices
from polycast.place.exact_climb import Offers, Task, climb, descend, task_of, wanting_brokers
from polycast.place.exact_reach import relevant_formats
from polycast.place.search import Search

SLICE = 1 << 27
"""About how many steps a kernel may take before somebody looks at the clock."""


def exact(search: Search) -> None:
    """Offer the cheapest plan and its proof, if time allows."""
    problem = search.problem
    task = task_of(problem, relevant_formats(problem))
    brokers = wanting_brokers(task, problem.order)
    offers = _climb(search, task, brokers)
    if offers is None:
        return
    plan = _descend(search, task, brokers, offers)
    search.offer(plan)
    search.raise_bound(plan.cost.total)


def _slice(task: Task) -> int:
    k = len(task.size)
    return max(1, SLICE // (16 * k << k))


def _climb(search: Search, task: Task, brokers: Indices) -> Offers | None:
    n, full = search.problem.brokers, 1 << len(task.size)
    offers = Offers(np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty(0, np.int32), np.empty(0, np.float64))
    count, position, step = 0, len(brokers) - 1, _slice(task)
    while position >= 0:
        last = max(0, position - step + 1)
        offers = _with_room(offers, count + (position - last + 1) * full)
        count = climb(task, offers, brokers, position, last, count)
        position = last - 1
        search.report(0.7 * (1 - position / len(brokers)), "what each link may carry")
        if search.spent:
            return None
    return offers


def _with_room(offers: Offers, room: int) -> Offers:
    if room <= len(offers.sets):
        return offers
    more = max(room, 2 * len(offers.sets)) - len(offers.sets)
    return offers._replace(
        sets=np.concatenate((offers.sets, np.empty(more, np.int32))),
        costs=np.concatenate((offers.costs, np.empty(more, np.float64))),
    )


def _descend(search: Search, task: Task, brokers: Indices, offers: Offers) -> Plan:
    problem = search.problem
    received = np.zeros(problem.brokers, np.int32)
    received[problem.root] = 1 << task.published
    receives = np.zeros((problem.brokers, problem.formats), np.bool_)
    receives[problem.root, problem.published] = True
    made_from = np.full((problem.brokers, problem.formats), -1, np.int32)
    delivered = np.empty(problem.wants, np.int32)
    step = _slice(task)
    for first in range(0, len(brokers), step):
        last = min(first + step, len(brokers))
        descend(task, offers, brokers, first, last, received, receives, made_from, delivered)
        search.report(0.7 + 0.3 * last / len(brokers), "the plan")
    return Plan(problem, receives, made_from, delivered)
