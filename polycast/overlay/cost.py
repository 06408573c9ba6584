"""What an attachment costs, from scratch."""

import numpy as np

from polycast.kernel import kernel
from polycast.overlay.attachment import Cost, Costs, Flags, Floats, Indices, Overlay
from polycast.overlay.core import Core, core_of, extension, span


def cost_of(overlay: Overlay, broker: Indices, core: str) -> Cost:
    """Sum over access links, and over channels in the core."""
    access = access_cost(overlay.access_cost, overlay.demand, broker)
    published, readers = tables(overlay.publishes, overlay.interest, broker, overlay.brokers)
    return Cost(access, core_cost(core_of(overlay.core_cost, core), published, readers))


@kernel
def access_cost(cost: Costs, demand: Floats, broker: Indices) -> float:
    total = 0.0
    for user in range(len(broker)):
        total += cost[user, broker[user]] * demand[user]
    return total


@kernel
def tables(publishes: Floats, interest: Flags, broker: Indices, brokers: int) -> tuple[Floats, Indices]:
    """By broker and channel: the rate that is published there, and how many of its users subscribe."""
    channels = publishes.shape[1]
    published, readers = np.zeros((brokers, channels)), np.zeros((brokers, channels), np.int32)
    for user in range(len(broker)):
        for channel in range(channels):
            published[broker[user], channel] += publishes[user, channel]
            readers[broker[user], channel] += interest[user, channel]
    return published, readers


@kernel
def core_cost(core: Core, published: Floats, readers: Indices) -> float:
    """For every broker and channel, the rate that is published there times the weight of its tree."""
    brokers, channels = published.shape
    order, above = np.empty(brokers, np.int32), np.empty(brokers, np.int32)
    hop, nearest = np.empty(brokers), np.empty(brokers)
    total = 0.0
    for channel in range(channels):
        size, weight = span(core, readers[:, channel] > 0, order, above, hop)
        for broker in range(brokers):
            if published[broker, channel] > 0:
                more = extension(core, size, order, above, hop, broker, nearest)
                total += published[broker, channel] * (weight + more)
    return total
