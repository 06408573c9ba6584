"""Trees for streams: one move, and every builder, on servers as in Fidelity's section 5.1."""

import numpy as np

from benchmarks.table import Report, seconds
from polycast.kernel import kernel
from polycast.tree import Servers, grow
from polycast.tree.anneal import Schedule, anneal
from polycast.tree.bounds import lower_bound
from polycast.tree.forest import Forest
from polycast.tree.greedy import greedy
from polycast.tree.local import local
from polycast.tree.moves import change
from polycast.tree.neighbours import random_move
from polycast.tree.seats import Seats


def paper_servers(count: int, objects: int = 1, *, interest: float = 0.6, seed: int = 0) -> Servers:
    """Servers on a square, 20 ms apart in the mean; of many objects everybody wants a share, each more rarely."""
    rng = np.random.default_rng(seed)
    filter_time = rng.uniform(0.001, 0.009, count)
    transmit_time = rng.uniform(0.000125, 0.001875, count)
    filter_time[0], transmit_time[0] = 0.001, 0.000125
    place = rng.random((count, 2))
    delays = np.hypot(*(place[:, None] - place).transpose(2, 0, 1))
    rates = rng.uniform(0.5, 1.5, (count, objects))
    if objects > 1:
        rates *= (rng.random((count, objects)) < interest) * 2.0 / objects
    rates[0] = rates.max(axis=0)
    return Servers(filter_time, transmit_time, rates, delays * (0.02 / delays.mean()))


@kernel
def draw(f: Seats, rng: np.random.Generator, found: np.ndarray) -> None:
    """Fill the rows of ``found`` with possible moves."""
    for row in range(len(found)):
        found[row, 0], found[row, 1], found[row, 2] = random_move(f, rng)


@kernel
def evaluate(f: Seats, found: np.ndarray) -> float:
    """Evaluate all moves of ``found``."""
    total = 0.0
    for row in range(len(found)):
        total += change(f, found[row, 0], found[row, 1], found[row, 2])[1]
    return total


def time_of_one_move(forest: Forest, count: int = 100_000) -> float:
    """Seconds, without finding the move."""
    found = np.empty((count, 3), np.int32)
    draw(forest.seats, np.random.default_rng(0), found)
    return seconds(lambda: evaluate(forest.seats, found)) / count


def main() -> None:
    """Measure, and show the table of issue 7."""
    report = Report("Trees for streams")
    one, hundred, many = paper_servers(256), paper_servers(256, 100), paper_servers(256, 500)
    report.add_time("evaluate one move, 256 servers, 1 object", 0.3e-6, time_of_one_move(greedy(one)))
    report.add_time("  … one tree for each of 100 objects", 0.3e-6, time_of_one_move(greedy(hundred, True)))
    time = time_of_one_move(greedy(hundred))
    report.add("  … 100 objects in a single tree", "paper: 0.6 µs", f"{time * 1e6:.2f} µs", None)

    annealing = seconds(lambda: anneal(one), 3)
    report.add_time("anneal, 256 servers, 1 object, 64 × servers moves", 2.0, annealing)
    report.add_time("anneal, 256 servers, 100 objects, single tree", 30.0, seconds(lambda: anneal(hundred), 1))
    report.add_time("greedy, 256 servers, 500 objects", 0.5, seconds(lambda: greedy(many)))
    large = paper_servers(10_000)
    report.add_time("greedy, 10,000 servers, 1 object", 5.0, seconds(lambda: greedy(large), 1))
    compare(report, "1 object", one, 5)
    compare(report, "100 objects", hundred, 1)
    report.add_time("lower bound, 10,000 servers", 1.0, seconds(lambda: lower_bound(large), 1))
    report.show()


def compare(report: Report, name: str, servers: Servers, seeds: int) -> None:
    """Ours against annealing: the losses, over several seeds, and the times."""
    ours = np.mean([grow(servers, "local", seed=seed).average_loss for seed in range(seeds)])
    theirs = np.mean([anneal(servers, schedule=Schedule(seed=seed)).fidelity.average for seed in range(seeds)])
    more = float(ours / theirs) - 1
    report.add(f"local, 256 servers, {name}: loss against anneal", "<= +1 %", f"{more:+.2%}", more <= 0.01)
    faster = seconds(lambda: anneal(servers), 1) / seconds(lambda: local(servers), 3)
    report.add("  … how much faster", ">= 20 ×", f"{faster:.0f} ×", faster >= 20)
    bound = lower_bound(servers)
    report.add("  … loss against the lower bound", "", f"{float(ours) / bound:.2f} ×", None)


if __name__ == "__main__":
    main()
