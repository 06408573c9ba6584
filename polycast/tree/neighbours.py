"""All moves around one broker, and the best of them (Fidelity, Algorithm 1)."""

from collections.abc import Iterator

from polycast.kernel import kernel
from polycast.tree.moves import (
    ADOPTION,
    COUSIN,
    DEMOTION,
    PARENT_CHILD,
    PROMOTION,
    UNCLE,
    Move,
    change,
)
from polycast.tree.seats import NOBODY, Seats

SLIGHT = 1e-12


@kernel
def better(overload: float, loss: float, than_overload: float, than_loss: float) -> bool:
    """Whether one change is better than another: less overload first, and then less loss."""
    if abs(overload - than_overload) > SLIGHT:
        return overload < than_overload
    return loss < than_loss


@kernel
def moves_at(f: Seats, k: int) -> Iterator[tuple[int, int, int]]:
    """The possible moves that `k` decides on, each once: kind, seat, and other seat."""
    seat = f.seat
    j = seat[k].first
    while j != NOBODY:
        i = seat[j].first
        while i != NOBODY:
            yield PROMOTION, i, NOBODY
            yield PARENT_CHILD, i, NOBODY
            h = seat[k].first
            while h != NOBODY:
                if h != j:
                    yield ADOPTION, i, h
                    yield UNCLE, i, h
                    other = seat[h].first
                    while other != NOBODY:
                        if i < other:
                            yield COUSIN, i, other
                        other = seat[other].next
                h = seat[h].next
            i = seat[i].next
        h = seat[k].first
        while h != NOBODY:
            if h != j:
                yield DEMOTION, j, h
            h = seat[h].next
        j = seat[j].next


@kernel
def best_at(f: Seats, k: int) -> tuple[int, int, int, float, float]:
    """The move of `k` that improves most, and what it changes; the kind is -1 if none improves."""
    best, least_overload, least_loss = (-1, NOBODY, NOBODY), 0.0, 0.0
    for move in moves_at(f, k):
        overload, loss = change(f, *move)
        if better(overload, loss, least_overload, least_loss):
            best, least_overload, least_loss = move, overload, loss
    return (*best, least_overload, least_loss)


def all_at(f: Seats, k: int) -> list[Move]:
    """The possible moves that `k` decides on."""
    return [Move(*map(int, move)) for move in moves_at(f, k)]
