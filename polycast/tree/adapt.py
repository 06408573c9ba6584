"""Adaptation without a network: whole rounds, tokens passing from the root, in one tree or in many.

Every broker decides for itself, from its own view. A message takes as long as the delay between its servers.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from polycast.tree.decide import decide
from polycast.tree.forest import Change, Forest
from polycast.tree.moves import Move
from polycast.tree.seats import NOBODY
from polycast.tree.servers import SOURCE, Floats
from polycast.tree.turns import Attempt, Message, Send, Skip, Token, Turns
from polycast.tree.view import view_of

SPREAD = 10.0


@dataclass(frozen=True)
class Round:
    """What became of one round.

    Parameters
    ----------
    moves
        Those that were made, in order.
    attempts, skipped
        How many brokers had their turn, and how many of the turns went by because a child would not keep still.
    seconds
        From the first token to the last message.
    cost
        The overload and the average loss afterwards.
    """

    moves: tuple[Move, ...]
    attempts: int
    skipped: int
    seconds: float
    cost: Change


def adapt(forest: Forest, rounds: int = 1, *, spread: float = SPREAD, seed: int = 0) -> list[Round]:
    """Let the brokers of a forest adapt it, in place, for some rounds.

    ``spread``: the trees' tokens set out at random moments within so many seconds. All at once, brokers that meet
    in several trees keep refusing each other.
    """
    rng = np.random.default_rng(seed)
    trees = len(forest.objects)
    return [_Round(forest).run(rng.uniform(0.0, spread, trees) * (trees > 1)) for _ in range(rounds)]


class _Round:
    """One round under way: the servers' turns, and the messages that are still travelling."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        alone = len(forest.objects) == 1
        self.turns = [Turns(partial(self._children, server), alone) for server in range(len(forest.servers))]
        self.travelling: list[tuple[float, int, int, int, Message]] = []
        self.sent, self.now = 0, 0.0
        self.moves: list[Move] = []
        self.attempts, self.skipped = 0, 0

    def run(self, starts: Floats) -> Round:
        """Give the root a token for every tree in its time, and deliver messages until none is left."""
        for tree, start in enumerate(starts.tolist()):
            self._post(start, SOURCE, SOURCE, Token(tree))
        while self.travelling:
            self.now, _, sender, receiver, message = heapq.heappop(self.travelling)
            for effect in self.turns[receiver].handle(sender, message):
                if isinstance(effect, Send):
                    self._send(receiver, effect.to, effect.message)
                elif isinstance(effect, Attempt):
                    self._attempt(receiver, effect.tree)
                elif isinstance(effect, Skip):
                    self.skipped += 1
        assert all(turns.idle for turns in self.turns), "a server waits for ever"
        return Round(tuple(self.moves), self.attempts, self.skipped, self.now, self.forest.cost)

    def _send(self, sender: int, receiver: int, message: Message) -> None:
        self._post(self.now + float(self.forest.servers.delays[sender, receiver]), sender, receiver, message)

    def _post(self, arrival: float, sender: int, receiver: int, message: Message) -> None:
        self.sent += 1
        heapq.heappush(self.travelling, (arrival, self.sent, sender, receiver, message))

    def _attempt(self, server: int, tree: int) -> None:
        self.attempts += 1
        move = decide(view_of(self.forest, int(self.forest.seat_at[server, tree])), self.forest.model)
        if move is not None:
            self.forest.apply(move)
            self.moves.append(move)

    def _children(self, server: int, tree: int) -> Sequence[int]:
        record, found = self.forest.seats.seat, []
        seat = record[self.forest.seat_at[server, tree]]["first"]
        while seat != NOBODY:
            found.append(int(record[seat]["server"]))
            seat = record[seat]["next"]
        return found
