"""What must hold of an event, at the least, for a program to accept it: rows, one of which must fit.

A row is a conjunction of intervals. A conjunction of atoms is one row, and exactly that; a disjunction has a row
for each of its branches, together with what the conjunctions around it ask. What no row can say (negations of
atoms, XOR, readings that are not taken of every event) is left out, and the program decides.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polycast.interest.index.dictionary import places
from polycast.interest.index.normal_form import AND, CONST, NOT, OR, QUIET, XOR
from polycast.interest.index.programs import Programs
from polycast.kernel import kernel

MOST = 16  # constraints of a row
FARTHEST = 64  # operators that a row looks up to


class Rows(NamedTuple):
    """What must hold for programs.

    Attributes
    ----------
    programs, exact
        The program of each row, and whether it says nothing else than the row.
    ends
        Where in ``constraints`` a row ends.
    constraints
        Reading, least rank, highest rank.
    """

    programs: NDArray[np.int32]
    exact: NDArray[np.bool_]
    ends: NDArray[np.int64]
    constraints: NDArray[np.int32]


@kernel
def share(cumulated: NDArray[np.int64], first: int, count: int, low: int, high: int) -> float:
    """How much of a reading's keys in use lies between two ranks: a guess at how many events do."""
    start = first + (low >> 1)
    end = first + min((high + 1) >> 1, count)
    whole = cumulated[first + count] - cumulated[first]
    return float(min((max(cumulated[end] - cumulated[start], 0) + 1) / (whole + 2), 0.99))


def rows(programs: Programs, masses: NDArray[np.int64], eager: NDArray[np.bool_]) -> Rows:
    """The rows of all programs, given how often keys are used, and which readings every event is read in."""
    keys = programs.keys
    return Rows(*_rows(programs.code, programs.ends, places(keys), keys.counts, masses, eager))


@kernel
def _rows(
    code: NDArray[np.int32],
    ends: NDArray[np.int64],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    cumulated: NDArray[np.int64],
    eager: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int32]]:
    longest = 1
    for i in range(len(ends) - 1):
        longest = max(longest, ends[i + 1] - ends[i])
    parent = np.empty(longest, np.int64)
    eldest, sibling = np.empty(longest, np.int64), np.empty(longest, np.int64)
    polarity, stack = np.empty(longest, np.int64), np.empty(longest, np.int64)
    cost, choice = np.empty(longest, np.float64), np.empty(longest, np.int64)
    active = np.empty(longest, np.bool_)
    row = np.empty((MOST, 3), np.int32)
    owners, row_ends = np.empty(len(ends) + 16, np.int32), np.empty(len(ends) + 17, np.int64)
    exact = np.empty(len(ends) + 16, np.bool_)
    found = np.empty((len(code) + 64, 3), np.int32)
    row_ends[0] = 0
    made = filled = 0
    for i in range(len(ends) - 1):
        program = code[ends[i] : ends[i + 1]]
        _read_tree(program, parent, eldest, sibling, stack)
        _read_costs(program, parent, polarity, cost, choice, first, count, cumulated, eager)
        for node in range(len(program) - 1, -1, -1):
            above = parent[node]
            if above < 0:
                active[node] = True
            else:
                is_open = active[above] and not _is_terminal(program, above, polarity, cost)
                if is_open and _is_conjunction(program, above, polarity):
                    is_open = choice[above] == node
                active[node] = is_open
            if not active[node] or not _is_terminal(program, node, polarity, cost) or cost[node] == 0.0:
                continue
            size = _gather(program, node, parent, eldest, sibling, polarity, stack, eager, row)
            if size < 0:
                continue
            if made == len(owners):
                owners = np.concatenate((owners, np.empty_like(owners)))
                exact = np.concatenate((exact, np.empty_like(exact)))
                row_ends = np.concatenate((row_ends, np.empty_like(row_ends)))
            if filled + size > len(found):
                found = np.concatenate((found, np.empty_like(found)))
            found[filled : filled + size] = row[:size]
            filled += size
            owners[made] = i
            exact[made] = size < MOST and _is_exact(program, eager)
            made += 1
            row_ends[made] = filled
    return owners[:made].copy(), exact[:made].copy(), row_ends[: made + 1].copy(), found[:filled].copy()


@kernel
def _is_exact(program: NDArray[np.int32], eager: NDArray[np.bool_]) -> bool:
    """Whether a program is a conjunction of atoms, not so deep that a row leaves some out, and nothing else."""
    operators = 0
    for node in range(len(program)):
        operator = program[node, 0]
        if operator not in (AND, QUIET) and (operator < 0 or not eager[operator]):
            return False
        operators += operator < 0
    return operators <= FARTHEST


@kernel
def operands_of(program: NDArray[np.int32], node: int) -> int:
    """How many operands an instruction has."""
    operator = program[node, 0]
    return program[node, 1] if operator < 0 and operator != CONST else 0


@kernel
def _read_tree(
    program: NDArray[np.int32],
    parent: NDArray[np.int64],
    eldest: NDArray[np.int64],
    sibling: NDArray[np.int64],
    stack: NDArray[np.int64],
) -> None:
    height = 0
    for node in range(len(program)):
        operands = operands_of(program, node)
        height -= operands
        eldest[node] = stack[height] if operands else -1
        for j in range(operands):
            child = stack[height + j]
            parent[child] = node
            sibling[child] = stack[height + j + 1] if j + 1 < operands else -1
        stack[height] = node
        height += 1
    parent[len(program) - 1] = -1
    sibling[len(program) - 1] = -1


