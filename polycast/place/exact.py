"""The cheapest placement there is, proved: a recursion over the sets of formats that a broker may hold."""

import numpy as np

from polycast.model.plan import Plan
from polycast.model.problem import Indices
from polycast.place.all_in_root import all_in_root
from polycast.place.bounds import lower_bound
from polycast.place.exact_climb import climb, descend
from polycast.place.exact_few import Few, few_of, most_wants
from polycast.place.exact_offers import Offers, no_offers, with_room
from polycast.place.exact_reach import relevant_formats
from polycast.place.exact_tables import MOST_FORMATS, climb_tables, tables_for
from polycast.place.exact_task import Task, task_of, wanting_brokers
from polycast.place.search import Search

SLICE = 1 << 26
"""About how many values a kernel may look at before somebody looks at the clock."""


def place_exact(search: Search) -> None:
    """Offer the cheapest plan and its proof; where time is not enough, the plan that makes all at the root."""
    try:
        exact(search)
    finally:
        if search.best is None:
            search.offer(all_in_root(search.problem))
            search.raise_bound(lower_bound(search.problem))


def exact(search: Search) -> None:
    """Offer the cheapest plan and its proof, if time allows."""
    problem = search.problem
    task = task_of(problem, relevant_formats(problem))
    brokers = wanting_brokers(task, problem.order)
    small = len(task.size) <= MOST_FORMATS
    few = few_of(task, brokers, 0 if small else most_wants(len(task.size), problem.brokers))
    offers = _climb(search, task, few, brokers)
    if offers is None:
        return
    plan = _descend(search, task, few, brokers, offers)
    search.offer(plan)
    search.raise_bound(plan.cost.total)


def _climb(search: Search, task: Task, few: Few, brokers: Indices) -> Offers | None:
    k = len(task.size)
    step = max(1, SLICE // (16 * k << k))
    tables = tables_for(task, brokers) if k <= MOST_FORMATS else None
    offers, count, position = no_offers(search.problem.brokers), 0, len(brokers) - 1
    while position >= 0:
        last = max(0, position - step + 1)
        room = count + ((position - last + 1) << k)
        if room > len(offers.sets):
            room += len(offers.sets)
            offers = with_room(offers, count, room, room * k)
        if tables:
            count = climb_tables(task, tables, offers, brokers, position, last, count)
        else:
            count = climb(task, few, offers, brokers, position, last, count)
        position = last - 1
        search.report(1 - position / len(brokers), "what each link may carry")
        if position >= 0 and search.spent:
            return None
    return offers


def _descend(search: Search, task: Task, few: Few, brokers: Indices, offers: Offers) -> Plan:
    problem = search.problem
    chosen = np.full(problem.brokers, -1, np.int32)
    receives = np.zeros((problem.brokers, problem.formats), np.bool_)
    receives[problem.root, problem.published] = True
    made_from = np.full((problem.brokers, problem.formats), -1, np.int32)
    delivered = np.empty(problem.wants, np.int32)
    descend(task, few, offers, brokers, chosen, receives, made_from, delivered)
    return Plan(problem, receives, made_from, delivered)
