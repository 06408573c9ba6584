"""What one broker runs: the cheapest operators from the formats that it holds to those that are needed there."""

import numpy as np

from polycast.kernel import kernel
from polycast.model.problem import Flags, Indices
from polycast.place.arrays import Arrays
from polycast.place.digraph import Digraph, digraph_of
from polycast.place.steiner import steiner

# Elementary steps that the search for one broker's operators may take before a good answer must do: 5 ms or so.
EFFORT = 3e6


@kernel
def make(
    problem: Arrays,
    broker: int,
    held: Flags,
    needed: Flags,
    effort: float,
    made_from: Indices,
    delivered: Indices,
) -> None:
    """Fill in one broker's row of ``made_from``, and of ``delivered`` what concerns its wants.

    ``held`` must not be empty, and it must lead to all that is ``needed`` and to some choice of every want.
    """
    graph, source, terminals = _graph(problem, broker, held, needed)
    root = int(np.argmax(held))
    entry = steiner(graph, root, terminals, effort)
    formats = len(problem.size)
    for format in range(formats):
        if entry[format] >= 0:
            made_from[broker, format] = source[entry[format]]
    _deliver(problem, broker, source, entry[formats:], delivered)


@kernel
def _graph(problem: Arrays, broker: int, held: Flags, needed: Flags) -> tuple[Digraph, Indices, Indices]:
    """The content graph at a broker, the formats that its edges begin with, and what must be reached.

    What is held is one vertex. A want with alternatives is a vertex of its own, behind the formats, and its
    penalties are edges that lead there.
    """
    formats = len(problem.size)
    root = np.argmax(held)
    tail = [np.int32(0) for _ in range(0)]
    head = [np.int32(0) for _ in range(0)]
    source = [np.int32(0) for _ in range(0)]
    weight = [0.0 for _ in range(0)]
    for start in range(formats):
        for end in range(formats):
            if not held[end] and problem.conversion[start, end] < np.inf:
                tail.append(np.int32(root if held[start] else start))
                head.append(np.int32(end))
                source.append(np.int32(start))
                weight.append(problem.beta * problem.compute_cost[broker] * problem.conversion[start, end])
    required = needed.copy()
    terminals = [np.int32(0) for _ in range(0)]
    for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
        first, last = problem.choice_start[want], problem.choice_start[want + 1]
        if last - first == 1:
            required[problem.choice_format[first]] = True
            continue
        vertex = formats + len(terminals)
        terminals.append(np.int32(vertex))
        for choice in range(first, last):
            format = problem.choice_format[choice]
            tail.append(np.int32(root) if held[format] else format)
            head.append(np.int32(vertex))
            source.append(format)
            weight.append(problem.choice_penalty[choice])
    vertices = formats + len(terminals)
    for format in range(formats):
        if required[format] and not held[format]:
            terminals.append(np.int32(format))
    graph = digraph_of(vertices, np.array(tail), np.array(head), np.array(weight))
    return graph, np.array(source), np.array(terminals, dtype=np.int32)


@kernel
def _deliver(problem: Arrays, broker: int, source: Indices, entry: Indices, delivered: Indices) -> None:
    """Note the only choice of a want, or the one by which the tree reached its vertex."""
    alternatives = 0
    for want in range(problem.want_start[broker], problem.want_start[broker + 1]):
        first, last = problem.choice_start[want], problem.choice_start[want + 1]
        if last - first == 1:
            delivered[want] = problem.choice_format[first]
        else:
            delivered[want] = source[entry[alternatives]]
            alternatives += 1
