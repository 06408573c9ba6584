"""Properties that every attachment method must pass."""

import numpy as np

from polycast.overlay.attachment import Attachment, Overlay
from polycast.overlay.solve import Solution


def check_attachment(overlay: Overlay, solution: Solution, optimum: float | None = None) -> None:
    """Capacities hold, the cost recomputes, the bound is one, and the proved optimum is not beaten."""
    attachment = solution.attachment
    assert attachment.overlay is overlay
    assert not attachment.over
    assert np.isfinite(overlay.access_cost[np.arange(overlay.users), attachment.broker]).all()
    total = attachment.cost.total
    assert Attachment(overlay, attachment.broker.copy(), attachment.core).cost.total == total
    assert 0 <= solution.lower_bound <= total
    if optimum is not None:
        slack = 1e-9 * max(1.0, optimum)
        assert total >= optimum - slack
        assert solution.lower_bound <= optimum + slack
