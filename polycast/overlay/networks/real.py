"""Real networks, published by those who run or measured them: Topology Zoo, SNDlib, CAIDA."""

import math
from collections import Counter
from typing import Any

import numpy as np

from polycast.errors import BadInput
from polycast.overlay.topology import Topology


def real(key: str) -> Topology:
    """A network of the `topohub` collection, as ``topozoo/Abilene`` or ``sndlib/polska``.

    A link costs its length in kilometres. Where a collection has several parts that nothing links, the
    largest is the network.
    """
    found = _load(key)
    nodes, edges = found["nodes"], found["edges"]
    position = {str(node["id"]): i for i, node in enumerate(nodes)}
    pairs = np.array(
        [(position[str(edge["source"])], position[str(edge["target"])]) for edge in edges], np.int32
    ).reshape(-1, 2)
    whole = Topology(
        ends=pairs,
        link_cost=np.array([_length(edge) for edge in edges]),
        compute_cost=np.ones(len(nodes)),
        place=np.array([node["pos"] for node in nodes], np.float64),
        names=_names(nodes),
    )
    return _largest_part(whole)


def _load(key: str) -> dict[str, Any]:
    try:
        import topohub
    except ImportError:
        raise BadInput(
            f'network "{key}"', "real networks need topohub: pip install 'polycast[topologies]'"
        ) from None
    try:
        found: dict[str, Any] = topohub.get(key)
    except (KeyError, OSError):
        raise BadInput(f'network "{key}"', "topohub has none of this name; try topozoo/Abilene") from None
    return found


def _length(edge: dict[str, Any]) -> float:
    length = float(edge.get("dist", 1.0))
    return length if math.isfinite(length) else 1.0


def _names(nodes: list[dict[str, Any]]) -> tuple[str, ...]:
    """The names that the nodes have, with their number behind it where two share one."""
    names = [str(node.get("name") or node["id"]) for node in nodes]
    times = Counter(names)
    return tuple(
        f"{name} ({node['id']})" if times[name] > 1 else name for name, node in zip(names, nodes, strict=True)
    )


def _largest_part(topology: Topology) -> Topology:
    best = np.empty(0, np.int64)
    waiting = np.ones(len(topology), np.bool_)
    while waiting.sum() > len(best):
        part = np.flatnonzero(np.isfinite(topology.distances([int(np.argmax(waiting))])[0]))
        waiting[part] = False
        best = max(best, part, key=len)
    return topology if len(best) == len(topology) else _part(topology, best)


def _part(topology: Topology, kept: np.ndarray[Any, np.dtype[np.int64]]) -> Topology:
    position = np.full(len(topology), -1, np.int32)
    position[kept] = np.arange(len(kept))
    ends = position[topology.ends]
    inside = (ends >= 0).all(axis=1)
    return Topology(
        ends=ends[inside],
        link_cost=topology.link_cost[inside],
        compute_cost=topology.compute_cost[kept],
        place=None if topology.place is None else topology.place[kept],
        names=tuple(topology.names[i] for i in kept),
    )
