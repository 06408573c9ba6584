"""From the inbox to the mailboxes, stage by stage and as a whole."""

import errno
import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import msgspec
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

from polycast.convert.store import ContentStore
from polycast.errors import BadInput
from polycast.home import Home
from polycast.interest import dialects
from polycast.interest.index import MatchIndex
from polycast.model.network import Network, User
from polycast.model.profile import Profile
from polycast.model.publication import Event
from polycast.model.subscription import Exact, Subscription
from polycast.pipeline import bill, deadletters, inbox, plans, run
from polycast.pipeline.convert import convert
from polycast.pipeline.dispatch import dispatch
from polycast.pipeline.ingest import _ingested, ingest, table_of
from polycast.pipeline.match import match
from polycast.pipeline.plan import plan
from polycast.pipeline.run import journey, run_once, start_stream
from polycast.pipeline.site import Site, open_site
from tests.pipeline.publications import delivered, map_event, note, stray_files


def files(spark: SparkSession, home: Home) -> DataFrame:
    return table_of(spark, inbox.waiting(home.inbox))


def test_content_goes_into_the_store_and_rows_refer_to_it(spark: SparkSession, site: Site, the_map: Path) -> None:
    inbox.put(site.home.inbox, map_event("m"), the_map)
    inbox.put_event(site.home.inbox, note("n"))
    rows = {json.loads(row.attributes)["id"]: row for row in ingest(files(spark, site.home), site).collect()}
    assert rows["m"].content.media_type == "application/pdf"
    assert site.store.get(rows["m"].content.digest) == the_map.read_bytes()
    assert site.store.get(rows["n"].content.digest) == b"words of n"
    assert (rows["n"].content.size, rows["n"].error) == (len(b"words of n"), None)


def test_no_row_holds_content(spark: SparkSession, site: Site) -> None:
    """Neither what is published inside an event, nor what filters may look into."""
    secrets = {"n": "words of n", "json": {"level": "seventeen"}, "both": ["eighteen"], "bytes": b"nineteen"}
    (site.home.inbox / "beside.txt").write_text("twenty")
    for id, payload in secrets.items():
        beside = {"dataref": "beside.txt"} if id == "both" else {}
        kind = {"datacontenttype": "text/plain"} if id == "n" else {}
        inbox.put_event(site.home.inbox, Event(map_event(id, **beside, **kind).attributes, payload))
    ingested = files(spark, site.home).transform(ingest, site).collect()
    assert all(row.error is None for row in ingested)
    assert not any(word in str(row) for row in ingested for word in ("words of", "teen", "twenty"))
    payloads = {json.loads(row.attributes)["id"]: row.payload for row in ingested}
    assert payloads.pop("bytes") is None
    assert {id: json.loads(site.store.get(digest)) for id, digest in payloads.items()} == {
        id: secrets[id] for id in payloads
    }


def test_stage_by_stage(spark: SparkSession, site: Site, the_map: Path) -> None:
    inbox.put(site.home.inbox, map_event("m"), the_map)
    inbox.put(site.home.inbox, map_event("again"), the_map)
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
    event = map_event("m")
    inbox.put(site.home.inbox, event, the_map)
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
    event = map_event("m")
    inbox.put(site.home.inbox, event, the_map)
    run_once(spark, site)
    account = bill.read_bill(bill.bill_file(site.home, event.key))
    planned = plans.read_plan(plans.plan_file(site.home, event.key))
    sizes = {one.form: one.size for one in delivered(site.home).values()}
    carried = [form for step in planned.steps[1:] for form in step.receives]
    assert account.spent.bytes == sum(sizes[form] for form in carried)
    assert account.spent.cpu_seconds > 0
    assert account.planned["auto"].cost == planned.cost.total
    assert account.planned["auto"].cost <= min(spending.cost for spending in account.planned.values())
    assert account.planned.keys() == {"auto", *bill.SIMPLE}


def test_what_comes_twice_is_delivered_once(spark: SparkSession, site: Site) -> None:
    for _ in range(2):
        inbox.put_event(site.home.inbox, note("n"))
    assert run_once(spark, site).publications == 1
    times = {path: path.stat().st_mtime_ns for path in site.home.mailboxes.glob("*/*")}
    inbox.put_event(site.home.inbox, note("n"))
    assert run_once(spark, site).publications == 0
    assert {path: path.stat().st_mtime_ns for path in site.home.mailboxes.glob("*/*")} == times
    assert list(site.home.inbox.glob("*.json")) == []


