"""Whose turn it is to adapt: tokens and holds, as messages between servers (Fidelity, sections 3.2.2 and 4.2).

A token passes down each tree. Who gets it may change what is below itself. Trees share servers, so a broker first
holds its children still, that they may not change in another tree meanwhile. The papers' protocol can wait in a
circle for ever (their Theorem 2 does not hold). In ours nobody waits for anyone who waits:

- a hold is answered at once: granted by a server that has nothing else going on, refused by every other;
- a broker whose holds were all granted makes its move; one that was refused leaves out this round; both then
  release whom they held, and pass the token on;
- a token that comes while a server holds others, or is held, waits until that is over, which never takes longer
  than an answer;
- a server without children is done at once.

Pure: a message in, what to do out.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Token(NamedTuple):
    """It is the receiver's turn in a tree."""

    tree: int


class Hold(NamedTuple):
    """The sender, the parent in a tree, asks the receiver to keep still."""

    tree: int


class Answer(NamedTuple):
    """The receiver's hold is granted or refused."""

    tree: int
    granted: bool


class Release(NamedTuple):
    """The receiver need not keep still any longer."""

    tree: int


Message = Token | Hold | Answer | Release


class Send(NamedTuple):
    """Send a message to a server."""

    to: int
    message: Message


class Attempt(NamedTuple):
    """Decide on a move in a tree now, and make it; only then go on with what is to be done."""

    tree: int


class Skip(NamedTuple):
    """A child would not keep still: no move in this tree in this round."""

    tree: int


Effect = Send | Attempt | Skip


@dataclass
class Turns:
    """One server's part.

    Parameters
    ----------
    children
        The servers below it in a tree, as they are at the moment of asking.
    alone
        Whether there is only one tree, so that nobody needs to be held.
    """

    children: Callable[[int], Sequence[int]]
    alone: bool = False
    held: bool = False
    asked: set[int] = field(default_factory=set)
    granted: list[int] = field(default_factory=list)
    refused: bool = False
    tokens: deque[int] = field(default_factory=deque)

    @property
    def idle(self) -> bool:
        """Whether nothing is going on here."""
        return not (self.held or self.asked or self.tokens)

    def handle(self, sender: int, message: Message) -> Iterator[Effect]:
        """Take a message, and say step by step what to do."""
        if isinstance(message, Token):
            self.tokens.append(message.tree)
        elif isinstance(message, Hold):
            granted = self.idle
            self.held = self.held or granted
            yield Send(sender, Answer(message.tree, granted))
        elif isinstance(message, Release):
            self.held = False
        else:
            yield from self._hear(sender, message)
        while self.tokens and not (self.held or self.asked):
            yield from self._begin(self.tokens.popleft())

    def _begin(self, tree: int) -> Iterator[Effect]:
        children = self.children(tree)
        if self.alone and children:
            yield Attempt(tree)
            yield from self._pass_on(tree)
            return
        self.asked, self.granted, self.refused = set(children), [], False
        for child in children:
            yield Send(child, Hold(tree))

    def _hear(self, sender: int, answer: Answer) -> Iterator[Effect]:
        self.asked.discard(sender)
        if answer.granted:
            self.granted.append(sender)
        else:
            self.refused = True
        if self.asked:
            return
        yield Skip(answer.tree) if self.refused else Attempt(answer.tree)
        for child in self.granted:
            yield Send(child, Release(answer.tree))
        yield from self._pass_on(answer.tree)

    def _pass_on(self, tree: int) -> Iterator[Effect]:
        for child in self.children(tree):
            yield Send(child, Token(tree))
