"""A part of the tree as a multilayer graph (CCD, section 3): each broker has a vertex for every format.

Edges within a broker convert, edges between brokers send. What the part receives and what it must hand on are
given; the cheapest plan for the part is then a minimum directed Steiner tree.
"""

from typing import NamedTuple

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Floats, Indices
from polycast.place.arrays import Arrays, Parts
from polycast.place.digraph import Digraph, digraph_of
from polycast.place.steiner import steiner


class Region(NamedTuple):
    """The brokers of a region, level by level, and its multilayer graph.

    Parameters
    ----------
    brokers, above : (r,)
        The brokers, and the position in the region of each one's parent; -1 at the top.
    last
        Where the lowest level begins; what it hands on is fixed.
    source : (edges,)
        The format that each edge begins with.
    root, terminals
        What the tree must connect. The root stands for all formats that the top receives.
    """

    brokers: Indices
    above: Indices
    last: int
    graph: Digraph
    source: Indices
    root: int
    terminals: Indices


class _Edges(NamedTuple):
    """Edges that are being gathered; ``filled`` is an array of one."""

    tail: Indices
    head: Indices
    source: Indices
    weight: Floats
    filled: Indices


@kernel
def convert_everywhere(problem: Arrays, parts: Parts, effort: float) -> None:
    """Let every broker run the cheapest operators that make, from what it receives, what is needed there."""
    for broker in problem.order:
        if problem.wanting[broker]:
            replan(problem, parts, broker, 0, effort)


@kernel
def replan(problem: Arrays, parts: Parts, top: int, depth: int, effort: float) -> None:
    """Plan a region anew, given what its top receives and what its lowest level hands on.

    With depth 0, that is what one broker runs.
    """
    region = region_of(problem, parts, top, depth)
    adopt(problem, parts, region, steiner(region.graph, region.root, region.terminals, effort))


@kernel
def region_of(problem: Arrays, parts: Parts, top: int, depth: int) -> Region:
    """The region from one broker down by a number of levels, without the brokers that nothing passes through."""
    brokers, above, last = _members(problem, top, depth)
    held = parts.receives[top]
    root = int(np.argmax(held))
    edges = _gather(problem, brokers, above, held, root)
    vertices = len(brokers) * len(problem.size) + _wants_with_a_choice(problem, brokers)
    graph = digraph_of(vertices, edges.tail, edges.head, edges.weight)
    terminals = _terminals(problem, parts, brokers, last, held)
    return Region(brokers, above, last, graph, edges.source, root, terminals)


@kernel
def _members(problem: Arrays, top: int, depth: int) -> tuple[Indices, Indices, int]:
    brokers, above = [np.int32(top)], [np.int32(-1)]
    last = 0
    for _ in range(depth):
        following = len(brokers)
        for position in range(last, following):
            first, end = problem.child_start[brokers[position]], problem.child_start[brokers[position] + 1]
            for child in problem.children[first:end]:
                if problem.wanting[child]:
                    brokers.append(child)
                    above.append(np.int32(position))
        last = following
        if last == len(brokers):
            break
    return np.array(brokers), np.array(above), last


@kernel
def _wants_with_a_choice(problem: Arrays, brokers: Indices) -> int:
    count = 0
    for broker in brokers:
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            if problem.choice_start[want + 1] - problem.choice_start[want] > 1:
                count += 1
    return count


@kernel
def _gather(problem: Arrays, brokers: Indices, above: Indices, held: Flags, root: int) -> _Edges:
    """All edges of the multilayer graph of some brokers."""
    most = len(brokers) * (len(problem.source) + len(problem.size))
    for broker in brokers:
        first, last = problem.want_start[broker], problem.want_start[broker + 1]
        most += problem.choice_start[last] - problem.choice_start[first]
    ends = np.empty((3, most), np.int32)
    edges = _Edges(ends[0], ends[1], ends[2], np.empty(most), np.zeros(1, np.int32))
    vertex = len(brokers) * len(problem.size)
    for position, broker in enumerate(brokers):
        _add_conversions(problem, edges, position, broker, held, root)
        if position:
            _add_transmissions(problem, edges, position, broker, above[position], held, root)
        vertex = _add_penalties(problem, edges, position, broker, vertex, held, root)
    count = edges.filled[0]
    return _Edges(edges.tail[:count], edges.head[:count], edges.source[:count], edges.weight[:count], edges.filled)


