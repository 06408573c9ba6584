"""From the inbox to the mailboxes, stage by stage and as a whole."""

import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from polycast.home import Home
from polycast.model.network import Network
from polycast.pipeline import bill, deadletters, inbox, plans
from polycast.pipeline.convert import convert
from polycast.pipeline.dispatch import dispatch
from polycast.pipeline.ingest import ingest
from polycast.pipeline.match import match
from polycast.pipeline.plan import plan
from polycast.pipeline.run import run_once, start_stream
from polycast.pipeline.site import Site, open_site
from tests.pipeline.publications import delivered, map_attributes, note, stray_files


def files(spark: SparkSession, home: Home) -> DataFrame:
    return spark.createDataFrame([(f"file:{path}",) for path in home.inbox.glob("*.json")], "path string")


def test_content_goes_into_the_store_and_rows_refer_to_it(spark: SparkSession, site: Site, the_map: Path) -> None:
    inbox.put(site.home.inbox, map_attributes("m"), the_map)
    inbox.put_event(site.home.inbox, note("n"))
    rows = {json.loads(row.attributes)["id"]: row for row in ingest(files(spark, site.home), site).collect()}
    assert rows["m"].content.media_type == "application/pdf"
    assert site.store.get(rows["m"].content.digest) == the_map.read_bytes()
    assert site.store.get(rows["n"].content.digest) == b"words of n"
    assert (rows["n"].content.size, rows["n"].error) == (len(b"words of n"), None)


def test_stage_by_stage(spark: SparkSession, site: Site, the_map: Path) -> None:
    inbox.put(site.home.inbox, map_attributes("m"), the_map)
    inbox.put(site.home.inbox, map_attributes("again"), the_map)
    matched = files(spark, site.home).transform(ingest, site).transform(match, site)
    assert [len(row.matches) for row in matched.collect()] == [29, 29]
    planned = matched.transform(plan, site).cache()
    converted = planned.transform(convert, site).cache()
    first, second = converted.collect()
    assert first.made
    assert all(one.error is None and one.digest in site.store for one in first.made)
    assert sorted(first.made) == sorted(second.made), "one content is converted once for all publications"
    receipts = converted.transform(dispatch, site).collect()
    assert sum(receipt.delivered for receipt in receipts) == 58
    assert {receipt.broker for receipt in receipts} == {out.broker for out in first.outgoing}


def test_the_map_reaches_everyone_as_planned(spark: SparkSession, site: Site, the_map: Path) -> None:
    event = inbox.read(inbox.put(site.home.inbox, map_attributes("m"), the_map))
    summary = run_once(spark, site)
    planned = plans.read_plan(plans.plan_file(site.home, event.key))
    found = delivered(site.home)
    assert planned.fault() is None
    assert {(one.subscription, one.broker, one.form) for one in found.values()} == {
        (one.subscription, one.broker, one.format) for one in planned.deliveries
    }
    assert (summary.publications, summary.matched, summary.delivered) == (1, 29, len(found))
    assert (summary.failed, summary.dead_letters) == (0, 0)
    assert {one.form for one in found.values()} > {"pdf", "text", "announcement"}
    assert list(site.home.inbox.glob("*.*")) == []
    assert list((site.home.inbox / inbox.CONTENT).iterdir()) == []


def test_the_bill_adds_up(spark: SparkSession, site: Site, the_map: Path) -> None:
    event = inbox.read(inbox.put(site.home.inbox, map_attributes("m"), the_map))
    run_once(spark, site)
    account = bill.read_bill(bill.bill_file(site.home, event.key))
    planned = plans.read_plan(plans.plan_file(site.home, event.key))
    sizes = {one.form: one.size for one in delivered(site.home).values()}
    carried = [form for step in planned.steps[1:] for form in step.receives]
    assert account.spent.bytes == sum(sizes[form] for form in carried)
    assert account.spent.cpu_seconds > 0
    assert account.planned["exact"].cost == planned.cost.total
    assert account.planned["exact"].cost <= min(spending.cost for spending in account.planned.values())
    assert account.planned.keys() == {"exact", *bill.SIMPLE}


def test_what_comes_twice_is_delivered_once(spark: SparkSession, site: Site) -> None:
    for _ in range(2):
        inbox.put_event(site.home.inbox, note("n"))
    assert run_once(spark, site).publications == 1
    times = {path: path.stat().st_mtime_ns for path in site.home.mailboxes.glob("*/*")}
    inbox.put_event(site.home.inbox, note("n"))
    assert run_once(spark, site).publications == 0
    assert {path: path.stat().st_mtime_ns for path in site.home.mailboxes.glob("*/*")} == times
    assert list(site.home.inbox.glob("*.json")) == []


def test_faulty_publications_stop_nothing(spark: SparkSession, site: Site, the_map: Path) -> None:
    home = site.home
    (home.inbox / "broken.json").write_text("{")
    (home.inbox / "outside.json").write_text(
        json.dumps(map_attributes("o", specversion="1.0", dataref="../../secret"))
    )
    fake = the_map.with_name("fake.pdf")
    fake.write_bytes(b"%PDF-1.7 and nothing that belongs there")
    torn = inbox.put(home.inbox, map_attributes("torn", datacontenttype="application/pdf"), fake)
    inbox.put_event(home.inbox, note("n"))
    summary = run_once(spark, site)
    reasons = {
        path.parent.name: json.loads(path.read_text())
        for path in home.dead_letters.glob(f"*/{deadletters.REASON}")
    }
    assert reasons.keys() == {"broken", "outside", torn.stem}
    assert "not JSON" in reasons["broken"]["error"]
    assert "not a path within the inbox" in reasons["outside"]["error"]
    assert {one["form"] for one in reasons[torn.stem]["failed"]} == {"jpg-640", "text", "announcement"}
    assert all("Unreadable" in one["reason"] for one in reasons[torn.stem]["failed"])
    assert (home.dead_letters / "broken" / deadletters.EVENT).read_text() == "{"
    found = {(one.event["id"], one.form) for one in delivered(home).values()}
    assert found == {("torn", "pdf"), ("n", "application/x-note")}, "who takes it as it is still gets it"
    assert (summary.dead_letters, summary.failed > 0) == (2, True)
    assert list(home.inbox.glob("*.json")) == []


def test_a_batch_and_a_stream_deliver_the_same(
    spark: SparkSession, network: Network, tmp_path: Path, the_map: Path
) -> None:
    batch, stream = (open_site(spark, Home(tmp_path / name), network) for name in ("batch", "stream"))
    for site in (batch, stream):
        inbox.put(site.home.inbox, map_attributes("m"), the_map)
        inbox.put_event(site.home.inbox, note("n", severity="high"))
        (site.home.inbox / "broken.json").write_text("[]")
    run_once(spark, batch)
    query = start_stream(spark, stream)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    assert delivered(stream.home) == delivered(batch.home)
    assert stray_files(stream.home) == []
    assert names(stream.home.dead_letters) == names(batch.home.dead_letters) == ["broken"]
    assert names(stream.home.bills) == names(batch.home.bills)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
