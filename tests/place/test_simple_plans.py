import numpy as np
import pytest

from polycast.errors import NoSolution
from polycast.model.broker import AnyOf, Broker
from polycast.model.format import ContentGraph, Format, Operator
from polycast.model.problem import problem_of
from polycast.place import solve
from tests.oracles.simple_plans import ORACLES
from tests.problems import random_problem

GRAPH = ContentGraph(
    formats=(
        Format(name="pdf", size=18.0),
        Format(name="jpg", size=3.0),
        Format(name="txt", size=None),
        Format(name="mp3", size=5.0),
    ),
    operators=(Operator("pdf", "jpg", 4.0), Operator("jpg", "txt", 2.0), Operator("txt", "jpg", 1.0)),
)


@pytest.mark.parametrize("method", ORACLES)
def test_costs_what_the_definition_says(method: str) -> None:
    solved = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        problem = random_problem(
            rng,
            int(rng.integers(1, 10)),
            int(rng.integers(2, 6)),
            density=rng.uniform(0.3, 1.0),
            unsendable=float(rng.choice([0.0, 0.3])),
            alternatives=float(rng.choice([0.0, 0.5])),
            whole=bool(rng.integers(2)),
        )
        expected = ORACLES[method](problem)
        if expected is None:
            with pytest.raises(NoSolution):
                solve(problem, method)
        else:
            plan = solve(problem, method).plan
            assert plan.fault() is None
            assert plan.cost.total == pytest.approx(expected, rel=1e-12)
            solved += 1
    assert solved > 100


@pytest.mark.parametrize("method", ORACLES)
def test_a_want_that_cannot_be_met_is_named(method: str) -> None:
    problem = problem_of(GRAPH, [Broker("top"), Broker("leaf", "top", wants=("jpg", "mp3"))], "pdf")
    with pytest.raises(NoSolution, match='broker "leaf" wants "mp3": no operators lead there from "pdf"'):
        solve(problem, method)


@pytest.mark.parametrize("method", ORACLES)
def test_a_want_that_nothing_sendable_leads_to_is_named(method: str) -> None:
    wants = ("txt", AnyOf({"mp3": 0.0, "txt": 1.0}))
    problem = problem_of(GRAPH, [Broker("top", wants=wants), Broker("leaf", "top", wants=wants)], "txt")
    solve(problem, method) if method != "all-in-leaves" else None
    problem = problem.replace(size=np.full(4, np.inf))
    with pytest.raises(NoSolution, match='broker "leaf" wants "txt"'):
        solve(problem, method)


def test_all_in_leaves_cannot_send_what_cannot_be_sent() -> None:
    problem = problem_of(GRAPH, [Broker("top"), Broker("leaf", "top", wants=("jpg",))], "txt")
    with pytest.raises(NoSolution, match='broker "leaf" wants "jpg": all-in-leaves sends only "txt"'):
        solve(problem, "all-in-leaves")


def test_single_format_names_the_link_that_needs_two() -> None:
    graph = ContentGraph(
        formats=(Format(name="raw", size=None), Format(name="a", size=1.0), Format(name="b", size=1.0)),
        operators=(Operator("raw", "a", 1.0), Operator("raw", "b", 1.0)),
    )
    brokers = [Broker("top"), Broker("hub", "top", wants=("a",)), Broker("leaf", "hub", wants=("b",))]
    problem = problem_of(graph, brokers, "raw")
    with pytest.raises(NoSolution, match='no single format can be sent to "hub"'):
        solve(problem, "single-format")
    assert solve(problem, "all-in-root").plan.cost.total == 2 + 3


@pytest.mark.parametrize("method", ORACLES)
def test_a_deep_tree(method: str) -> None:
    depth = 10_000
    problem = random_problem(np.random.default_rng(1), depth, 4, density=1.0)
    problem = problem.replace(parent=np.arange(-1, depth - 1))
    assert solve(problem, method).plan.fault() is None
