"""Vector operations on the lattice of format sets; a set is the number whose bits are its members.

A function of sets is an array of 2^k values. Sets that share all but their lowest bits form a row, which is
contiguous, so that most steps are plain vector operations; the three lowest bits, which would cross lanes of one
vector register, are spelt out.
"""

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel, minimum_kernel

Table = npt.NDArray[np.float64]

LEAST_BITS = 3
ROW_BITS = 7
BLOCK_BITS = 11
EIGHT = np.uint64(8)


@kernel
def cheapest_operators(conversion: Table) -> tuple[Table, Table]:
    """What the cheapest operator into a format costs, from any of the high members of a set, and of the low ones.

    Returns ``(high, low)``: ``high[row, f]`` for the members of a row, ``low[f, rest]`` for those within a row.
    """
    k = len(conversion)
    row_bits = min(k, ROW_BITS)
    high = np.full((1 << (k - row_bits), k), np.inf)
    low = np.full((k, 1 << row_bits), np.inf)
    for row in range(1, len(high)):
        b = _lowest_bit(row)
        for f in range(k):
            high[row, f] = min(high[row & (row - 1), f], conversion[row_bits + b, f])
    for rest in range(1, low.shape[1]):
        b = _lowest_bit(rest)
        for f in range(k):
            low[f, rest] = min(low[f, rest & (rest - 1)], conversion[b, f])
    return high, low


@kernel
def _lowest_bit(number: int) -> int:
    b = 0
    while not (number >> b) & 1:
        b += 1
    return b


@minimum_kernel
def make_more(table: Table, high: Table, low: Table, compute_cost: float) -> None:
    """Let a broker make formats: every set's value becomes the least over its supersets, conversions paid.

    ``F(I) = min( stop(I), min_f [conv(I,f) + F(I ∪ {f})] )``: rows go from full to empty, each taking what it
    can from the finished rows with one more member, two of them at a time.
    """
    row_bits = min(high.shape[1], ROW_BITS)
    width = 1 << row_bits
    costs = compute_cost * low
    for row in range(len(high) - 1, -1, -1):
        here = table[row * width : (row + 1) * width]
        waiting = 0
        for b in range(high.shape[1] - row_bits):
            if not (row >> b) & 1:
                if waiting:
                    _make_two(table, here, row, costs, high, compute_cost, waiting - 1, b)
                    waiting = 0
                else:
                    waiting = b + 1
        if waiting:
            _make_two(table, here, row, costs, high, compute_cost, waiting - 1, waiting - 1)
        _make_within(here, compute_cost * high[row], costs)


@minimum_kernel
def _make_two(
    table: Table, here: Table, row: int, costs: Table, high: Table, compute_cost: float, a: int, b: int
) -> None:
    """Let all sets of a row make either of two formats that none of them has."""
    width = len(here)
    f, g = a + high.shape[1] - _high_bits(high), b + high.shape[1] - _high_bits(high)
    with_f = table[(row | (1 << a)) * width : ((row | (1 << a)) + 1) * width]
    with_g = table[(row | (1 << b)) * width : ((row | (1 << b)) + 1) * width]
    low_f, low_g = costs[f], costs[g]
    high_f, high_g = compute_cost * high[row, f], compute_cost * high[row, g]
    for rest in range(width):
        one = with_f[rest] + min(high_f, low_f[rest])
        other = with_g[rest] + min(high_g, low_g[rest])
        here[rest] = min(here[rest], min(one, other))


@minimum_kernel
def _high_bits(high: Table) -> int:
    """By how many bits rows differ."""
    return int(high.shape[1] - min(high.shape[1], ROW_BITS))


