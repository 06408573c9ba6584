"""What the experiments of CCD's section 6 and appendix E are set to; everything is in one place."""

from collections.abc import Iterator
from functools import partial

from papers.experiment import Run, in_waves

BROKERS = 1024
RUNS = 100
RATIOS = (10, 30, 50, 70, 90)  # matching ratio in percent: brokers that have a matching subscription
FEW_RATIOS = (10, 50, 90)
QUICK_RATIOS = (10, 50)

# α/β, with β = 1.
WEIGHTS = (0.1, 1.0, 10.0)

SMALL, LARGE = "annotated-map", "video-16"
PUBLISHED = {SMALL: "pdf", LARGE: "mp4-720"}
SHARE_OF_FORMATS = 4  # each broker asks for at most one in four

ROUNDS = 1000  # of refinement, where its quality is measured
SELECTION_ROUNDS = 500
LONG_ROUNDS = 10_000  # "sufficiently many", for where SLACK and RANDOM end
SELECTION_RATIOS = (10, 50, 70)
LOOKS = (0, 1, 2, 5, 10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1000)

# How megabytes and seconds become units of cost. "mean": an average format sent over one link, and an average
# operator run once, cost 1 each. "paper": sizes and costs stretched to the ranges of the papers' video graph,
# whose largest format has 30 MB and whose dearest operator takes 60 s, and then added as they are.
SCALINGS = ("mean", "paper")
LARGEST_SIZE, LARGEST_COST = 30.0, 60.0

# Megabits a second that a link of the weak kind has at least (10 over it is its cost): ours, and half the
# papers' baseline, to see what the slowest links do.
FLOORS = (0.1, 5.0)

# Seeds that every setting gets before any gets more.
MILESTONES = (5, 20, 50)


def runs(count: int, ratios: tuple[int, ...] = RATIOS, slow: bool = True) -> Iterator[Run]:
    """All runs, in an order that may be stopped early."""
    waves = (_short_runs, _long_runs, *((_slow_runs, _slowest_runs) if slow else ()))
    return in_waves([partial(wave, ratios=ratios) for wave in waves], count, MILESTONES)


def quick_runs() -> Iterator[Run]:
    """A minute's version."""
    return runs(1, QUICK_RATIOS, slow=False)


def _short_runs(seed: int, ratios: tuple[int, ...]) -> Iterator[Run]:
    for ratio in ratios:
        for weight in WEIGHTS:
            yield from (_savings(seed, SMALL, ratio, weight, "mean", method) for method in ("exact", "refine"))
        yield Run("quality", seed, {"graph": SMALL, "ratio": ratio, "depth": 1})
        yield Run("trees", seed, {"graph": SMALL, "ratio": ratio, "weight": 1.0, "method": "exact"})
    for ratio in SELECTION_RATIOS:
        yield from (Run("selection", seed, {"ratio": ratio, "select": how}) for how in ("slack", "random"))


def _long_runs(seed: int, ratios: tuple[int, ...]) -> Iterator[Run]:
    for ratio in ratios:
        for weight in WEIGHTS:
            yield _savings(seed, LARGE, ratio, weight, "mean", "refine")
            if weight >= 1:
                yield _savings(seed, LARGE, ratio, weight, "mean", "exact")
        yield Run("quality", seed, {"graph": LARGE, "ratio": ratio, "depth": 1})
        yield Run("trees", seed, {"graph": LARGE, "ratio": ratio, "weight": 1.0, "method": "exact"})
    for ratio in sorted(set(FEW_RATIOS) & set(ratios)):
        yield from (_savings(seed, LARGE, ratio, weight, "paper", "refine") for weight in WEIGHTS)
        yield from (_heterogeneity(seed, ratio, "weak", floor, "refine") for floor in FLOORS)
        yield from (_heterogeneity(seed, ratio, "strong", 0.0, method) for method in ("refine", "exact"))
    yield Run("quality", seed, {"graph": LARGE, "ratio": 50, "depth": 2})
    yield Run("endings", seed, {"ratio": 70})


def _slow_runs(seed: int, ratios: tuple[int, ...]) -> Iterator[Run]:
    for ratio in sorted(set(FEW_RATIOS) & set(ratios)):
        yield from (_heterogeneity(seed, ratio, "weak", floor, "exact") for floor in FLOORS)


def _slowest_runs(seed: int, ratios: tuple[int, ...]) -> Iterator[Run]:
    """The optimum of the large graph where conversions cost most: half a minute each."""
    for ratio in sorted(set(FEW_RATIOS) & set(ratios)):
        yield _savings(seed, LARGE, ratio, WEIGHTS[0], "mean", "exact")


def _heterogeneity(seed: int, ratio: int, kind: str, floor: float, method: str) -> Run:
    return Run("heterogeneity", seed, {"ratio": ratio, "kind": kind, "floor": floor, "method": method})


def _savings(seed: int, graph: str, ratio: int, weight: float, scaling: str, method: str) -> Run:
    setting = {"graph": graph, "ratio": ratio, "weight": weight, "scaling": scaling, "method": method}
    return Run("savings", seed, setting)
