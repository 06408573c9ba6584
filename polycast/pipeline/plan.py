"""Plan: who gets a publication in which form, the way it takes, and where each conversion runs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from polycast import rendezvous
from polycast.convert import registry
from polycast.errors import NoSolution, PolycastError
from polycast.model.format import ContentGraph
from polycast.model.network import Network
from polycast.model.plan import Plan
from polycast.model.publication import Content, Event, Publication
from polycast.pipeline import bill, plans
from polycast.pipeline.batches import Row, map_rows
from polycast.pipeline.ingest import REFERENCE
from polycast.pipeline.lineage import LINEAGE, Lineage, lineages
from polycast.pipeline.site import Site
from polycast.place import solve

# A form as it comes to be in the plan: how many links carry it and how many brokers make it so, and their costs.
FORM = pa.struct(
    [
        ("lineage", LINEAGE),
        ("tool", pa.string()),
        ("links", pa.int64()),
        ("link_cost", pa.float64()),
        ("makers", pa.int64()),
        ("compute_cost", pa.float64()),
    ]
)
DELIVERY = pa.struct([("subscription", pa.string()), ("form", pa.string()), ("lineage", LINEAGE)])
PLANNED = pa.schema(
    [
        ("file", pa.string()),
        ("files", pa.list_(pa.string())),
        ("key", pa.string()),
        ("attributes", pa.string()),
        ("content", REFERENCE),
        ("form", pa.string()),
        ("matched", pa.int64()),
        ("forms", pa.list_(FORM)),
        ("outgoing", pa.list_(pa.struct([("broker", pa.string()), ("deliveries", pa.list_(DELIVERY))]))),
        ("unserved", pa.list_(pa.struct([("subscription", pa.string()), ("reason", pa.string())]))),
        ("penalty", pa.float64()),
        ("planned", pa.map_(pa.string(), pa.struct(dict.fromkeys(bill.Spending.__struct_fields__, pa.float64())))),
        ("error", pa.string()),
    ]
)


def plan(publications: DataFrame, site: Site) -> DataFrame:
    """Publications with what is decided about each; the plan itself is kept in a file of the home."""
    return map_rows(publications, partial(_planned, site), PLANNED)


def _planned(site: Site, rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        try:
            yield row if row["error"] else row | _decided(site, row)
        except PolycastError as error:
            yield row | {"error": str(error)}


def _decided(site: Site, row: Row) -> Row:
    content = _content(row["content"], site.network)
    planned = _kept_plan(site, row["key"], content) or _new_plan(site, row, content)
    return {
        "form": content.format,
        "matched": len(planned.deliveries) + len(planned.unserved),
        "forms": _forms(planned, site.network.graph_for(content)),
        "outgoing": _outgoing(planned),
        "unserved": [msgspec.structs.asdict(one) for one in planned.unserved],
        "penalty": planned.cost.penalty,
        "planned": [(method, msgspec.structs.asdict(spending)) for method, spending in _alternatives(planned)],
    }


def _kept_plan(site: Site, key: str, content: Content) -> Plan | None:
    """The plan that an earlier run has begun with: whatever the network says now, nobody gets two forms."""
    planned = plans.kept_plan(site.home, key)
    if planned is None:
        return None
    names, graph = planned.problem.format_names, site.network.graph_for(content)
    is_possible = names[planned.problem.published] == content.format and all(name in graph for name in names)
    return planned if is_possible else None


def _new_plan(site: Site, row: Row, content: Content) -> Plan:
    event = Event(msgspec.json.decode(row["attributes"]))
    planned = rendezvous.plan(Publication(event, content), row["matches"], site.network)
    plans.write_plan(site.home, row["key"], planned)
    return planned


def _content(reference: Row, network: Network) -> Content:
    media_type = reference["media_type"]
    return Content(reference["digest"], network.form_of(media_type) or media_type, reference["size"])


def _forms(planned: Plan, graph: ContentGraph) -> list[Row]:
    problem = planned.problem
    unused = {"links": 0, "link_cost": 0.0, "makers": 0, "compute_cost": 0.0}
    forms: dict[Lineage, Row] = defaultdict(unused.copy)
    for broker, (step, held) in enumerate(zip(planned.steps, lineages(planned), strict=True)):
        for form in () if broker == problem.root else step.receives:
            forms[held[form]]["links"] += 1
            forms[held[form]]["link_cost"] += float(problem.link_cost[broker])
        for _, form in step.runs:
            forms[held[form]]["makers"] += 1
            forms[held[form]]["compute_cost"] += float(problem.compute_cost[broker])
    return [
        {"lineage": list(lineage), "tool": _tool(lineage, graph)} | counts for lineage, counts in forms.items()
    ]


def _tool(lineage: Lineage, graph: ContentGraph) -> str | None:
    """The tool that starts the lineage: forms of one content that begin with one tool are made together."""
    if len(lineage) == 1:
        return None
    try:
        return registry.find(graph[lineage[0]], graph[lineage[1]]).entry
    except PolycastError:
        return ""


def _outgoing(planned: Plan) -> list[Row]:
    """The deliveries of each broker."""
    held = dict(zip(planned.problem.broker_names, lineages(planned), strict=True))
    outgoing: dict[str, list[Row]] = defaultdict(list)
    for subscription, broker, form in map(msgspec.structs.astuple, planned.deliveries):
        lineage = list(held[broker][form])
        outgoing[broker].append({"subscription": subscription, "form": form, "lineage": lineage})
    return [{"broker": broker, "deliveries": deliveries} for broker, deliveries in outgoing.items()]


def _alternatives(planned: Plan) -> Iterator[tuple[str, bill.Spending]]:
    """What the plan means to spend, and what the simple plans would."""
    yield rendezvous.METHOD, bill.meant(planned)
    for method in bill.SIMPLE:
        try:
            yield method, bill.meant(solve(planned.problem, method).plan)
        except NoSolution:
            continue
