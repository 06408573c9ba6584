"""The best plan that fits in the time: the optimum where it can be had, else a good plan and a bound near it."""

import math
import time

from polycast.place.exact import place_exact
from polycast.place.exact_reach import relevant_formats
from polycast.place.large import large
from polycast.place.search import Search

# Beyond so many formats that matter, a table of all their sets would not fit into memory.
MOST_FORMATS = 20

# What the exact recursion takes, at most, for one set of formats at one broker; it is often much less.
SECONDS_PER_SET = 1e-8

# What takes no longer than this is done whatever the clock says: the optimum is better than an excuse.
AT_ONCE = 0.05


def auto(search: Search) -> None:
    """Offer the optimum if it is near, else first good plans and a bound, and then the optimum if time is left."""
    formats = len(relevant_formats(search.problem))
    within_reach = formats <= MOST_FORMATS
    seconds = search.problem.brokers * 2.0**formats * SECONDS_PER_SET
    at_once = within_reach and seconds <= AT_ONCE
    if at_once:
        search.deadline = math.inf
    if not at_once and (not within_reach or seconds > search.deadline - time.perf_counter()):
        large(search)
    if at_once or (within_reach and not search.spent):
        place_exact(search)
