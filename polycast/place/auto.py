"""The best plan that fits in the time: the optimum where it can be had, else the best of the heuristics."""

from polycast.place.all_in_leaves import place_all_in_leaves
from polycast.place.all_in_root import place_all_in_root
from polycast.place.exact import exact
from polycast.place.exact_reach import relevant_formats
from polycast.place.search import Search
from polycast.place.single_format import place_single_format

MOST_FORMATS = 20


def auto(search: Search) -> None:
    """Offer the optimum if few enough formats matter, else good plans and a bound."""
    if len(relevant_formats(search.problem)) <= MOST_FORMATS:
        exact(search)
    else:
        for place in (place_all_in_root, place_single_format, place_all_in_leaves):
            place(search)
