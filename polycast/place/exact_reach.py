"""Which formats can matter at all: those that the published one leads to, and that lead to a wanted one."""

import numpy as np
import numpy.typing as npt

from polycast.kernel import kernel
from polycast.model.problem import Flags, Indices, Ints, Problem
from polycast.place.feasible import available, check_feasible


def relevant_formats(problem: Problem) -> npt.NDArray[np.int64]:
    """The numbers of the formats that can matter; NoSolution if no plan at all can meet some want."""
    at_root, below = available(problem)
    wanted = np.zeros(problem.formats, np.bool_)
    wanted[problem.published] = True
    starts = problem.want_start, problem.choice_start
    if not _mark_wanted(*starts, problem.choice_format, problem.root, at_root, below, wanted):
        check_feasible(problem)
    return np.flatnonzero(at_root & _leading_to(problem, wanted))


def _leading_to(problem: Problem, wanted: Flags) -> Flags:
    possible = np.isfinite(problem.conversion)
    while True:
        more = wanted | (possible @ wanted)
        if np.array_equal(more, wanted):
            return wanted
        wanted = more


@kernel
def _mark_wanted(
    want_start: Ints,
    choice_start: Ints,
    choice_format: Indices,
    root: int,
    at_root: Flags,
    below: Flags,
    wanted: Flags,
) -> bool:
    """Mark the formats that can satisfy a want where it stands; say whether every want has one."""
    all_met = True
    for broker in range(len(want_start) - 1):
        there = at_root if broker == root else below
        for want in range(want_start[broker], want_start[broker + 1]):
            met = False
            for choice in range(choice_start[want], choice_start[want + 1]):
                if there[choice_format[choice]]:
                    wanted[choice_format[choice]] = True
                    met = True
            all_met &= met
    return all_met
