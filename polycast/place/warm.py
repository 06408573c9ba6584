"""Have the kernels of placement methods at hand, by solving a small problem with each."""

from collections.abc import Collection

from polycast.model.broker import AnyOf, Broker
from polycast.model.format import ContentGraph, Format, Operator
from polycast.model.problem import problem_of
from polycast.place.large import large
from polycast.place.search import Search
from polycast.place.solve import METHODS, solve


def warm(methods: Collection[str] = METHODS) -> None:
    """Load the methods' kernels from disk, or compile them where they are not there yet."""
    graph = ContentGraph(
        formats=(Format(name="pdf", size=18.0), Format(name="jpg", size=3.0), Format(name="png", size=9.0)),
        operators=(Operator("pdf", "jpg", 4.0), Operator("pdf", "png", 2.0), Operator("png", "jpg", 1.0)),
    )
    brokers = [Broker("top"), Broker("leaf", "top", wants=("jpg", AnyOf({"pdf": 1.0, "png": 0.0})))]
    problem = problem_of(graph, brokers, "pdf")
    for method in methods:
        solve(problem, method)
    if "auto" in methods:  # it takes another way where the graph is large
        large(Search(problem))
