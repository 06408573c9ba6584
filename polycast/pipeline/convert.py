"""Convert: make every form that the plans ask for, each once, however many publications and brokers want it."""

from collections import defaultdict
from collections.abc import Collection
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from polycast.convert.converter import Converter, Stored
from polycast.errors import PolycastError
from polycast.model.format import ContentGraph
from polycast.pipeline.batches import Row, map_groups
from polycast.pipeline.lineage import LINEAGE, Lineage
from polycast.pipeline.site import Site
from polycast.pipeline.workshop import WORKSHOP

OUTCOME = [
    ("lineage", LINEAGE),
    ("digest", pa.string()),
    ("size", pa.int64()),
    ("cpu_seconds", pa.float64()),
    ("error", pa.string()),
]
MADE = pa.schema([("published", pa.string()), ("form", pa.string()), *OUTCOME])
NOTHING_MADE = "array<struct<lineage:array<string>,digest:string,size:bigint,cpu_seconds:double,error:string>>"


def convert(planned: DataFrame, site: Site) -> DataFrame:
    """Publications with what was made of each. Bytes stay in the store: only references are moved."""
    outcome = f.struct(*(name for name, _ in OUTCOME))
    made = (
        planned.transform(conversions)
        .transform(carried_out, site)
        .groupBy("published", "form")
        .agg(f.collect_list(outcome).alias("made"))
        .withColumnRenamed("form", "published_form")
    )
    same = (planned["content.digest"] == made["published"]) & (planned["form"] == made["published_form"])
    return planned.join(made, same, "left").drop("published", "published_form")


def unconverted(planned: DataFrame) -> DataFrame:
    """The same where there is nothing to convert, at no expense."""
    return planned.withColumn("made", f.lit(None).cast(NOTHING_MADE))


def conversions(planned: DataFrame) -> DataFrame:
    """What is to be made, a row to each content and form, spread out: even one publication keeps all busy."""
    return (
        planned.select("content.digest", "form", f.explode("forms").alias("wanted"))
        .selectExpr("digest AS published", "form", "wanted.tool", "wanted.lineage")
        .where("wanted.makers > 0")
        .repartition("published", "form", "tool")
    )


def carried_out(wanted: DataFrame, site: Site) -> DataFrame:
    """What has become of each conversion. What one tool makes of a content is made by one reading of it."""
    return map_groups(wanted, ("published", "form", "tool"), partial(_carry_out, site), MADE)


def _carry_out(site: Site, rows: list[Row]) -> list[Row]:
    content, form = rows[0]["published"], rows[0]["form"]
    with WORKSHOP.open(site.store) as converter:
        made = grow(converter, site.network.graph_of[form], content, {tuple(row["lineage"]) for row in rows})
    return [{"published": content, "form": form} | row for row in made]


def grow(converter: Converter, graph: ContentGraph, content: str, lineages: Collection[Lineage]) -> list[Row]:
    """Make the forms of one content, each from the one before it in its lineage, and say what became of each."""
    digests = {lineage[:1]: content for lineage in lineages}
    outcomes: dict[Lineage, Row] = {}
    below: dict[Lineage, list[Lineage]] = defaultdict(list)
    for lineage in sorted(lineages, key=len):
        below[lineage[:-1]].append(lineage)
    for source, targets in below.items():
        if source in digests:
            made = _made(converter, graph, digests[source], targets)
        else:
            made = _failed(targets, outcomes[source]["error"])
        outcomes |= made
        digests |= {lineage: outcome["digest"] for lineage, outcome in made.items() if "digest" in outcome}
    return [{"lineage": list(lineage)} | outcome for lineage, outcome in outcomes.items()]


def _made(converter: Converter, graph: ContentGraph, content: str, targets: list[Lineage]) -> dict[Lineage, Row]:
    """Several forms of one content, in one reading where one tool makes them."""
    source = graph[targets[0][-2]]
    try:
        made = converter.convert_many(content, source, [graph[lineage[-1]] for lineage in targets])
    except PolycastError as error:
        return _failed(targets, str(error))
    return {lineage: _outcome(one) for lineage, one in zip(targets, made, strict=True)}


def _failed(lineages: Collection[Lineage], reason: str) -> dict[Lineage, Row]:
    return {lineage: {"error": reason} for lineage in lineages}


def _outcome(made: Stored | PolycastError) -> Row:
    if isinstance(made, PolycastError):
        return {"error": f"{type(made).__name__}: {made}"}
    return {"digest": made.digest, "size": made.size, "cpu_seconds": made.cpu_seconds}
