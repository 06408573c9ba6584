"""Compile every kernel of the placement methods, by solving a small problem with each of them."""

from polycast.model.broker import AnyOf, Broker
from polycast.model.format import ContentGraph, Format, Operator
from polycast.model.problem import problem_of
from polycast.place.solve import METHODS, solve


def warm() -> None:
    graph = ContentGraph(
        formats=(Format(name="pdf", size=18.0), Format(name="jpg", size=3.0), Format(name="png", size=9.0)),
        operators=(Operator("pdf", "jpg", 4.0), Operator("pdf", "png", 2.0), Operator("png", "jpg", 1.0)),
    )
    brokers = [Broker("top"), Broker("leaf", "top", wants=("jpg", AnyOf({"pdf": 1.0, "png": 0.0})))]
    problem = problem_of(graph, brokers, "pdf")
    for method in METHODS:
        solve(problem, method)
