"""Which move a broker makes when its turn comes, from what it knows (Fidelity, Algorithm 1)."""

from collections.abc import Sequence

import numpy as np

from polycast.kernel import kernel
from polycast.tree.costs import refresh, try_seat, waiting
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.moves import Move
from polycast.tree.neighbours import best_at
from polycast.tree.seats import MASS, NOBODY, OWN, PRODUCT, SHARE, TAKEN, TAKERS, TOP, Seats, blank, link
from polycast.tree.view import Report, View

GAIN = 1e-12  # what a move must gain at least, as a share of what it touches, lest rounding goes in circles
BROKER = 0

# From the columns of seats to what reports call them.
LANES = {
    OWN: "rates",
    TOP: "effective_rates",
    SHARE: "shares",
    MASS: "subtree_shares",
    TAKERS: "takers",
    TAKEN: "children_rates",
    PRODUCT: "children_products",
}
SEATS = {
    "weight": "weight",
    "subtree_weight": "subtree_weight",
    "children": "children",
    "grandchildren": "grandchildren",
    "squares": "squares",
}
LOADS = {"work": "work", "upkeep": "upkeep", "rate": "rate", "below": "weight_below"}


def decide(view: View, model: LossModel = APPROXIMATE) -> Move | None:
    """The move that lowers the loss most, or None if none does; seats are called as in the reports.

    A move that relieves an overloaded broker comes before all others. Where the work of adapting counts, a
    promotion or demotion also changes that of the broker's parent a little; the broker cannot know by how much.
    """
    seats = _rebuild(view, model)
    best = best_at(seats, BROKER)
    local = seats.server["waiting"].sum() + seats.seat["near"].sum()
    if best.kind < 0 or (best.overload == 0 and best.loss > -GAIN * local):
        return None
    reports = view.reports
    return Move(best.kind, reports[best.seat].seat, reports[best.other].seat if best.other != NOBODY else NOBODY)


def _rebuild(view: View, model: LossModel) -> Seats:
    """The part of the tree that the broker sees; what hangs below its grandchildren is in their sums."""
    reports = view.reports
    arriving, width = np.ascontiguousarray(view.delays.T), len(view.broker.rates)
    f = blank(np.arange(len(reports), dtype=np.int32), width, 1, model, arriving)
    _fill_in(f, reports)
    families = [view.children, *view.grandchildren]
    below = 1
    for parent, family in enumerate(families):
        for seat in range(below, below + len(family)):
            link(f, seat, parent)
        below += len(family)
    _complete(f, 1 + len(view.children))
    return f


def _fill_in(f: Seats, reports: Sequence[Report]) -> None:
    count = len(reports)
    for row, name in LANES.items():
        f.lane[:count, row] = [getattr(report, name) for report in reports]
    for field, name in SEATS.items():
        f.seat[field][:count] = [getattr(report, name) for report in reports]
    f.server["filter_time"] = [report.filter_time for report in reports]
    f.server["transmit_time"] = [report.transmit_time for report in reports]
    for field, name in LOADS.items():
        f.server[field] = [getattr(report.load, name) for report in reports]


@kernel
def _complete(f: Seats, first_grandchild: int) -> None:
    """Compute what follows from the reports."""
    for v in range(first_grandchild, f.nothing):
        f.seat[v].children_rate = 0.0
        for x in range(f.width):
            f.seat[v].children_rate += f.lane[v, TAKEN, x]
        try_seat(f, v, v, f.nothing, f.nothing)
    for v in range(first_grandchild - 1, BROKER - 1, -1):
        refresh(f, v)
    for b in range(len(f.server)):
        here = f.server[b]
        here.overload, here.waiting = waiting(f, here.work, here.upkeep, here.rate, here.below)
