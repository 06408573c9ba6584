"""What a broker may know when it decides on a move: reports of itself, its children and its grandchildren.

This is the list of Fidelity's section 3.2.3 (4.1.2 for many objects), completed: a broker also has to know what
its children want themselves, how many children its grandchildren have and what passes to those, and the delays
between its children.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polycast.tree.forest import Forest
from polycast.tree.seats import MASS, NOBODY, OWN, PRODUCT, SHARE, TAKEN, TAKERS, TOP
from polycast.tree.servers import Floats


@dataclass(frozen=True)
class Load:
    """What a server has to do for all trees in which it takes part.

    Parameters
    ----------
    work, upkeep
        The shares of its processor that messages and adapting take.
    rate
        Messages a second that arrive.
    weight_below
        The sum of the weights below its seats: whom its queue keeps waiting.
    """

    work: float
    upkeep: float
    rate: float
    weight_below: float


@dataclass(frozen=True, eq=False)
class Report:
    """What a server tells about its seat in one tree. Arrays have one entry for each object of the tree.

    Parameters
    ----------
    seat
        The name of the seat in decisions.
    filter_time, transmit_time
        t^p and t^c.
    rates, effective_rates
        What it wants itself (r_x), and the highest rate in its subtree (r^m_x).
    shares, subtree_shares
        r_x / |O|, and the sum over its subtree.
    takers, children_rates, children_products
        Of its children: how many take the object; the sum of their effective rates; the sum of their effective
        rates times subtree shares, which only the precise form needs.
    weight, subtree_weight
        u, and the sum over its subtree (u^c).
    children, grandchildren, squares
        How many it has, and the sum of the squares of its children's numbers of children.
    load
        Of the whole server.
    """

    seat: int
    filter_time: float
    transmit_time: float
    rates: Floats
    effective_rates: Floats
    shares: Floats
    subtree_shares: Floats
    takers: Floats
    children_rates: Floats
    children_products: Floats
    weight: float
    subtree_weight: float
    children: int
    grandchildren: int
    squares: float
    load: Load


@dataclass(frozen=True, eq=False)
class View:
    """A broker, its children, and the children of each; and the delays between all of them, in this order."""

    broker: Report
    children: Sequence[Report]
    grandchildren: Sequence[Sequence[Report]]
    delays: Floats

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """All reports: the broker's, its children's, and its grandchildren's."""
        return self.broker, *self.children, *(below for family in self.grandchildren for below in family)


def view_of(forest: Forest, seat: int) -> View:
    """What the broker on a seat knows, once everybody has reported."""
    children = list(_children(forest, seat))
    grandchildren = [list(_children(forest, child)) for child in children]
    seen = [seat, *children, *(below for family in grandchildren for below in family)]
    servers = forest.server_of[seen]
    return View(
        broker=report_of(forest, seat),
        children=[report_of(forest, child) for child in children],
        grandchildren=[[report_of(forest, below) for below in family] for family in grandchildren],
        delays=forest.servers.delays[np.ix_(servers, servers)],
    )


def report_of(forest: Forest, seat: int) -> Report:
    """What the server on a seat tells about it."""
    f = forest.seats
    here, server = f.seat[seat], f.server[f.seat[seat]["server"]]
    lane = f.lane[seat].copy()
    return Report(
        seat=seat,
        filter_time=float(server["filter_time"]),
        transmit_time=float(server["transmit_time"]),
        rates=lane[OWN],
        effective_rates=lane[TOP],
        shares=lane[SHARE],
        subtree_shares=lane[MASS],
        takers=lane[TAKERS],
        children_rates=lane[TAKEN],
        children_products=lane[PRODUCT],
        weight=float(here["weight"]),
        subtree_weight=float(here["subtree_weight"]),
        children=int(here["children"]),
        grandchildren=int(here["grandchildren"]),
        squares=float(here["squares"]),
        load=Load(float(server["work"]), float(server["upkeep"]), float(server["rate"]), float(server["below"])),
    )


def _children(forest: Forest, seat: int) -> Iterator[int]:
    child = int(forest.seats.seat[seat]["first"])
    while child != NOBODY:
        yield child
        child = int(forest.seats.seat[child]["next"])