@minimum_kernel
def _make_within(row: Table, high: Table, low: Table) -> None:
    """The same within one row: eight sets at a time, from full to empty."""
    x, y, z = high[0], high[1], high[2]
    width = np.uint64(len(row))
    i = width
    while i:
        i -= EIGHT
        i1, i2, i3 = i + np.uint64(1), i + np.uint64(2), i + np.uint64(3)
        i4, i5, i6, i7 = i + np.uint64(4), i + np.uint64(5), i + np.uint64(6), i + np.uint64(7)
        t0, t1, t2, t3, t4, t5, t6, t7 = row[i], row[i1], row[i2], row[i3], row[i4], row[i5], row[i6], row[i7]
        f, step = np.uint64(LEAST_BITS), EIGHT
        while step < width:
            if not i & step:
                h, cost, with_f = high[f], low[f], row[step:]
                t0 = min(t0, with_f[i] + min(h, cost[i]))
                t1 = min(t1, with_f[i1] + min(h, cost[i1]))
                t2 = min(t2, with_f[i2] + min(h, cost[i2]))
                t3 = min(t3, with_f[i3] + min(h, cost[i3]))
                t4 = min(t4, with_f[i4] + min(h, cost[i4]))
                t5 = min(t5, with_f[i5] + min(h, cost[i5]))
                t6 = min(t6, with_f[i6] + min(h, cost[i6]))
                t7 = min(t7, with_f[i7] + min(h, cost[i7]))
            f, step = f + np.uint64(1), step + step
        t6 = min(t6, t7 + min(x, low[0, i6]))
        t5 = min(t5, t7 + min(y, low[1, i5]))
        t3 = min(t3, t7 + min(z, low[2, i3]))
        t4 = min(t4, min(t5 + min(x, low[0, i4]), t6 + min(y, low[1, i4])))
        t2 = min(t2, min(t3 + min(x, low[0, i2]), t6 + min(z, low[2, i2])))
        t1 = min(t1, min(t3 + min(y, low[1, i1]), t5 + min(z, low[2, i1])))
        t0 = min(t0, t1 + min(x, low[0, i]))
        t0 = min(t0, min(t2 + min(y, low[1, i]), t4 + min(z, low[2, i])))
        row[i], row[i1], row[i2], row[i3], row[i4], row[i5], row[i6], row[i7] = t0, t1, t2, t3, t4, t5, t6, t7


@minimum_kernel
def least_of_subsets(table: Table) -> None:
    """Let every set's value become the least over its subsets; blocks that fit the nearest cache first."""
    size = np.uint64(len(table))
    block = min(size, np.uint64(1 << BLOCK_BITS))
    for first in range(np.uint64(0), size, block):
        within = table[first : first + block]
        for eight in range(0, len(within), 8):
            _least_of_eight(within[eight : eight + 8])
        half = EIGHT
        while half < block:
            for start in range(np.uint64(0), block, half + half):
                for i in range(start, start + half):
                    within[i + half] = min(within[i + half], within[i])
            half += half
    while half < size:
        for start in range(np.uint64(0), size, half + half):
            _take_less(table[start + half : start + half + half], table[start : start + half])
        half += half


@minimum_kernel
def _least_of_eight(table: Table) -> None:
    t0, t1, t2, t3 = table[0], table[1], table[2], table[3]
    t4, t5, t6, t7 = table[4], table[5], table[6], table[7]
    t1, t3, t5, t7 = min(t1, t0), min(t3, t2), min(t5, t4), min(t7, t6)
    t2, t3, t6, t7 = min(t2, t0), min(t3, t1), min(t6, t4), min(t7, t5)
    t4, t5, t6, t7 = min(t4, t0), min(t5, t1), min(t6, t2), min(t7, t3)
    table[1], table[2], table[3], table[4], table[5], table[6], table[7] = t1, t2, t3, t4, t5, t6, t7


@minimum_kernel
def _take_less(table: Table, other: Table) -> None:
    for i in range(len(table)):
        table[i] = min(table[i], other[i])


@minimum_kernel
def sum_of_supersets(table: Table) -> None:
    """Let every set's value become the sum over its supersets; blocks that fit the nearest cache first."""
    size = np.uint64(len(table))
    block = min(size, np.uint64(1 << BLOCK_BITS))
    for first in range(np.uint64(0), size, block):
        within = table[first : first + block]
        for eight in range(0, len(within), 8):
            _sum_of_eight(within[eight : eight + 8])
        _sum_halves(within, EIGHT)
    _sum_halves(table, block)


@minimum_kernel
def _sum_of_eight(table: Table) -> None:
    t0, t1, t2, t3 = table[0], table[1], table[2], table[3]
    t4, t5, t6, t7 = table[4], table[5], table[6], table[7]
    t0, t2, t4, t6 = t0 + t1, t2 + t3, t4 + t5, t6 + t7
    t0, t1, t4, t5 = t0 + t2, t1 + t3, t4 + t6, t5 + t7
    t0, t1, t2, t3 = t0 + t4, t1 + t5, t2 + t6, t3 + t7
    table[0], table[1], table[2], table[3], table[4], table[5], table[6] = t0, t1, t2, t3, t4, t5, t6


@minimum_kernel
def _sum_halves(table: Table, half: np.uint64) -> None:
    size = np.uint64(len(table))
    while half < size:
        for start in range(np.uint64(0), size, half + half):
            _add(table[start : start + half], table[start + half : start + half + half])
        half += half


@minimum_kernel
def _add(table: Table, other: Table) -> None:
    for i in range(len(table)):
        table[i] += other[i]
