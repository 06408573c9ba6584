"""Slow truths about trees for streams: the formulas of Fidelity (sections 3.1 and 4), in plain loops."""

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np

from polycast.tree.model import APPROXIMATE, LossModel
from polycast.tree.servers import Servers

# The parents of one tree by position; the source has none. One tree for all objects is under the key None.
Parents = Mapping[int, int]
Trees = Mapping[int | None, Parents]


def losses(servers: Servers, trees: Trees, model: LossModel = APPROXIMATE) -> list[float]:
    """LF of every server; the source's is 0 and does not count."""
    return Truth(servers, trees, model).losses()


def average(servers: Servers, trees: Trees, model: LossModel = APPROXIMATE) -> float:
    """AvgLF over all servers but the source."""
    return float(np.mean(losses(servers, trees, model)[1:])) if len(servers) > 1 else 0.0


class Truth:
    def __init__(self, servers: Servers, trees: Trees, model: LossModel) -> None:
        self.servers, self.trees, self.model = servers, trees, model
        self.children = {tree: self._children(parents) for tree, parents in trees.items()}

    def _children(self, parents: Parents) -> dict[int, list[int]]:
        nodes = {0, *parents}
        return {node: [child for child, parent in parents.items() if parent == node] for node in nodes}

    def objects(self, tree: int | None) -> list[int]:
        return list(range(self.servers.rates.shape[1])) if tree is None else [tree]

    def rate(self, tree: int | None, node: int, x: int) -> float:
        """r^m: the highest rate in the subtree."""
        below = [self.rate(tree, child, x) for child in self.children[tree][node]]
        return max([float(self.servers.rates[node, x]), *below])

    def t_kjx(self, tree: int | None, k: int, j: int, x: int) -> float:
        """Equation 2, per object."""
        if self.rate(tree, j, x) == 0:
            return 0.0
        sent = self.rate(tree, j, x) / self.rate(tree, k, x)
        return float(self.servers.filter_time[k] + self.servers.transmit_time[k] * sent)

    def t_kx(self, tree: int | None, k: int, x: int) -> float:
        """Equation 3, per object."""
        return sum(self.t_kjx(tree, k, j, x) for j in self.children[tree][k])

    def places(self, k: int) -> list[int | None]:
        return [tree for tree in self.trees if k in self.children[tree]]

    def traffic(self, k: int) -> float:
        return sum(self.rate(tree, k, x) for tree in self.places(k) for x in self.objects(tree))

    def work(self, k: int) -> float:
        return sum(
            self.rate(tree, k, x) * self.t_kx(tree, k, x) for tree in self.places(k) for x in self.objects(tree)
        )

    def upkeep(self, k: int) -> float:
        """Equation 7, corrected, times the number of objects that pass."""
        overhead = self.model.overhead
        if overhead is None:
            return 0.0
        total = 0.0
        for tree in self.places(k):
            passing = sum(self.rate(tree, k, x) > 0 for x in self.objects(tree))
            known = len(self.children[tree][k]) + len(self.grandchildren(tree, k))
            collecting = overhead.collect_time / overhead.collect_period * known
            deciding = overhead.decide_time / overhead.decide_period * len(list(moves_at(self.children[tree], k)))
            total += passing * (collecting + deciding)
        return total

    def grandchildren(self, tree: int | None, k: int) -> list[int]:
        below = self.children[tree]
        return [i for j in below[k] for i in below[j]]

    def load(self, k: int) -> float:
        literal = self.model.overhead is not None and self.model.overhead.literal
        return self.work(k) + (0.0 if literal else self.upkeep(k))

    def g(self, tree: int | None, k: int, j: int, x: int) -> float:
        """The processing delay in k of a message of x for its child j (equations 4, 5, 9 and 11)."""
        traffic, load = self.traffic(k), self.load(k)
        if traffic == 0:
            return 0.0
        if load >= 1:
            return math.inf
        mean = self.work(k) / traffic
        waiting = load / (1 - load) * mean
        if self.model.precise:
            others = (self.t_kx(tree, k, x) - self.t_kjx(tree, k, j, x)) / 2
        else:
            own = mean if tree is None else self.t_kx(tree, k, x)
            others = own / 2 * (1 - 1 / len(self.children[tree][k]))
        literal = self.model.overhead is not None and self.model.overhead.literal
        spent = float(self.servers.filter_time[k] + self.servers.transmit_time[k])
        return waiting + others + spent + (self.upkeep(k) if literal else 0.0)

    def delay(self, tree: int | None, node: int, x: int) -> float:
        """D(s, i) and every g above i (equation 6)."""
        total = 0.0
        while node != 0:
            above = self.trees[tree][node]
            total += float(self.servers.delays[above, node]) + self.g(tree, above, node, x)
            node = above
        return total

    def losses(self) -> list[float]:
        return [0.0, *(self.loss(node) for node in range(1, len(self.servers)))]

    def loss(self, node: int) -> float:
        wanted = [x for x, rate in enumerate(self.servers.rates[node]) if rate > 0]
        tree_of = {x: None if None in self.trees else x for x in wanted}
        parts = [self.servers.rates[node, x] * self.delay(tree_of[x], node, x) for x in wanted]
        return float(sum(parts) / len(wanted)) if wanted else 0.0

    def overloaded(self) -> list[int]:
        return [k for k in range(len(self.servers)) if self.load(k) >= 1]


