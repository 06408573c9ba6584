"""Which form of the fidelity model counts: approximate or precise, with or without the work of adapting."""

from dataclasses import dataclass

from polycast.errors import BadInput
from polycast.tree.servers import MOST


@dataclass(frozen=True)
class Overhead:
    """What adapting a tree costs the brokers (Fidelity, section 3.2.4), in seconds.

    Parameters
    ----------
    collect_time, decide_time
        To collect the state of one child or grandchild (t^e); to weigh one possible move (t^d).
    collect_period, decide_period
        How often each is done (T_e, T_d).
    literal
        Add the share of the processor to the processing delay, as equation 7 is printed, and not to the load.
    """

    collect_time: float = 1e-6
    decide_time: float = 1e-6
    collect_period: float = 50.0
    decide_period: float = 200.0
    literal: bool = False

    def __post_init__(self) -> None:
        for name in ("collect_time", "decide_time"):
            value = getattr(self, name)
            if not 0 <= value <= MOST:
                raise BadInput(f"overhead.{name}", f"{value} is not a time from 0 to {MOST:g}")
        for name in ("collect_period", "decide_period"):
            value = getattr(self, name)
            if not 1 / MOST <= value <= MOST:
                raise BadInput(f"overhead.{name}", f"{value} is not a time from {1 / MOST:g} to {MOST:g}")


@dataclass(frozen=True)
class LossModel:
    """How the loss of fidelity is computed.

    Parameters
    ----------
    precise
        Tell the children of a broker apart (equations 4 and 9); else use their mean (equations 5 and 11).
    overhead
        The cost of adapting, or None to leave it out.
    """

    precise: bool = False
    overhead: Overhead | None = None


APPROXIMATE = LossModel()
