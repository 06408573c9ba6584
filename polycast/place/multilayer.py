"""One approximate Steiner tree in the multilayer graph of the whole tree of brokers (CCD, section 3)."""

from polycast.kernel import kernel
from polycast.model.problem import Flags
from polycast.place.all_in_root import all_in_root
from polycast.place.arrays import Arrays, Parts, arrays_of, blank_parts, plan_of_parts
from polycast.place.bounds import lower_bound
from polycast.place.region import adopt, region_of
from polycast.place.search import Search
from polycast.place.steiner import entries
from polycast.place.steiner_greedy import steiner_greedy
from polycast.place.watched import watched


def place_multilayer(search: Search) -> None:
    """Offer the plan of the tree; where the time is not enough for it, everything is made at the root."""
    problem = search.problem
    fallback = all_in_root(problem)
    arrays, parts = arrays_of(problem), blank_parts(problem)
    try:
        ended = watched(search, lambda stop: _plan(arrays, parts, stop), "a tree in the multilayer graph")
    except KeyboardInterrupt:
        search.offer(fallback)
        raise
    search.offer(plan_of_parts(problem, parts) if ended else fallback)
    search.raise_bound(lower_bound(problem))


@kernel
def _plan(problem: Arrays, parts: Parts, stop: Flags) -> None:
    everything = region_of(problem, parts, problem.root, len(problem.parent))
    graph, root, terminals = everything.graph, everything.root, everything.terminals
    edges = steiner_greedy(graph, root, terminals, 2, stop)
    if not stop[0]:
        adopt(problem, parts, everything, entries(graph, root, terminals, edges))
