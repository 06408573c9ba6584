"""Migration, attachment's distributed form (Overlay, section IV.C): brokers redirect their heaviest users.

A broker decides from its own :class:`View`: its users, what all brokers subscribe to and publish in sum, and what
links cost. From that it computes exactly what a redirect would change in the whole overlay. Brokers take turns,
one redirect after the other: if they redirected at once, two users who like to be together could chase each other
for ever. Each redirect either makes the overlay cheaper, or takes a user from a broker that is over its capacity;
so it all ends.

Whatever changes (rates, subscriptions, arrivals, departures) changes the views, and brokers go on from where they
are. Nothing here sends anything: a redirect is a decision, for the driver to carry out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polycast.errors import NoSolution
from polycast.kernel import kernel
from polycast.overlay.attachment import (
    PER_PUBLISHER,
    ROUNDING,
    Attachment,
    Costs,
    Flags,
    Floats,
    Indices,
    Overlay,
    demand_of,
    frozen,
)
from polycast.overlay.core import core_of
from polycast.overlay.cost import tables
from polycast.overlay.fit import pack_somehow
from polycast.overlay.ledger import Brokers, Ledger, Users, access_change, core_change, fits, move, open_ledger

# A gain that is a smaller share than this of all that the broker knows of is taken for rounding.
LEAST_GAIN = 1e-12

NOBODY = -1


@dataclass(frozen=True, eq=False)
class View:
    """All that a broker knows when it decides.

    Parameters
    ----------
    broker
        Its own number.
    users : (n,)
        The numbers of its users; ``publishes`` and ``interest`` (n, t) and ``access_cost`` (n, b) are theirs.
    published : (b, t)
        What each broker's users publish in sum (from ``summarize``).
    subscribed : (b, t)
        The union of the subscriptions at each broker (from ``register``).
    load, capacity : (b,)
        The traffic of each broker's users, and the most that it can take.
    core_cost : (b, b)
        What links between brokers cost.
    core
        How messages travel between brokers: ``per-publisher`` or ``shared``.
    """

    broker: int
    users: Indices
    publishes: Floats
    interest: Flags
    access_cost: Costs
    published: Floats
    subscribed: Flags
    load: Floats
    capacity: Floats
    core_cost: Floats
    core: str = PER_PUBLISHER

    def __post_init__(self) -> None:
        for name in ("publishes", "interest", "access_cost", "core_cost"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


class Redirect(NamedTuple):
    """A user is asked to move from one broker to another, which changes the cost of the overlay by so much."""

    user: int
    source: int
    target: int
    change: float


@dataclass(frozen=True)
class Settled:
    """What became of brokers' turns.

    Parameters
    ----------
    redirects
        Those that were carried out, in order.
    turns
        How many brokers had a turn.
    quiet
        Whether nothing moves any more; else the rounds were used up.
    """

    attachment: Attachment
    redirects: tuple[Redirect, ...]
    turns: int
    quiet: bool


class Turn:
    """One broker's turn: it looks at its users once, heaviest first, and asks for one redirect at a time."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._book = _ledger_of(view)
        self._heaviest_first = np.argsort(-self._book.demand, kind="stable").astype(np.int32)
        self._position = 0
        self._asked = (NOBODY, NOBODY)

    def ask(self) -> Redirect | None:
        """The next redirect that helps; None when all users have been looked at."""
        user, target, change, self._position = _next(self._book, self._heaviest_first, self._position)
        self._asked = (user, target)
        if user == NOBODY:
            return None
        return Redirect(int(self.view.users[user]), self.view.broker, int(target), float(change))

    def accepted(self) -> None:
        """The user that was asked has moved: go on with what is so now."""
        move(self._book, *self._asked)


def view_of(overlay: Overlay, broker: Indices, b: int, core: str = PER_PUBLISHER) -> View:
    """What one broker knows of an overlay in which the users are attached as given."""
    users = np.flatnonzero(broker == b).astype(np.int32)
    published, readers = tables(overlay.publishes, overlay.interest, broker, overlay.brokers)
    return View(
        b,
        users,
        overlay.publishes[users],
        overlay.interest[users],
        overlay.access_cost[users],
        published,
        readers > 0,
        np.bincount(broker, overlay.demand, overlay.brokers).astype(np.float64),
        overlay.capacity,
        overlay.core_cost,
        core,
    )


