"""Who sits where: the state that every search works on, and its structure.

A *seat* is one server's place in one tree; a server that takes part in many trees has a seat in each, and all its
seats share its one processor. Columns hold, for each seat, sums and maxima over its children, enough to know in
constant time what a seat would cost with one child fewer or more (see ``costs``).

Each seat is a row. Behind the last seat follow the row NOTHING, all zeros, which stands for "no child", and a few
rows on which seats are tried as they would be after a move.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.tree.model import LossModel
from polycast.tree.servers import Floats

Records = npt.NDArray[np.void]
Positions = npt.NDArray[np.int32]
Lanes = npt.NDArray[np.float64]

NOBODY = -1
SCRATCH = 5  # NOTHING and four rows to try seats on

SEAT = np.dtype(
    [
        ("server", np.int32),
        ("parent", np.int32),
        ("first", np.int32),  # the children form a list: the first, and each one's next and previous
        ("next", np.int32),
        ("previous", np.int32),
        ("children", np.int32),
        ("grandchildren", np.int32),
        ("passing", np.int32),  # objects that pass through, |O^m|
        ("hop", np.float64),  # the delay of the link from the parent
        ("squares", np.float64),  # of the children's numbers of children
        ("weight", np.float64),  # u
        ("subtree_weight", np.float64),  # u^c
        ("rate", np.float64),  # r^m, over all objects
        ("children_rate", np.float64),  # the sum of the children's r^m
        ("work", np.float64),  # share of the processor that messages take
        ("upkeep", np.float64),  # share of the processor that adapting takes
        ("near", np.float64),
    ],
    align=True,
)

# A *lane* is one object at one seat. ``lane[seat, field]`` is a row of numbers, one for each object of the tree,
# so that what concerns many objects is a few vector operations.
OWN = 0  # what the server itself wants
TOP = 1  # r^m_x, the highest rate in the subtree
SECOND = 2  # the highest without the holder of the top
HOLDER = 3  # the child that holds the top; NOBODY: the server itself
TAKERS = 4  # children that take the object
SHARE = 5  # r_x / |O|
MASS = 6  # the sum of the shares over the subtree
TAKEN = 7  # the sum of the children's tops
PRODUCT = 8  # the sum of the children's mass times top
LANE_FIELDS = 9

SERVER = np.dtype(
    [
        ("filter_time", np.float64),
        ("transmit_time", np.float64),
        ("work", np.float64),
        ("upkeep", np.float64),
        ("rate", np.float64),
        ("below", np.float64),
        ("overload", np.float64),
        ("waiting", np.float64),
        ("first_seat", np.int32),  # its seats stand side by side
        ("end_seat", np.int32),
    ],
    align=True,
)


class Seats(NamedTuple):
    """All seats of all trees, as the kernels take them."""

    seat: Any
    lane: Lanes
    server: Any
    arriving: Floats
    width: int  # objects per tree
    nothing: int  # the row that stands for no child
    roots: int  # the first seats are the source's, one for each tree
    precise: bool
    overhead: bool
    literal: bool
    collect: float  # t^e / T_e
    decide: float  # t^d / T_d


def blank(server_of: Positions, width: int, roots: int, model: LossModel, arriving: Floats) -> Seats:
    """Seats of given servers that hang nowhere and want nothing yet."""
    count, overhead = len(server_of), model.overhead
    seat: Records = np.zeros(count + SCRATCH, SEAT)
    for field in ("parent", "first", "next", "previous"):
        seat[field] = NOBODY
    seat["server"][:count] = server_of
    lane = np.zeros((count + SCRATCH, LANE_FIELDS, width))
    lane[:, HOLDER] = NOBODY
    server: Records = np.zeros(len(arriving), SERVER)
    server["end_seat"] = np.cumsum(np.bincount(server_of, minlength=len(server)))
    server["first_seat"][1:] = server["end_seat"][:-1]
    return Seats(
        seat=seat,
        lane=lane,
        server=server,
        arriving=arriving,
        width=width,
        nothing=count,
        roots=roots,
        precise=model.precise,
        overhead=overhead is not None,
        literal=overhead is not None and overhead.literal,
        collect=overhead.collect_time / overhead.collect_period if overhead else 0.0,
        decide=overhead.decide_time / overhead.decide_period if overhead else 0.0,
    )


@kernel
def hop(f: Seats, above: int, below: int) -> float:
    """The delay of the link between two seats."""
    return float(f.arriving[f.seat[below].server, f.seat[above].server])


@kernel
def link(f: Seats, v: int, parent: int) -> None:
    """Hang a seat below another."""
    seat = f.seat
    first = seat[parent].first
    seat[v].parent, seat[v].previous, seat[v].next = parent, NOBODY, first
    if first != NOBODY:
        seat[first].previous = v
    seat[parent].first = v
    seat[v].hop = hop(f, parent, v)


@kernel
def unlink(f: Seats, v: int) -> None:
    """Take a seat from its parent."""
    seat = f.seat
    before, after = seat[v].previous, seat[v].next
    if before == NOBODY:
        seat[seat[v].parent].first = after
    else:
        seat[before].next = after
    if after != NOBODY:
        seat[after].previous = before


@kernel
def walk(f: Seats, order: Positions) -> int:
    """List all seats that hang in a tree, every parent before its children; return how many."""
    count = 0
    for root in range(f.roots):
        count += walk_from(f, root, order[count:])
    return count


@kernel
def walk_from(f: Seats, root: int, order: Positions) -> int:
    """List a seat and all below it, level by level; return how many."""
    seat, done, count = f.seat, 0, 1
    order[0] = root
    while done < count:
        child = seat[order[done]].first
        while child != NOBODY:
            order[count] = child
            count += 1
            child = seat[child].next
        done += 1
    return count