def test_two_of_one_name_in_a_batch_are_one_publication(spark: SparkSession, site: Site, the_map: Path) -> None:
    """The first by name is taken, whatever they hold, and nothing of the others stays behind."""
    words_beside = Event(note("n").attributes)
    for name, words in (("b", "second"), ("a", "first"), ("c", "third")):
        content = the_map.with_name(f"{name}.note")
        content.write_text(words)
        inbox.put(site.home.inbox, words_beside, content).rename(site.home.inbox / f"{name}.json")
    assert run_once(spark, site).publications == 1
    assert {site.store.get(one.digest) for one in delivered(site.home).values()} == {b"first"}
    assert [path for path in site.home.inbox.rglob("*") if path.is_file()] == []
    assert names(site.home.archive) == ["a.json", "b.json", "c.json"]


def test_names_that_mean_something_elsewhere(spark: SparkSession, network: Network, tmp_path: Path) -> None:
    """Of homes, of files, of ids, of users: nothing is lost, and nothing leaves its folder."""
    users = ("../../outside", "..", "Zürich 東京", "nobody")
    there = tuple(User("county", Subscription(name)) for name in users[:-1])
    nobody = User("county", Subscription("nobody", (Exact({"type": "never"}),)))
    odd = Home(tmp_path / "deep" / "a [x] {b} * é")
    site = open_site(spark, odd, msgspec.structs.replace(network, users=(*there, nobody)))
    files = (
        "a b",
        "a%20b",
        "ü",
        "a:b",
        "a?b*",
        "q'\"x",
        "back\\slash",
        "new\nline",
        "_under",
        "x{1}",
        "[y]",
        "p+&=",
    )
    for file in files:
        inbox.put_event(odd.inbox, note(f"../../{file.strip()!r}")).rename(odd.inbox / f"{file}.json")
    (odd.inbox / "part=1").mkdir()
    (odd.inbox / "folder.json").mkdir()
    (odd.inbox / "link.json").symlink_to(tmp_path / "elsewhere")
    assert [path.name for path in inbox.waiting(odd.inbox, 2)] == ["a b.json", "a%20b.json"], "the oldest first"
    summary = run_once(spark, site)
    assert (summary.publications, summary.dead_letters) == (len(files), 0)
    assert summary.matched == summary.delivered == len(delivered(odd)) == 3 * len(files)
    assert names(odd.mailboxes) == sorted(odd.mailbox(user).name for user in users[:-1])
    assert inbox.waiting(odd.inbox) == []
    assert [path.name for path in (tmp_path / "deep").iterdir()] == [odd.root.name]


