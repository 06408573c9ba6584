"""The papers' protocol for adapting many trees at once, Algorithms 4 and 5 to the letter, without the adapting.

``mended`` sends the token on after every attempt and finishes a server without children at once, so that what is
left is what Theorem 2 speaks of.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class State(Enum):
    IDLE = "idle"
    WAIT = "wait"
    HOLD = "hold"


class Message(NamedTuple):
    kind: str  # hold, token or ack
    tree: str
    source: str
    num: int = 0


@dataclass
class Node:
    name: str
    num: int
    child: Mapping[str, Sequence[str]]  # by tree
    mended: bool
    outbox: deque[tuple[str, Message]]
    state: State = State.IDLE
    hold_tree: str | None = None
    wait_pool: dict[str, set[str]] = field(default_factory=dict)  # by tree: who has not acknowledged
    q_ready: deque[str] = field(default_factory=deque)
    q_token: deque[Message] = field(default_factory=deque)
    q_hold: deque[Message] = field(default_factory=deque)

    def process(self, msg: Message) -> None:
        """Algorithm 4, the body of the loop."""
        self.handle(msg)
        if self.state is State.HOLD:
            return
        while self.q_ready:
            self.perform_adapt(self.q_ready.popleft(), forward=True)
        for _ in range(len(self.q_token)):
            self.handle(self.q_token.popleft())
        for _ in range(len(self.q_hold)):
            self.handle(self.q_hold.popleft())
            if self.state is State.HOLD:
                break

    def handle(self, msg: Message) -> None:
        """Algorithm 5, HandleMsg."""
        if msg.kind == "hold":
            if self.state is State.HOLD or (self.state is State.WAIT and msg.num <= self.num):
                self.q_hold.append(msg)
            else:
                self.perform_hold(msg)
        elif msg.kind == "token":
            self.handle_token(msg)
        else:
            waiting = self.wait_pool[msg.tree]
            waiting.discard(msg.source)
            if not waiting:
                del self.wait_pool[msg.tree]
                if self.state is State.HOLD:
                    self.q_ready.append(msg.tree)
                else:
                    self.perform_adapt(msg.tree, forward=self.mended)

    def handle_token(self, msg: Message) -> None:
        if self.state is State.HOLD:
            if msg.tree != self.hold_tree:
                self.q_token.append(msg)
                return
            self.state = State.WAIT
        if msg.tree in self.wait_pool:
            return
        if self.mended and not self.child.get(msg.tree):
            self.state = State.WAIT if self.wait_pool else State.IDLE
            return
        self.wait_pool[msg.tree] = set(self.child.get(msg.tree, ()))
        self.state = State.WAIT
        for child in self.child.get(msg.tree, ()):
            self.send(child, "hold", msg.tree)

    def perform_adapt(self, tree: str, forward: bool) -> None:
        self.state = State.WAIT if self.wait_pool else State.IDLE
        if forward:
            for child in self.child.get(tree, ()):
                self.send(child, "token", tree)

    def perform_hold(self, msg: Message) -> None:
        self.send(msg.source, "ack", msg.tree)
        self.hold_tree, self.state = msg.tree, State.HOLD

    def send(self, to: str, kind: str, tree: str) -> None:
        self.outbox.append((to, Message(kind, tree, self.name, self.num)))


def network(
    trees: Mapping[str, Mapping[str, Sequence[str]]], num: Mapping[str, int], mended: bool
) -> dict[str, Node]:
    """Nodes that share one outbox: what is sent first arrives first."""
    outbox: deque[tuple[str, Message]] = deque()
    return {
        name: Node(name, n, {tree: below.get(name, ()) for tree, below in trees.items()}, mended, outbox)
        for name, n in num.items()
    }


def run(nodes: Mapping[str, Node]) -> None:
    """Deliver messages until none is left."""
    outbox = next(iter(nodes.values())).outbox
    while outbox:
        to, message = outbox.popleft()
        nodes[to].process(message)
