"""Properties that every implementation must pass, whatever it computes and however.

One section for each kind of thing that has several implementations.
"""

import math

import numpy as np
import pytest

from polycast import overlay as attaching
from polycast.model.problem import Problem
from polycast.overlay.attachment import Attachment, Overlay
from polycast.place.search import PROVED
from polycast.place.solve import Solution
from polycast.tree import Forest, Growth, LossModel, Servers

# ---- placement: every method of polycast.place.METHODS


def check_placement(problem: Problem, solution: Solution, optimum: float | None = None) -> None:
    """The plan is valid, its cost recomputes, its bound is one, and it does not beat the proved optimum."""
    plan = solution.plan
    assert plan.problem is problem
    assert plan.fault() is None
    again = type(plan)(problem, plan.receives.copy(), plan.made_from.copy(), plan.delivered.copy())
    assert again.cost == plan.cost
    total = plan.cost.total
    assert math.isfinite(total)
    assert 0 <= solution.lower_bound <= total
    assert solution.optimal == (total - solution.lower_bound <= PROVED * total)
    if optimum is not None:
        slack = 1e-9 * max(1.0, optimum)
        assert total >= optimum - slack
        assert solution.lower_bound <= optimum + slack
        if solution.optimal:
            assert total <= optimum + slack


# ---- trees for streams: every method of polycast.tree.METHODS


def check_growth(
    servers: Servers, growth: Growth, per_object: bool, model: LossModel, optimum: float | None = None
) -> None:
    """The trees span whom they serve, their losses recompute, and no bound and no optimum is broken."""
    source, wanting = servers.names[0], servers.wanted
    if per_object:
        spanned = {
            name: {servers.names[i] for i in wanting[:, x].nonzero()[0]}
            for x, name in enumerate(servers.objects)
            if wanting[:, x].any()
        }
    else:
        spanned = {None: set(servers.names[1:])}
    assert {name: set(tree.names) - {source} for name, tree in growth.trees.items()} == spanned
    assert all(tree.names[tree.root] == source for tree in growth.trees.values())
    again = Forest.of(servers, growth.trees, model).fidelity
    assert again.losses.tolist() == pytest.approx(growth.fidelity.losses.tolist(), rel=1e-9)
    assert growth.overloaded == tuple(servers.names[i] for i in again.overloaded.nonzero()[0])
    assert (again.losses >= 0).all()
    assert not again.losses[~wanting.any(axis=1)].any()
    assert growth.average_loss == pytest.approx(again.losses[1:].mean() if len(servers) > 1 else 0.0, rel=1e-9)
    assert 0 <= growth.lower_bound <= growth.average_loss
    if optimum is not None:
        assert growth.average_loss >= optimum * (1 - 1e-9)
        assert growth.lower_bound <= optimum * (1 + 1e-9)


# ---- attachment: every method of polycast.overlay.METHODS


def check_attachment(overlay: Overlay, solution: attaching.Solution, optimum: float | None = None) -> None:
    """Capacities hold, the cost recomputes, the bound is one, and the proved optimum is not beaten."""
    attachment = solution.attachment
    assert attachment.overlay is overlay
    assert not attachment.over
    assert np.isfinite(overlay.access_cost[np.arange(overlay.users), attachment.broker]).all()
    total = attachment.cost.total
    assert Attachment(overlay, attachment.broker, attachment.core).cost.total == total
    assert 0 <= solution.lower_bound <= total
    if optimum is not None:
        slack = 1e-9 * max(1.0, optimum)
        assert total >= optimum - slack
        assert solution.lower_bound <= optimum + slack
