"""A few operators tell the cost of all, and how far that is off is known."""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polycast.convert.edge_model import Edge, check, fit, sample

FORMS = [f"f{number}" for number in range(16)]
EDGES = [(one, other) for one, other in product(FORMS, FORMS) if one != other]


def true_costs(seed: int, noise: float = 0.0) -> dict[Edge, float]:
    chance = random.Random(seed)
    decode = {form: chance.uniform(0.1, 1) for form in FORMS}
    encode = {form: chance.uniform(0.1, 3) for form in FORMS}
    return {
        (one, other): (decode[one] + encode[other]) * (1 + noise * chance.uniform(-1, 1)) for one, other in EDGES
    }


@given(st.sets(st.sampled_from(EDGES), min_size=2), st.integers(0, 9))
def test_what_was_not_run_is_told_exactly_where_the_model_holds(edges: set[Edge], seed: int) -> None:
    costs = true_costs(seed)
    chosen = sample(sorted(edges), checks=5, seed=seed)
    model = fit({edge: costs[edge] for edge in chosen.fitted})
    for edge in edges:
        assert model.knows(edge)
        assert model.cost(edge) == pytest.approx(costs[edge])


def test_what_an_extra_costs_is_told_too() -> None:
    def extras(edge: Edge) -> tuple[str, ...]:
        return ("scale",) * (EDGES.index(edge) % 3 == 0)

    costs = {edge: cost + 0.25 * len(extras(edge)) for edge, cost in true_costs(2).items()}
    chosen = sample(EDGES, checks=0)
    model = fit({edge: costs[edge] for edge in chosen.fitted}, extras)
    assert model.extra == {"scale": pytest.approx(0.25)}
    assert all(model.cost(edge) == pytest.approx(costs[edge]) for edge in EDGES)


def test_few_are_run() -> None:
    chosen = sample(EDGES, checks=20)
    assert len(chosen.fitted) < len(EDGES) / 3
    assert len(chosen.checked) == 20
    assert not set(chosen.fitted) & set(chosen.checked)


def test_the_error_is_that_of_what_was_not_fitted() -> None:
    costs = true_costs(1, noise=0.1)
    chosen = sample(EDGES, checks=len(EDGES))
    off = check(fit({edge: costs[edge] for edge in chosen.fitted}), {edge: costs[edge] for edge in chosen.checked})
    assert off.edges == len(EDGES) - len(chosen.fitted)
    assert 0.01 < off.median < 0.1
    assert off.worst < 0.5
    assert off.r2 > 0.95


def test_known_operators_are_used_and_reluctant_ones_only_where_needed() -> None:
    known = [("f0", form) for form in FORMS[1:]]
    chosen = sample(EDGES, 0, known, reluctantly=[("f0", "g"), ("f1", "f2"), ("g", "f1")])
    assert set(known) <= set(chosen.fitted)
    assert {("f0", "g"), ("g", "f1")} <= set(chosen.fitted)
    assert sum(edge == ("f1", "f2") for edge in chosen.fitted) <= 1
