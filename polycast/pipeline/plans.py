"""The plans that were carried out, kept as files: the problem and the answer as ``polycast place`` knows them."""

from dataclasses import replace
from pathlib import Path

import msgspec

from polycast.errors import BadInput
from polycast.home import Home, file_name, written
from polycast.model import codec
from polycast.model.delivery import Delivery, Unserved
from polycast.model.plan import Cost, Plan, Step, plan_of
from polycast.model.problem import problem_of
from polycast.place import document

VERSION = 1


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One plan in a file."""

    version: int = VERSION
    publication: str
    problem: document.Instance
    cost: Cost
    brokers: tuple[Step, ...]
    deliveries: tuple[Delivery, ...]
    unserved: tuple[Unserved, ...]


def plan_file(home: Home, key: str) -> Path:
    """Where the plan of a publication is."""
    return home.plans / f"{file_name(key)}.json"


def write_plan(home: Home, key: str, planned: Plan) -> None:
    """Keep a plan."""
    record = Record(
        publication=key,
        problem=document.instance_of(planned.problem),
        cost=planned.cost,
        brokers=planned.steps,
        deliveries=planned.deliveries,
        unserved=planned.unserved,
    )
    with written(plan_file(home, key), home.scratch) as out:
        out.write(codec.encode(record))


def kept_plan(home: Home, key: str) -> Plan | None:
    """The plan that was kept of a publication; None if there is none that can be read."""
    try:
        return read_plan(plan_file(home, key))
    except (FileNotFoundError, BadInput):
        return None


def read_plan(path: Path) -> Plan:
    """A plan that was kept."""
    record = codec.decode(path.read_bytes(), Record, str(path))
    if record.version != VERSION:
        raise BadInput(str(path), f"version {record.version!r} is not one that is known here; this is {VERSION}")
    stated = record.problem
    problem = problem_of(stated.content_graph(), stated.brokers, stated.published, stated.alpha, stated.beta)
    return replace(plan_of(problem, record.brokers), deliveries=record.deliveries, unserved=record.unserved)
