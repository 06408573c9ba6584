"""Learn: what became of each publication, beside what was planned. Its first form is the bill."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from polycast.model.delivery import Unserved
from polycast.model.network import Network
from polycast.pipeline import deadletters, inbox
from polycast.pipeline.batches import Row, map_pairs
from polycast.pipeline.bill import Bill, Failure, Spending, write_bill
from polycast.pipeline.site import Site

LEARNT = pa.schema(
    [
        ("key", pa.string()),
        ("matched", pa.int64()),
        ("delivered", pa.int64()),
        ("failed", pa.int64()),
    ]
)


def learn(receipts: DataFrame, converted: DataFrame, site: Site) -> DataFrame:
    """Write the bill of each publication, which settles it, and take it out of the inbox."""
    return map_pairs(converted, receipts, "key", partial(_learnt, site), LEARNT)


def _learnt(site: Site, publications: list[Row], receipts: list[Row]) -> list[Row]:
    (publication,) = publications
    bill = bill_of(publication, receipts, site.network)
    _settle(site, [Path(file) for file in publication["files"]], bill)
    counts = {"matched": bill.matched, "delivered": bill.delivered, "failed": len(bill.failed)}
    return [{"key": bill.publication} | counts]


def bill_of(publication: Row, receipts: Iterable[Row], network: Network) -> Bill:
    """The bill of a publication from all that is known of it."""
    event = msgspec.json.decode(publication["attributes"])
    return Bill(
        publication=publication["key"],
        id=event["id"],
        source=event["source"],
        form=publication["form"],
        size=publication["content"]["size"],
        matched=publication["matched"],
        delivered=sum(receipt["delivered"] for receipt in receipts),
        unserved=tuple(Unserved(**one) for one in publication["unserved"]),
        failed=tuple(Failure(**one) for receipt in receipts for one in receipt["failed"]),
        planned={method: Spending(**spending) for method, spending in publication["planned"]},
        spent=spent(publication, network),
    )


def spent(publication: Row, network: Network) -> Spending:
    """What the plan has cost with the sizes and seconds that were found."""
    made = {tuple(one["lineage"]): one for one in publication["made"] or ()}
    made[(publication["form"],)] = publication["content"] | {"cpu_seconds": 0.0}
    sent = seconds = cost = 0.0
    for form in publication["forms"]:
        outcome = made[tuple(form["lineage"])]
        size, time = outcome["size"] or 0, outcome["cpu_seconds"] or 0.0
        sent += form["links"] * size
        seconds += form["makers"] * time
        cost += network.alpha * form["link_cost"] * size / 1e6 + network.beta * form["compute_cost"] * time
    return Spending(sent, seconds, cost + publication["penalty"])


def _settle(site: Site, files: list[Path], bill: Bill) -> None:
    """The bill comes last but one: once it is there, a replay changes nothing and only clears the inbox."""
    if bill.failed:
        deadletters.keep(site.home, deadletters.Reason(file=files[0].name, failed=bill.failed), files[0])
    write_bill(site.home, bill)
    for file in files:
        if not bill.failed:  # content beside is wanted when it is tried again
            inbox.clear_content(file)
        inbox.move(file, site.home.archive)