@kernel
def _add_conversions(problem: Arrays, edges: _Edges, position: int, broker: int, held: Flags, root: int) -> None:
    formats, factor = len(problem.size), problem.beta * problem.compute_cost[broker]
    for operator in range(len(problem.source)):
        source, target = problem.source[operator], problem.target[operator]
        if position or not held[target]:
            tail = _vertex(formats, position, source, held, root)
            _add(edges, tail, position * formats + target, source, factor * problem.operator_cost[operator])


@kernel
def _add_transmissions(
    problem: Arrays, edges: _Edges, position: int, broker: int, above: int, held: Flags, root: int
) -> None:
    formats, factor = len(problem.size), problem.alpha * problem.link_cost[broker]
    for format in range(formats):
        if problem.sendable[format]:
            tail = _vertex(formats, above, format, held, root)
            _add(edges, tail, position * formats + format, format, factor * problem.size[format])


@kernel
def _add_penalties(
    problem: Arrays, edges: _Edges, position: int, broker: int, vertex: int, held: Flags, root: int
) -> int:
    """A want with alternatives is a vertex of its own, which each of them leads to."""
    for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
        first, last = problem.choice_start[want], problem.choice_start[want + 1]
        if last - first > 1:
            for choice in range(first, last):
                format = problem.choice_format[choice]
                tail = _vertex(len(problem.size), position, format, held, root)
                _add(edges, tail, vertex, format, problem.choice_penalty[choice])
            vertex += 1
    return vertex


@kernel
def _vertex(formats: int, position: int, format: int, held: Flags, root: int) -> int:
    if position == 0 and held[format]:
        return root
    return position * formats + format


@kernel
def _add(edges: _Edges, tail: int, head: int, source: int, weight: float) -> None:
    count = edges.filled[0]
    edges.tail[count] = tail
    edges.head[count] = head
    edges.source[count] = source
    edges.weight[count] = weight
    edges.filled[0] = count + 1


@kernel
def _terminals(problem: Arrays, parts: Parts, brokers: Indices, last: int, held: Flags) -> Indices:
    """All that is wanted in the region, and what its lowest level hands on."""
    formats, vertex = len(problem.size), len(brokers) * len(problem.size)
    terminals = [np.int32(0) for _ in range(0)]
    for position, broker in enumerate(brokers):
        needed = handed_on(problem, parts, broker) if position >= last else np.zeros(formats, np.bool_)
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            first = problem.choice_start[want]
            if problem.choice_start[want + 1] - first > 1:
                terminals.append(np.int32(vertex))
                vertex += 1
            else:
                needed[problem.choice_format[first]] = True
        for format in range(formats):
            if needed[format] and (position or not held[format]):
                terminals.append(np.int32(position * formats + format))
    return np.array(terminals, dtype=np.int32)


@kernel
def handed_on(problem: Arrays, parts: Parts, broker: int) -> Flags:
    """The formats that a broker sends to its children."""
    sent = np.zeros(len(problem.size), np.bool_)
    for child in problem.children[problem.child_start[broker] : problem.child_start[broker + 1]]:
        sent |= parts.receives[child]
    return sent


@kernel
def adopt(problem: Arrays, parts: Parts, region: Region, entry: Indices) -> None:
    """Replace what a plan says about a region by a tree in its graph: the edge that enters each vertex, or -1."""
    formats = len(problem.size)
    vertex = len(region.brokers) * formats
    for position, broker in enumerate(region.brokers):
        _adopt_formats(parts, region, broker, position, entry[position * formats : (position + 1) * formats])
        for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
            first = problem.choice_start[want]
            if problem.choice_start[want + 1] - first > 1:
                parts.delivered[want] = region.source[entry[vertex]]
                vertex += 1
            else:
                parts.delivered[want] = problem.choice_format[first]


@kernel
def _adopt_formats(parts: Parts, region: Region, broker: int, position: int, entry: Indices) -> None:
    for format, edge in enumerate(entry):
        sent = edge >= 0 and region.source[edge] == format
        parts.made_from[broker, format] = region.source[edge] if edge >= 0 and not sent else -1
        if position:
            parts.receives[broker, format] = sent
