import signal
import threading
import time

import numpy as np
import pytest

from polycast.place import solve
from polycast.place.search import Search
from polycast.place.watched import watched
from tests.place.test_refine import some_problem
from tests.problems import random_problem


def test_close_to_the_optimum_and_never_below_it() -> None:
    problems = [some_problem(seed) for seed in range(30)]
    costs = np.array([[solve(p, method).plan.cost.total for method in ("multilayer", "exact")] for p in problems])
    ratios = costs[costs[:, 1] > 0, 0] / costs[costs[:, 1] > 0, 1]
    assert min(ratios) >= 1 - 1e-9
    assert np.mean(ratios) < 1.1


def test_a_limit_that_is_too_short_still_gives_a_plan() -> None:
    problem = random_problem(np.random.default_rng(0), 3_000, 40, density=1.0, most_wants=5)
    start = time.perf_counter()
    solution = solve(problem, "multilayer", time_limit=1e-3)
    assert solution.plan.fault() is None
    assert solution.plan.cost == solve(problem, "all-in-root").plan.cost
    assert time.perf_counter() - start < 30


def test_ctrl_c_reaches_a_kernel_that_is_running() -> None:
    stopped = threading.Event()

    def endless(stop: np.ndarray) -> None:
        while not stop[0]:
            time.sleep(0.001)
        stopped.set()

    timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        watched(Search(some_problem(0)), endless, "endless")
    assert stopped.is_set()


def test_what_a_kernel_raises_is_not_lost() -> None:
    def broken(_: np.ndarray) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        watched(Search(some_problem(0)), broken, "broken")
