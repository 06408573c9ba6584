"""The best plan that fits in the time: the optimum where it can be had, else a good plan and a bound near it."""

import time

from polycast.place.exact import exact
from polycast.place.exact_reach import relevant_formats
from polycast.place.large import large
from polycast.place.search import Search

# Beyond so many formats that matter, a table of all their sets would not fit into memory.
MOST_FORMATS = 20

# What the exact recursion takes, at most, for one set of formats at one broker; it is often much less.
SECONDS_PER_SET = 1e-8


def auto(search: Search) -> None:
    """Offer the optimum if it is near, else first good plans and a bound, and then the optimum if time is left."""
    formats = len(relevant_formats(search.problem))
    within_reach = formats <= MOST_FORMATS
    if not within_reach or _seconds(search.problem.brokers, formats) > search.deadline - time.perf_counter():
        large(search)
    if within_reach and not search.spent:
        exact(search)


def _seconds(brokers: int, formats: int) -> float:
    return brokers * 2.0**formats * SECONDS_PER_SET
