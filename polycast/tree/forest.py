"""Trees over servers, ready for searches: build them, ask what they lose, move their seats."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from polycast.errors import BadInput
from polycast.model.tree import Tree
from polycast.tree import costs, moves, seats
from polycast.tree.fidelity import Fidelity, lose
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.moves import Move
from polycast.tree.seats import NOBODY, OWN, SHARE, Positions, Seats
from polycast.tree.servers import SOURCE, Servers

# One tree for all objects is under the key None; else one tree for each object that somebody wants.
Trees = Mapping[str | None, Tree]


class Change(NamedTuple):
    """What a move adds to the overload (how far all brokers are above full load), and to the average loss.

    The overload comes first, as in every comparison of ours: a tree with less of it is better, whatever it loses.
    """

    overload: float
    loss: float


class Forest:
    """One tree over all servers, or one for each object, with seats that can be moved.

    Seats are numbered by server, the source's first; ``forest.server_of[seat]`` and ``forest.tree_of[seat]`` tell
    which they are. A new forest has no links yet: plant it.
    """

    def __init__(self, servers: Servers, per_object: bool = False, model: LossModel = APPROXIMATE) -> None:
        self.servers, self.per_object, self.model = servers, per_object, model
        self.objects = _objects(servers, per_object)
        member = _members(servers, per_object)
        self.server_of, self.tree_of = (axis.astype(np.int32) for axis in np.nonzero(member))
        self.seat_at = np.full(member.shape, NOBODY, np.int32)
        self.seat_at[self.server_of, self.tree_of] = np.arange(len(self.server_of))
        self.seats = _seats(self)
        self._order = np.empty(len(self.server_of), np.int32)

    @classmethod
    def of(cls, servers: Servers, trees: Trees, model: LossModel = APPROXIMATE, where: str = "trees") -> "Forest":
        """The forest of given trees, which must be exactly those that the servers need."""
        forest = cls(servers, None not in trees, model)
        parents = np.full(len(forest), NOBODY, np.int32)
        for lost in (object_ for object_ in forest.objects if object_ not in trees):
            raise BadInput(where, f'the tree for "{lost}" is missing')
        for object_ in (object_ for object_ in trees if object_ not in forest.objects):
            raise BadInput(where, f'a tree for "{object_}" is not needed')
        for position, (object_, tree) in enumerate(trees.items()):
            forest._read(forest.objects.index(object_), tree, parents, f"{where}[{position}].parents")
        forest.plant(parents)
        return forest

    def __len__(self) -> int:
        return len(self.server_of)

    def plant(self, parents: Positions) -> None:
        """Hang every seat below ``parents[seat]``; the roots have -1."""
        record = self.seats.seat
        for field in ("parent", "first", "next", "previous"):
            record[field] = NOBODY
        for seat in np.flatnonzero(parents >= 0)[::-1]:
            seats.link(self.seats, seat, parents[seat])
        self.settle()

    def settle(self) -> None:
        """Compute all anew from the links alone."""
        costs.settle(self.seats, self.order)

    @property
    def order(self) -> Positions:
        """All seats that hang in a tree, every parent before its children."""
        return self._order[: seats.walk(self.seats, self._order)]

    @property
    def parents(self) -> Positions:
        """The seat above every seat; -1 at the roots."""
        parents: Positions = self.seats.seat["parent"][: len(self)].copy()
        return parents

    @property
    def trees(self) -> dict[str | None, Tree]:
        """The trees as nouns, with the servers by name."""
        return {object_: self._write(number) for number, object_ in enumerate(self.objects)}

    @property
    def fidelity(self) -> Fidelity:
        """The loss of every server, from scratch but for the columns of the seats."""
        return lose(self.servers, self.seats, self.order)

    @property
    def cost(self) -> Change:
        """The overload of the brokers, and the average loss as far as it is finite."""
        overload, loss = costs.total(self.seats, self.order)
        return Change(overload, loss * self.mean)

    @property
    def mean(self) -> float:
        """What turns a sum over the servers into the mean over all but the source."""
        return 1.0 / max(len(self.servers) - 1, 1)

    def evaluate(self, move: Move) -> Change:
        """What a move would change; nothing is done. A move that is not possible now is an error."""
        self._check(move)
        overload, loss = moves.change(self.seats, *move)
        return Change(overload, loss * self.mean)

    def apply(self, move: Move) -> Move:
        """Do a move, and return the move that undoes it."""
        self._check(move)
        back = Move(*moves.inverse(self.seats, *move))
        moves.apply(self.seats, *move)
        return back

    def _check(self, move: Move) -> None:
        if not all(NOBODY <= seat < len(self) for seat in move[1:]) or move.seat == NOBODY:
            raise BadInput("move", f"{move.seat} and {move.other}: no such seats")
        if not 0 <= move.kind < len(moves.KINDS):
            raise BadInput("move", f"{move.kind}: no such kind")
        if not moves.is_possible(self.seats, *move):
            raise BadInput("move", f"{move} is not possible in this tree")

    def _read(self, number: int, tree: Tree, parents: Positions, place: str) -> None:
        index = {name: i for i, name in enumerate(self.servers.names)}
        for name in tree.names:
            if name not in index or self.seat_at[index[name], number] == NOBODY:
                raise BadInput(f"{place}.{name}", "no such server in this tree")
        here = self.seat_at[[index[name] for name in tree.names], number]
        if len(here) < np.count_nonzero(self.tree_of == number):
            lost = np.setdiff1d(np.flatnonzero(self.tree_of == number), here)[0]
            raise BadInput(place, f'"{self.servers.names[self.server_of[lost]]}" is missing')
        if tree.names[tree.root] != self.servers.names[SOURCE]:
            raise BadInput(place, f'the root is "{tree.names[tree.root]}", and not the source')
        parents[here] = np.where(tree.parents < 0, NOBODY, here[tree.parents])

    def _write(self, number: int) -> Tree:
        here = np.flatnonzero(self.tree_of == number)
        above = self.seats.seat["parent"][here]
        parents = np.where(above < 0, -1, np.searchsorted(here, above))
        names = np.array(self.servers.names, dtype=object)[self.server_of[here]]
        return Tree(names.tolist(), parents)


def _objects(servers: Servers, per_object: bool) -> Sequence[str | None]:
    if not per_object:
        return (None,)
    return tuple(servers.objects[x] for x in map(int, np.flatnonzero(servers.wanted.any(axis=0))))


def _members(servers: Servers, per_object: bool) -> np.ndarray:
    """Which server (row) sits in which tree (column)."""
    if not per_object:
        return np.ones((len(servers), 1), bool)
    member = servers.wanted[:, servers.wanted.any(axis=0)].copy()
    member[SOURCE] = True
    return member


def _seats(forest: Forest) -> Seats:
    servers, count = forest.servers, len(forest)
    width = 1 if forest.per_object else servers.rates.shape[1]
    f = seats.blank(forest.server_of, width, len(forest.objects), forest.model, servers.arriving)
    if forest.per_object:
        wanted = np.flatnonzero(servers.wanted.any(axis=0))[forest.tree_of]
        f.lane[:count, OWN, 0] = servers.rates[forest.server_of, wanted]
        f.lane[:count, SHARE, 0] = f.seat["weight"][:count] = servers.shares[forest.server_of, wanted]
    else:
        f.lane[:count, OWN], f.lane[:count, SHARE] = servers.rates, servers.shares
        f.seat["weight"][:count] = servers.weights
    f.server["filter_time"], f.server["transmit_time"] = servers.filter_time, servers.transmit_time
    return f
