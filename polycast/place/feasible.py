"""Which formats can exist where, and a clear word when a want can never be met."""

import numpy as np

from polycast.errors import NoSolution
from polycast.model.problem import Flags, Problem


def check_feasible(problem: Problem) -> None:
    """Raise NoSolution, naming the broker and the want, if no plan at all can meet some want."""
    at_root, below = available(problem)
    wanted = problem.choice_format
    published = problem.format_names[problem.published]
    check_met(problem, at_root[wanted], f'no operators lead there from "{published}"')
    at = problem.want_broker[_want_of_choice(problem)]
    possible = np.where(at == problem.root, at_root[wanted], below[wanted])
    check_met(problem, possible, "it can neither be sent to that broker nor made there from what can be sent")


def available(problem: Problem) -> tuple[Flags, Flags]:
    """The formats that can exist at the root, and those that can exist at every other broker."""
    published = np.arange(problem.formats) == problem.published
    at_root = derivable(problem, published)
    return at_root, derivable(problem, at_root & problem.sendable)


def derivable(problem: Problem, held: Flags) -> Flags:
    """All formats that can be made, in any number of steps, from those that are held."""
    possible = np.isfinite(problem.conversion)
    while True:
        more = held | (held @ possible)
        if np.array_equal(more, held):
            return held
        held = more


def check_met(problem: Problem, possible: Flags, reason: str) -> None:
    """Raise NoSolution for the first want that has no possible choice."""
    met = np.zeros(problem.wants, np.bool_)
    np.logical_or.at(met, _want_of_choice(problem), possible)
    if not met.all():
        raise NoSolution(unmet(problem, int(np.flatnonzero(~met)[0]), reason))


def unmet(problem: Problem, want: int, reason: str) -> str:
    """One line that says which want, of which broker, cannot be met, and why."""
    start, end = problem.choice_start[want : want + 2]
    names = [f'"{problem.format_names[format]}"' for format in problem.choice_format[start:end]]
    wanted = names[0] if len(names) == 1 else "any of " + ", ".join(names)
    return f'broker "{problem.broker_names[problem.want_broker[want]]}" wants {wanted}: {reason}'


def _want_of_choice(problem: Problem) -> np.ndarray:
    return np.repeat(np.arange(problem.wants), np.diff(problem.choice_start))
