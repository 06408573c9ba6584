"""One publication in one overlay: who receives it, in which forms, over which tree, at what cost."""

from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from papers.ccd.parameters import BROKERS, LARGEST_COST, LARGEST_SIZE, PUBLISHED, SHARE_OF_FORMATS
from polycast.convert import graphs
from polycast.model.broker import Broker
from polycast.model.format import ContentGraph
from polycast.model.plan import Plan
from polycast.model.problem import Problem, problem_of
from polycast.overlay.dissemination import Dissemination, discover
from polycast.overlay.networks import power_law
from polycast.overlay.tapestry import Tapestry, key_of

Floats = npt.NDArray[np.float64]

GRAPHS = Path(__file__).parent / "graphs"
"""The graphs as they were when the experiments began: a later calibration must not change what is reproduced."""


class Scale(NamedTuple):
    """What a megabyte over one link costs, and a second of a processor, in units of the plan's cost."""

    megabyte: float
    second: float


class Scene(NamedTuple):
    """A rendezvous point, the brokers that receive, and the forms that each asks for."""

    overlay: Tapestry
    root: int
    wants: dict[int, tuple[str, ...]]

    @property
    def receivers(self) -> list[int]:
        return list(self.wants)


@lru_cache(maxsize=4)
def overlay(brokers: int, seed: int) -> Tapestry:
    """Tapestry over a network that is drawn anew for every seed."""
    return Tapestry.over(power_law(brokers, seed))


def scene(seed: int, ratio: int, graph: ContentGraph, brokers: int = BROKERS) -> Scene:
    """A random publication: ``ratio`` percent of the brokers want it, each in a few random formats."""
    rng = np.random.default_rng([seed, ratio])
    names = [format.name for format in graph.formats]
    most = max(1, len(names) // SHARE_OF_FORMATS)
    receivers = rng.choice(brokers, round(brokers * ratio / 100), replace=False)
    wants = {
        int(broker): tuple(rng.choice(names, int(rng.integers(1, most + 1)), replace=False).tolist())
        for broker in receivers
    }
    tapestry = overlay(brokers, seed)
    return Scene(tapestry, tapestry.root(key_of(f"publication {seed}")), wants)


@cache
def scaled_graph(name: str, scaling: str) -> tuple[ContentGraph, Scale]:
    """A measured graph in units of cost, and what those units are."""
    graph = graphs.load(GRAPHS / f"{name}.json")
    sizes = [format.size for format in graph.formats if format.size is not None]
    costs = [operator.cost for operator in graph.operators]
    if scaling == "mean":
        scale = Scale(1 / float(np.mean(sizes)), 1 / float(np.mean(costs)))
    else:
        scale = Scale(LARGEST_SIZE / max(sizes), LARGEST_COST / max(costs))
    return _stretched(graph, scale), scale


def _stretched(graph: ContentGraph, scale: Scale) -> ContentGraph:
    return ContentGraph(
        formats=tuple(
            msgspec.structs.replace(format, size=None if format.size is None else format.size * scale.megabyte)
            for format in graph.formats
        ),
        operators=tuple(
            msgspec.structs.replace(operator, cost=operator.cost * scale.second) for operator in graph.operators
        ),
    )


def problem_on(
    found: Dissemination,
    at: Scene,
    graph: ContentGraph,
    published: str,
    weight: float,
    link_cost: Floats | None = None,
    compute_cost: Floats | None = None,
) -> Problem:
    """The placement problem on a tree; costs of links and brokers are 1 if left out."""
    above = found.tree.as_mapping()
    brokers = [
        Broker(name=name, parent=above.get(name), wants=at.wants.get(int(number), ()))
        for name, number in zip(found.tree.names, found.brokers, strict=True)
    ]
    problem = problem_of(graph, brokers, published, alpha=weight, beta=1.0)
    ones = np.ones(len(brokers))
    return problem.replace(
        link_cost=ones if link_cost is None else link_cost,
        compute_cost=ones if compute_cost is None else compute_cost,
    )


class Charge(NamedTuple):
    """What a plan costs beyond itself: the probes that found the tree, and the time of the algorithm."""

    scale: Scale
    probe_megabytes: float
    weight: float

    @property
    def probes(self) -> float:
        return self.weight * self.probe_megabytes * self.scale.megabyte

    def total(self, cost: float, seconds: float) -> float:
        """The whole cost of a plan that an algorithm has found on a discovered tree, in processor seconds."""
        return cost + self.probes + seconds * self.scale.second


def discovered(seed: int, ratio: int, name: str, weight: float, scaling: str) -> tuple[Problem, Charge]:
    """The problem of a random publication on its discovered tree, and how its overhead is charged."""
    graph, scale = scaled_graph(name, scaling)
    at = scene(seed, ratio, graph)
    found = discover(at.overlay, at.root, at.receivers)
    return problem_on(found, at, graph, PUBLISHED[name], weight), Charge(scale, found.probe_megabytes, weight)


def moved(plan: Plan, problem: Problem) -> float:
    """What a plan costs where the costs of links and brokers are those of another problem on the same tree."""
    return Plan(problem, plan.receives, plan.made_from, plan.delivered).cost.total
