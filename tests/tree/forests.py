"""From positions, as the slow truths like them, to forests and back."""

from polycast.model.tree import Tree
from polycast.tree import moves
from polycast.tree.forest import Forest
from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.moves import KINDS, Move
from polycast.tree.seats import NOBODY
from polycast.tree.servers import Servers
from tests.oracles import fidelity


def forest_of(servers: Servers, trees: fidelity.Trees, model: LossModel = APPROXIMATE) -> Forest:
    names = servers.names
    nouns = {
        None if x is None else servers.objects[x]: Tree.of(
            names[0], {names[child]: names[parent] for child, parent in parents.items()}
        )
        for x, parents in trees.items()
    }
    return Forest.of(servers, nouns, model)


def parents_of(forest: Forest) -> fidelity.Trees:
    index = {name: i for i, name in enumerate(forest.servers.names)}
    objects = {name: x for x, name in enumerate(forest.servers.objects)}
    return {
        None if name is None else objects[name]: {
            index[child]: index[parent] for child, parent in tree.as_mapping().items()
        }
        for name, tree in forest.trees.items()
    }


def moves_of(forest: Forest, seat: int) -> list[Move]:
    """Every possible move that the broker on a seat decides on, as the slow truth lists them."""
    parents = forest.parents.tolist()
    children = {k: [v for v, parent in enumerate(parents) if parent == k] for k in range(len(forest))}
    found = []
    for kind, i, other in fidelity.moves_at(children, seat):
        first, second = (i, NOBODY) if other is None else (i, other)
        if kind == "cousin swap":
            first, second = sorted((first, second))
        found.append(Move(KINDS.index(kind), first, second))
    return found


def all_moves(forest: Forest) -> list[Move]:
    """Every possible move, found by trying every kind on every pair of seats."""
    places = range(NOBODY, len(forest))
    found = []
    for kind in range(len(KINDS)):
        single = kind in (moves.PROMOTION, moves.PARENT_CHILD)
        for seat in range(len(forest)):
            for other in [NOBODY] if single else places:
                if kind == moves.COUSIN and other < seat:
                    continue
                if moves.is_possible(forest.seats, kind, seat, other):
                    found.append(Move(kind, seat, other))
    return found
