"""What a method saves over attaching users at random, and what relays in the core would save."""

import time
from functools import cache, lru_cache

import numpy as np

from papers.experiment import Row, Run
from papers.overlay.networks import network
from papers.overlay.parameters import BOUND, FINE
from polycast.overlay.attachment import PER_PUBLISHER, SHARED, Attachment, Floats, Indices, Overlay
from polycast.overlay.core import core_of, span
from polycast.overlay.cost import core_cost, tables
from polycast.overlay.search import Search
from polycast.overlay.solve import METHODS, bound

REDUCTION = "cost reduction ratio"
LITERAL = "over random trees too"


def carry_out_one(run: Run) -> list[Row]:
    """Any run of any experiment."""
    return relays(run) if run.experiment == "relays" else reduction(run)


def reduction(run: Run) -> list[Row]:
    """What a method's attachment costs, in the finest space where channels are what is asked about."""
    return [dict(_reduction(run.seed, run.experiment == "channels", **run.setting))]


@lru_cache(maxsize=1000)  # some settings stand in two experiments
def _reduction(seed: int, finely: bool, method: str, **setting: str | float) -> Row:
    seen = network(seed, setting)
    paid = network(seed, setting, FINE) if finely else seen
    at_random = _attachment(paid, "random", seed)
    worst = at_random.cost.access + core_over_random_tree(paid, at_random.broker, seed)
    found = _bounded(paid, at_random) if method == BOUND else _found(seen, paid, method, seed)
    ratios = {REDUCTION: at_random.cost.total / found["total"], LITERAL: worst / found["total"]}
    return {**ratios, **found}


def _found(seen: Overlay, paid: Overlay, method: str, seed: int) -> dict[str, float]:
    """What a method finds, and the processor seconds that it takes; neighbours do not lengthen them."""
    _warm(method)
    start = time.process_time()
    broker = _attachment(seen, method, seed).broker
    seconds = time.process_time() - start
    cost = Attachment(paid, broker).cost
    return {"access": cost.access, "core": cost.core, "total": cost.total, "seconds": seconds}


def _attachment(overlay: Overlay, method: str, seed: int) -> Attachment:
    """The attachment alone: no bound, which would count in the time."""
    search = Search(overlay, PER_PUBLISHER, seed)
    METHODS[method](search)
    assert search.best is not None
    return search.best


def _bounded(overlay: Overlay, known: Attachment) -> dict[str, float]:
    """The lower bound as if it were a method."""
    search = Search(overlay, best=known)
    bound(search, 300)
    return {"total": search.lower_bound}


def core_over_random_tree(overlay: Overlay, broker: Indices, seed: int) -> float:
    """What the core costs where brokers, too, are linked at random: each below any that came before it."""
    rng = np.random.default_rng([seed, 2])
    order = rng.permutation(overlay.brokers)
    links = np.full_like(overlay.core_cost, overlay.core_cost.sum() + 1)  # never part of the minimum spanning tree
    for position in range(1, len(order)):
        a, b = order[position], order[rng.integers(position)]
        links[a, b] = links[b, a] = overlay.core_cost[a, b]
    published, readers = tables(overlay.publishes, overlay.interest, broker, overlay.brokers)
    return core_cost(core_of(links, SHARED), published, readers)


def relays(run: Run) -> list[Row]:
    """What the core would save if trees might use brokers without a subscriber; the paper thinks nothing."""
    overlay = network(run.seed, run.setting)
    attachment = _attachment(overlay, str(run.setting["method"]), run.seed)
    published, readers = tables(overlay.publishes, overlay.interest, attachment.broker, overlay.brokers)
    bits = 1 << np.arange(overlay.brokers)
    trees = (readers > 0).T @ bits | bits[:, None]  # by broker and channel: the set that its tree connects
    spanning = spanning_trees(overlay)
    core, relayed = (float((published * weight[trees]).sum()) for weight in (spanning, steiner_trees(spanning)))
    return [{"core": core, "core with relays": relayed, "relays save %": 100 * (core - relayed) / core}]


def spanning_trees(overlay: Overlay) -> Floats:
    """The weight of the minimum spanning tree of every set of brokers; a set is the bits of its number."""
    core = core_of(overlay.core_cost, PER_PUBLISHER)
    order, above, hop = core.order.copy(), core.above.copy(), core.hop.copy()
    members = (np.arange(2**overlay.brokers)[:, None] >> np.arange(overlay.brokers)) & 1 > 0
    return np.array([span(core, some, order, above, hop)[1] for some in members])


def steiner_trees(spanning: Floats) -> Floats:
    """The same with any relays: the lightest spanning tree of a set and more."""
    lightest = spanning.copy()
    for broker in range(len(spanning).bit_length() - 1):
        without, with_ = np.moveaxis(lightest.reshape(-1, 2, 2**broker), 1, 0)
        np.minimum(without, with_, out=without)
    return lightest


@cache
def _warm(method: str) -> None:
    """Load a method's kernels, which takes longer than most attachments."""
    small = {"users": 60, "brokers": 3, "network": "independent", "ratio": 0.01, "width": 0.1, "channels": 70}
    _attachment(network(1, small), method, 1)