def arrive(overlay: Overlay, broker: Indices) -> Indices:
    """Attach those who have no broker yet (-1) to their cheapest with room; to the least full if none has any."""
    broker = np.array(broker, np.int32)
    for user in np.flatnonzero(~np.isfinite(overlay.access_cost).any(axis=1))[:1]:
        raise NoSolution(f'none exists: the user "{overlay.user_name(user)}" cannot use any broker')
    here, new = broker >= 0, np.flatnonzero(broker < 0).astype(np.int32)
    load = np.bincount(broker[here], overlay.demand[here], overlay.brokers).astype(np.float64)
    pack_somehow(overlay.access_cost, overlay.demand, overlay.room, load, broker, new)
    return broker


def settle(
    overlay: Overlay,
    broker: Indices,
    *,
    core: str = PER_PUBLISHER,
    rounds: int | None = None,
    accepts: Callable[[Redirect], bool] = lambda _: True,
    on_progress: Callable[[float | None, str], None] | None = None,
) -> Settled:
    """Let all brokers take turns, round after round, until none has anything to redirect.

    Parameters
    ----------
    broker
        Where the users are; -1 for one that has just arrived.
    rounds
        At most so many.
    accepts
        Whether a user agrees to move; it may have reasons of its own to stay.
    """
    broker = arrive(overlay, broker)
    done: list[Redirect] = []
    turns, since = 0, 0
    while since < overlay.brokers and (rounds is None or turns < rounds * overlay.brokers):
        moved = _take_turn(view_of(overlay, broker, turns % overlay.brokers, core), broker, accepts)
        done += moved
        turns, since = turns + 1, 0 if moved else since + 1
        if on_progress is not None:
            on_progress(None, f"{turns} turns, {len(done)} redirects")
    return Settled(Attachment(overlay, broker, core), tuple(done), turns, since >= overlay.brokers)


def _take_turn(view: View, broker: Indices, accepts: Callable[[Redirect], bool]) -> list[Redirect]:
    """Carry out, in ``broker``, what a broker asks for and users agree to."""
    turn, done = Turn(view), []
    while (redirect := turn.ask()) is not None:
        if accepts(redirect):
            turn.accepted()
            broker[redirect.user] = redirect.target
            done.append(redirect)
    return done


def _ledger_of(view: View) -> Ledger:
    """A ledger of the broker's own users; of other brokers it has no need to know how many users subscribe."""
    readers = view.subscribed.astype(np.int32)
    readers[view.broker] = view.interest.sum(axis=0)
    rate = frozen(view.published.sum(axis=0))
    here = np.full(len(view.users), view.broker, np.int32)
    demand = frozen(demand_of(view.publishes, view.interest, rate))
    users = Users(view.publishes, view.interest, view.access_cost, demand, here)
    room = frozen(view.capacity * (1 + ROUNDING))
    brokers = Brokers(view.published.copy(), readers, view.load.copy(), room)
    return open_ledger(users, brokers, core_of(view.core_cost, view.core), rate)


@kernel
def _next(book: Ledger, order: Indices, position: int) -> tuple[int, int, float, int]:
    """The first user, from a position on, whose redirect helps; its broker, the change, and where to go on."""
    least = -LEAST_GAIN * (book.total[0] + book.total[1])
    while position < len(order):
        user = order[position]
        position += 1
        if book.demand[user] > 0:
            target, change = _best_target(book, user)
            home = book.broker[user]
            if target >= 0 and (change < least or book.load[home] > book.room[home]):
                return user, target, change, position
    return NOBODY, NOBODY, 0.0, position


@kernel
def _best_target(book: Ledger, user: int) -> tuple[int, float]:
    """The broker with room where a user makes the overlay cheapest, and what it costs more than now."""
    best, least = NOBODY, np.inf
    for b in range(len(book.load)):
        if b != book.broker[user] and fits(book, user, b):
            change = access_change(book, user, b) + core_change(book, user, b)
            if change < least:
                best, least = b, change
    return best, least
