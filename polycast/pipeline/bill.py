"""The bill of a publication: what its plan meant to spend, what was spent, and what simple plans would have."""

from pathlib import Path

import msgspec
import numpy as np

from polycast.errors import BadInput
from polycast.home import Home, file_name, written
from polycast.model import codec
from polycast.model.delivery import Unserved
from polycast.model.plan import Plan

VERSION = 1
SIMPLE = ("all-in-root", "all-in-leaves")


class Spending(msgspec.Struct, frozen=True):
    """What carrying and converting takes.

    Parameters
    ----------
    bytes
        Over all links.
    cpu_seconds
        At all brokers.
    cost
        Both by the weights of the network, its links and brokers, and with the penalties.
    """

    bytes: float
    cpu_seconds: float
    cost: float


class Failure(msgspec.Struct, frozen=True):
    """A delivery that did not come about."""

    subscription: str
    form: str
    reason: str


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """The account of one publication.

    Parameters
    ----------
    planned
        By method: ``auto`` is the plan that was carried out.
    spent
        The plan again, with the sizes that the forms turned out to have, and the seconds that the tools took. A
        conversion that is planned at several brokers is charged to each, although it is run only once here; one
        that is remembered from an earlier publication costs no time.
    """

    publication: str
    id: str
    source: str
    form: str
    size: int
    matched: int
    delivered: int
    unserved: tuple[Unserved, ...]
    failed: tuple[Failure, ...]
    planned: dict[str, Spending]
    spent: Spending
    version: int = VERSION


def meant(plan: Plan) -> Spending:
    """What a plan means to spend."""
    problem = plan.problem
    below = plan.receives.copy()
    below[problem.root] = False
    sent = problem.size[np.nonzero(below)[1]].sum()
    at, made = np.nonzero(plan.made_from >= 0)
    seconds = problem.conversion[plan.made_from[at, made], made].sum()
    return Spending(float(sent) * 1e6, float(seconds), plan.cost.total)


def bill_file(home: Home, key: str) -> Path:
    """Where the bill of a publication is."""
    return home.bills / f"{file_name(key)}.json"


def is_settled(home: Home, key: str) -> bool:
    """Whether all of a publication has been dealt with; what has failed may be tried again."""
    path = bill_file(home, key)
    return path.exists() and not read_bill(path).failed


def write_bill(home: Home, bill: Bill) -> None:
    """Keep a bill; what it settles does not come back, so it must last."""
    with written(bill_file(home, bill.publication), home.scratch, lasting=True) as out:
        out.write(codec.encode(bill))


def read_bill(path: Path) -> Bill:
    """A bill that was kept."""
    bill = codec.decode(path.read_bytes(), Bill, str(path))
    if bill.version != VERSION:
        raise BadInput(str(path), f"version {bill.version!r} is not one that is known here; this is {VERSION}")
    return bill