def moves_at(children: Mapping[int, list[int]], k: int) -> Iterator[tuple[str, int, int | None]]:
    """Every possible move of the six kinds that k decides on, each once."""
    for j in children[k]:
        for i in children[j]:
            yield "promotion", i, None
            yield "parent-child swap", i, None
            for h in children[k]:
                if h != j:
                    yield "nephew adoption", i, h
                    yield "uncle-nephew swap", i, h
        for h in children[k]:
            if h != j:
                yield "demotion", j, h
    for j, h in itertools.combinations(children[k], 2):
        for i, other in itertools.product(children[j], children[h]):
            yield "cousin swap", i, other


def moved(parents: Parents, move: tuple[str, int, int | None]) -> dict[int, int]:
    """The parents after a move, as the figures of section 3.2.1 tell it."""
    kind, i, other = move
    after, j = dict(parents), parents[i]
    if kind == "promotion":
        after[i] = parents[j]
    elif kind == "demotion":
        assert other is not None
        after[i] = other
    elif kind == "parent-child swap":
        after[i], after[j] = parents[j], i
    elif kind == "cousin swap":
        assert other is not None
        after[i], after[other] = parents[other], j
    elif kind == "nephew adoption":
        assert other is not None
        after[i] = other
    else:
        assert other is not None
        after[i], after[other] = parents[other], j
    return after


def all_trees(nodes: list[int]) -> Iterator[dict[int, int]]:
    """Every tree over the nodes that is rooted at the first."""
    root, *others = nodes
    for choice in itertools.product(nodes, repeat=len(others)):
        parents = dict(zip(others, choice, strict=True))
        if all(_reaches(parents, node, root, len(nodes)) for node in others):
            yield parents


def _reaches(parents: Mapping[int, int], node: int, root: int, steps: int) -> bool:
    for _ in range(steps):
        if node == root:
            return True
        node = parents[node]
    return False


def best(servers: Servers, per_object: bool, model: LossModel = APPROXIMATE) -> float:
    """The least AvgLF of any tree, or of any choice of one tree per object."""
    if not per_object:
        return min(average(servers, {None: p}, model) for p in all_trees(list(range(len(servers)))))
    wanted = [x for x in range(servers.rates.shape[1]) if servers.wanted[:, x].any()]
    choices = [list(all_trees([0, *np.flatnonzero(servers.wanted[:, x]).tolist()])) for x in wanted]
    forests = (dict(zip(wanted, choice, strict=True)) for choice in itertools.product(*choices))
    return min(average(servers, forest, model) for forest in forests)