@kernel
def _is_conjunction(program: NDArray[np.int32], node: int, polarity: NDArray[np.int64]) -> bool:
    """All operands must be as their polarity says: for AND to be true, and for OR to be false."""
    operator = program[node, 0]
    return bool((operator == AND and polarity[node] == 1) or (operator == OR and polarity[node] == -1))


@kernel
def _is_disjunction(program: NDArray[np.int32], node: int, polarity: NDArray[np.int64]) -> bool:
    operator = program[node, 0]
    return bool((operator == OR and polarity[node] == 1) or (operator == AND and polarity[node] == -1))


@kernel
def _is_terminal(
    program: NDArray[np.int32], node: int, polarity: NDArray[np.int64], cost: NDArray[np.float64]
) -> bool:
    operator = program[node, 0]
    return operator >= 0 or operator in (XOR, CONST) or polarity[node] == 0 or cost[node] >= 1.0


@kernel
def _read_costs(
    program: NDArray[np.int32],
    parent: NDArray[np.int64],
    polarity: NDArray[np.int64],
    cost: NDArray[np.float64],
    choice: NDArray[np.int64],
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    cumulated: NDArray[np.int64],
    eager: NDArray[np.bool_],
) -> None:
    """What every part must be (1 true, -1 false, 0 anything), and how many events it lets through at the most."""
    for node in range(len(program) - 1, -1, -1):
        above = parent[node]
        polarity[node] = 1
        if above >= 0:
            operator, asked = program[above, 0], polarity[above]
            if operator == NOT:
                asked = -asked
            elif operator == XOR or (operator == QUIET and asked == -1):
                asked = 0
            polarity[node] = asked
        cost[node] = 0.0 if _is_disjunction(program, node, polarity) else 1.0
        choice[node] = -1
    for node in range(len(program)):
        operator, low, high = program[node, 0], program[node, 1], program[node, 2]
        if operator >= 0 and polarity[node] == 1 and eager[operator]:
            cost[node] = share(cumulated, first[operator], count[operator], low, high)
        elif operator == CONST and polarity[node] != 0:
            wanted = 1 if polarity[node] == 1 else 0
            cost[node] = 1.0 if low == wanted else 0.0
        cost[node] = min(cost[node], 1.0)
        above = parent[node]
        if above >= 0 and polarity[above] != 0:
            if _is_disjunction(program, above, polarity):
                cost[above] += cost[node]
            elif program[above, 0] != XOR and (choice[above] < 0 or cost[node] < cost[above]):
                cost[above] = cost[node]
                choice[above] = node


@kernel
def _gather(
    program: NDArray[np.int32],
    terminal: int,
    parent: NDArray[np.int64],
    eldest: NDArray[np.int64],
    sibling: NDArray[np.int64],
    polarity: NDArray[np.int64],
    stack: NDArray[np.int64],
    eager: NDArray[np.bool_],
    row: NDArray[np.int32],
) -> int:
    """What a branch asks, and what the conjunctions around it ask: how many constraints; -1 if none can fit."""
    size = _add_all(program, terminal, eldest, sibling, polarity, stack, eager, row, 0)
    node, far = terminal, 0
    while parent[node] >= 0 and far < FARTHEST and 0 <= size < MOST:
        above = parent[node]
        if _is_conjunction(program, above, polarity):
            other = eldest[above]
            while other >= 0 and 0 <= size < MOST:
                if other != node:
                    size = _add_all(program, other, eldest, sibling, polarity, stack, eager, row, size)
                other = sibling[other]
        node = above
        far += 1
    return size


@kernel
def _add_all(
    program: NDArray[np.int32],
    top: int,
    eldest: NDArray[np.int64],
    sibling: NDArray[np.int64],
    polarity: NDArray[np.int64],
    stack: NDArray[np.int64],
    eager: NDArray[np.bool_],
    row: NDArray[np.int32],
    size: int,
) -> int:
    """Add the atoms that must all be true for a part to be as it must."""
    stack[0] = top
    height = 1
    while height and size >= 0:
        height -= 1
        node = stack[height]
        operator = program[node, 0]
        if operator >= 0:
            if polarity[node] == 1 and eager[operator]:
                size = _add(row, size, operator, program[node, 1], program[node, 2])
        elif operator in (NOT, QUIET) or _is_conjunction(program, node, polarity):
            child = eldest[node]
            while child >= 0:
                if polarity[child] != 0:
                    stack[height] = child
                    height += 1
                child = sibling[child]
        elif operator == OR and polarity[node] == 1:
            reading, low, high = _hull(program, eldest[node], sibling)
            if reading >= 0 and eager[reading]:
                size = _add(row, size, reading, low, high)
    return size


@kernel
def _hull(program: NDArray[np.int32], child: int, sibling: NDArray[np.int64]) -> tuple[int, int, int]:
    """The interval around alternatives of one reading; no reading (-1) if there are several."""
    reading, low, high = program[child, 0], program[child, 1], program[child, 2]
    while child >= 0:
        if program[child, 0] != reading:
            return -1, 0, 0
        low, high = min(low, program[child, 1]), max(high, program[child, 2])
        child = sibling[child]
    return reading, low, high


@kernel
def _add(row: NDArray[np.int32], size: int, reading: int, low: int, high: int) -> int:
    for i in range(size):
        if row[i, 0] == reading:
            row[i, 1] = max(row[i, 1], low)
            row[i, 2] = min(row[i, 2], high)
            return size if row[i, 1] <= row[i, 2] else -1
    if low > high:
        return -1
    if size == MOST:
        return size
    row[size, 0] = reading
    row[size, 1] = low
    row[size, 2] = high
    return size + 1