def test_an_index_of_another_version_is_made_anew(
    spark: SparkSession, home: Home, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr("polycast.interest.index.storage.VERSION", 1)
        old = open_site(spark, home, network).index
    with pytest.raises(BadInput, match="an index of version 1"):
        MatchIndex.open(old)
    MatchIndex.open(open_site(spark, home, network).index)
    assert not old.exists()


def test_what_nobody_wants_has_a_bill(spark: SparkSession, home: Home, network: Network) -> None:
    event = inbox.read(inbox.put_event(home.inbox, note("n")))
    run_once(spark, open_site(spark, home, msgspec.structs.replace(network, users=())))
    account = bill.read_bill(bill.bill_file(home, event.key))
    assert (account.matched, account.delivered, account.spent.cost) == (0, 0, 0.0)
    assert account.planned["auto"].cost == 0.0
    assert not home.mailboxes.exists()


def test_the_index_in_the_workers_says_what_the_filters_say(spark: SparkSession, site: Site) -> None:
    events = [
        note(str(number), type=f"org.example.{kind}", severity=severity, subject=subject)
        for number, (kind, severity, subject) in enumerate(
            product(("map", "video"), ("high", "low"), ("canyon", "x"))
        )
    ]
    for event in events:
        inbox.put_event(site.home.inbox, event)
    users = site.network.users
    programs = {user.name: dialects.program(user.subscription) for user in users}
    truth = {
        event.key: [name for name in programs if programs[name].accepts(dialects.attributes_of(event))]
        for event in events
    }
    rows = files(spark, site.home).transform(ingest, site).transform(match, site).collect()
    assert {row.key: row.matches for row in rows} == truth
    assert len({len(matches) for matches in truth.values()}) > 1


def test_what_failed_can_be_tried_again(spark: SparkSession, site: Site, the_map: Path) -> None:
    """With its content, which lay beside: those who have had it do not get it twice."""
    home = site.home
    blocked = home.mailbox("ferry")
    blocked.parent.mkdir(parents=True)
    blocked.write_text("no folder")
    file = inbox.put(home.inbox, map_event("m"), the_map)
    assert run_once(spark, site).failed == 1
    before = delivered(home)
    [letter] = home.dead_letters.iterdir()
    blocked.unlink()
    shutil.copy(letter / deadletters.EVENT, home.inbox / file.name)
    assert run_once(spark, site).failed == 0
    after = delivered(home)
    assert {subscription for subscription, _ in after.keys() - before.keys()} == {"ferry"}
    assert all(after[key] == one for key, one in before.items())
    assert [path for path in home.inbox.rglob("*") if path.is_file()] == []


def test_who_is_run_again_keeps_the_plan(spark: SparkSession, home: Home, network: Network, the_map: Path) -> None:
    """Even if the network has changed since, and everybody should get another form now."""
    blocked = home.mailbox("ferry")
    blocked.parent.mkdir(parents=True)
    blocked.write_text("no folder")
    event = map_event("m")
    file = inbox.put(home.inbox, event, the_map)
    run_once(spark, open_site(spark, home, network))
    before, plan_file = delivered(home), plans.plan_file(home, event.key)
    kept = plan_file.read_bytes()
    blocked.unlink()
    [letter] = home.dead_letters.iterdir()

    shutil.copy(letter / deadletters.EVENT, file)
    words = Profile(accept="text/plain")
    changed = tuple(User("county", Subscription(user.name, (), words)) for user in network.users)
    run_once(spark, open_site(spark, home, msgspec.structs.replace(network, users=changed)))
    assert {who for who, _ in delivered(home).keys() - before.keys()} == {"ferry"}
    assert plan_file.read_bytes() == kept


@pytest.mark.parametrize("damage", [lambda kept: kept[:100], lambda kept: kept.replace(b"x-note", b"x-other")])
def test_a_plan_that_cannot_be_carried_out_is_made_anew(
    spark: SparkSession, site: Site, damage: Callable[[bytes], bytes]
) -> None:
    """Half of a file, or a form that the network does not know any more."""
    event, plan_file = note("n"), plans.plan_file(site.home, note("n").key)
    inbox.put_event(site.home.inbox, event)
    run_once(spark, site)
    before, kept = delivered(site.home), plan_file.read_bytes()
    plan_file.write_bytes(damage(kept))
    bill.bill_file(site.home, event.key).unlink()
    inbox.put_event(site.home.inbox, event)
    assert run_once(spark, site).dead_letters == 0
    assert plan_file.read_bytes() == kept
    assert delivered(site.home) == before


def test_a_full_disk_is_nobodys_fault_wherever_we_are(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = inbox.put_event(site.home.inbox, note("n"))
    monkeypatch.setattr(ContentStore, "put", no_space)
    monkeypatch.chdir(site.home.inbox)
    with pytest.raises(OSError, match="No space left"):
        list(_ingested(site, [{"file": str(file)}]))


def test_a_folder_that_cannot_be_written_is_nobodys_fault(spark: SparkSession, site: Site) -> None:
    inbox.put_event(site.home.inbox, note("n"))
    site.home.content.write_text("no folder")
    with pytest.raises(PythonException):
        run_once(spark, site)
    assert len(inbox.waiting(site.home.inbox)) == 1, "it waits until the store can be written"
    site.home.content.unlink()
    assert run_once(spark, site).publications == 1


def test_what_had_been_dealt_with_before_the_kill_is_passed_over(spark: SparkSession, site: Site) -> None:
    gone = site.home.inbox / "gone.json"
    assert journey(spark, [gone], site).publications == 0
    assert not site.home.dead_letters.exists()


def test_faulty_publications_stop_nothing(spark: SparkSession, site: Site, the_map: Path) -> None:
    home = site.home
    (home.inbox / "broken.json").write_text("{")
    (home.inbox / "outside.json").write_text(json.dumps(map_event("o", dataref="../../secret").attributes))
    fake = the_map.with_name("fake.pdf")
    fake.write_bytes(b"%PDF-1.7 and nothing that belongs there")
    torn = inbox.put(home.inbox, map_event("torn", datacontenttype="application/pdf"), fake)
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
        inbox.put(site.home.inbox, map_event("m"), the_map)
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


def test_who_has_enough_finds_the_rest_in_the_inbox(
    spark: SparkSession, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MOST_FILES", 1)
    for name in ("a", "b", "c"):
        inbox.put_event(site.home.inbox, note(name))
    told: list[tuple[int, int]] = []
    summary = run_once(spark, site, lambda done, files: told.append((done, files)), lambda: len(told) == 2)
    assert (summary.publications, told) == (2, [(0, 3), (1, 3)])
    assert len(inbox.waiting(site.home.inbox)) == 1


@pytest.mark.parametrize("torn", ["offsets/0", "commits/0", "metadata"])
def test_a_checkpoint_that_a_power_cut_has_torn(spark: SparkSession, site: Site, torn: str) -> None:
    def stream(name: str) -> set[object]:
        inbox.put_event(site.home.inbox, note(name))
        query = start_stream(spark, site)
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        return {one.event["id"] for one in delivered(site.home).values()}

    stream("a")
    whole = (site.home.checkpoint / torn).read_bytes()
    for number, left in enumerate((b"", whole[: len(whole) - 2])):
        (site.home.checkpoint / torn).write_bytes(left)
        assert str(number) in stream(str(number))
    assert inbox.waiting(site.home.inbox) == []
