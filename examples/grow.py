"""Grow trees for streams from Python, slow a server down, and let the brokers adapt by themselves."""

import numpy as np

from polycast.tree import Forest, Servers, adapt, grow

names = ("exchange", "london", "paris", "oslo", "rome")
servers = Servers(
    filter_time=np.array([0.001, 0.002, 0.003, 0.005, 0.004]),
    transmit_time=np.array([0.0001, 0.0005, 0.0005, 0.001, 0.001]),
    rates=np.array([[0.0], [40.0], [10.0], [20.0], [15.0]]),
    delays=np.abs(np.subtract.outer(np.arange(5), np.arange(5))) * 0.010,
    names=names,
    objects=("gold",),
)


def tell(title: str, forest: Forest) -> None:
    fidelity = forest.fidelity
    print(f"{title}: average loss {fidelity.average:.3f}")
    print("  " + ", ".join(f"{child} ← {parent}" for child, parent in forest.trees[None].as_mapping().items()))


growth = grow(servers, "local")
tell("grown", growth.forest)
print(f"  no tree can have less than {growth.lower_bound:.3f}")

slow = np.where(np.array(names) == "london", 5.0, 1.0)
now = Servers(
    servers.filter_time * slow, servers.transmit_time * slow, servers.rates, servers.delays, names, ("gold",)
)
forest = Forest.of(now, growth.trees)
tell("london has become slow", forest)
rounds = adapt(forest, 5)
tell(f"adapted in {sum(len(done.moves) for done in rounds)} moves", forest)
