"""Dispatch: hand every broker's deliveries to a sink; what was handed over twice arrives once."""

import errno
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Protocol

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from polycast.errors import PolycastError
from polycast.model.network import Network
from polycast.model.publication import Scalar
from polycast.pipeline import inbox
from polycast.pipeline.batches import Row, map_rows
from polycast.pipeline.lineage import Lineage
from polycast.pipeline.mailbox import Delivered, Mailboxes, name_of
from polycast.pipeline.site import Site

FAILURE = pa.struct([("subscription", pa.string()), ("form", pa.string()), ("reason", pa.string())])
RECEIPTS = pa.schema(
    [
        ("key", pa.string()),
        ("broker", pa.string()),
        ("delivered", pa.int64()),
        ("failed", pa.list_(FAILURE)),
    ]
)


OF_THE_MACHINE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM),
}
"""Errors that are no subscriber's: full or broken disks, no more memory or open files."""


class Sink(Protocol):
    """Takes deliveries; one that it has taken before, it does not take again."""

    def deliver(self, delivery: Delivered) -> bool:
        """Whether it was new."""

    def flush(self) -> None:
        """Return when what was delivered cannot be lost any more."""


def dispatch(converted: DataFrame, site: Site) -> DataFrame:
    """Receipts, a row to each publication and broker, for what was delivered and what was not."""
    return map_rows(converted.transform(by_broker), partial(_receipts, site), RECEIPTS)


def by_broker(converted: DataFrame) -> DataFrame:
    """What there is to deliver, a row to each publication and broker."""
    return converted.selectExpr(
        "key", "attributes", "content", "form", "made", "explode(outgoing) AS out"
    ).selectExpr("key", "attributes", "content", "form", "made", "out.broker", "out.deliveries")


def _receipts(site: Site, rows: Iterable[Row]) -> list[Row]:
    """A receipt is given for what cannot be lost any more."""
    sink = Mailboxes(site.home, site.store)
    receipts = [_receipt(row, site.network, sink) for row in rows]
    sink.flush()
    return receipts


def _receipt(row: Row, network: Network, sink: Sink) -> Row:
    failed = list(_hand_over(row, network, sink))
    delivered = len(row["deliveries"]) - len(failed)
    return {"key": row["key"], "broker": row["broker"], "delivered": delivered, "failed": failed}


def _hand_over(row: Row, network: Network, sink: Sink) -> Iterator[Row]:
    """Deliver what can be delivered; give back the rest, with why."""
    made: dict[Lineage, Row] = {tuple(one["lineage"]): one for one in row["made"] or ()}
    made[(row["form"],)] = row["content"]
    event = inbox.public(msgspec.json.decode(row["attributes"]))
    for delivery in row["deliveries"]:
        found = made[tuple(delivery["lineage"])]
        reason = found.get("error") or _refusal(sink, _delivered(row, delivery, found, event, network))
        if reason is not None:
            yield {"subscription": delivery["subscription"], "form": delivery["form"], "reason": reason}


def _refusal(sink: Sink, delivery: Delivered) -> str | None:
    """Why a delivery cannot be handed over; None if it was. What is wrong with the machine stops everything."""
    try:
        sink.deliver(delivery)
    except PolycastError as error:
        return str(error)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise
        return str(error)
    return None


def _delivered(row: Row, delivery: Row, found: Row, event: dict[str, Scalar], network: Network) -> Delivered:
    form = delivery["form"]
    media_type = found.get("media_type") or network.graph_of[form][form].media_type
    return Delivered(
        publication=row["key"],
        subscription=delivery["subscription"],
        broker=row["broker"],
        form=form,
        media_type=media_type,
        digest=found["digest"],
        size=found["size"],
        file=name_of(row["key"], row["broker"], form, media_type),
        event=event,
    )
