"""What the experiments of Zhao and Wu's section VI are set to; everything is in one place."""

from collections.abc import Iterator, Sequence
from typing import Any

from papers.experiment import Run, in_waves

Setting = tuple[str, dict[str, Any]]  # an experiment, and what it sets apart from what is usual

RUNS = 100
CHANNELS = 100  # T, the paper leaves it open
CAPACITY = 2.0  # of all brokers together, in multiples of the demand

# Where costs of links come from. "power-law": brokers and users stand in one network, and a link costs the
# cheapest way there. "independent": every link between a user and a broker is drawn by itself. The paper says
# "randomly generated network graph" and no more.
NETWORKS = ("power-law", "independent")
PLACES = 1000  # in the power-law network, or twice the brokers if that is more

USERS = (1000, 2000, 5000, 10_000)
USERS_TO_BROKERS = 100
CROWDING = (10, 20, 50, 100)  # users for every broker, with the fewest users
ACCESS_TO_CORE = (0.01, 0.1, 1.0, 2.0, 10.0)  # mean cost of an access link over that of a core link

# What a subscription spans of the content space; 0: both ends drawn at random, a third on average.
ANY_WIDTH = 0.0
WIDTHS = (0.01, 0.03, 0.1, 0.3)

# Channels that a method sees, while what it finds is paid for in a space cut so finely that it hardly matters.
COARSE = (2, 5, 10, 20, 50, 100, 200)
FINE = 1000

# The paper's methods, ours, and the lower bound as if it were one.
THEIRS, OURS, BOUND = ("greedy", "cluster", "mix"), "local", "bound"
METHODS = (*THEIRS, OURS, BOUND)

# Seeds that every setting gets before any gets more.
MILESTONES = (5, 10, 30)


def runs(count: int) -> Iterator[Run]:
    """All runs, in an order that may be stopped early."""
    return in_waves([_small_runs, _large_runs], count, MILESTONES)


def quick_runs() -> Iterator[Run]:
    """A minute's version: one network of each kind, the largest only where the links' costs are asked about."""
    for run in in_waves([_small_runs, _large_runs], 1):
        if run.setting["users"] < USERS[-1] or (run.experiment == "links" and run.setting["method"] != OURS):
            yield run


def _small_runs(seed: int) -> Iterator[Run]:
    """What takes seconds at most."""
    yield from (run for setting in _settings() for run in _each(seed, setting, METHODS) if _is_small(run))
    yield from (run for setting in _coarse() for run in _each(seed, setting, METHODS[:-1]))
    yield from (run for setting in _relayed() for run in _each(seed, setting, METHODS[:1]))


def _large_runs(seed: int) -> Iterator[Run]:
    yield from (run for setting in _settings() for run in _each(seed, setting, METHODS) if not _is_small(run))


def _is_small(run: Run) -> bool:
    return run.setting["users"] <= USERS[1]


def _each(seed: int, setting: Setting, methods: Sequence[str]) -> Iterator[Run]:
    experiment, given = setting
    defaults = {
        "brokers": given["users"] // USERS_TO_BROKERS,
        "network": NETWORKS[0],
        "ratio": 1.0,
        "width": ANY_WIDTH,
        "channels": CHANNELS,
    }
    yield from (Run(experiment, seed, {**defaults, **given, "method": method}) for method in methods)


def _settings() -> Iterator[Setting]:
    for network in NETWORKS:
        yield from (("scale", {"users": users, "network": network}) for users in USERS)
        for crowd in CROWDING:
            yield "crowding", {"users": USERS[0], "brokers": USERS[0] // crowd, "network": network}
    yield from (("width", {"users": USERS[0], "width": width}) for width in WIDTHS)
    yield from (("links", {"users": USERS[-1], "ratio": ratio}) for ratio in ACCESS_TO_CORE)


def _coarse() -> Iterator[Setting]:
    cheap_access = {"users": USERS[0], "ratio": ACCESS_TO_CORE[0]}
    yield from (("channels", {**cheap_access, "channels": channels}) for channels in COARSE)


def _relayed() -> Iterator[Setting]:
    for network in NETWORKS:
        for width in (*WIDTHS, ANY_WIDTH):
            yield "relays", {"users": USERS[0], "network": network, "width": width}
