"""The main job, from publication to delivery: a map and a video are published to thirty users of seven brokers.

python examples/demo.py [FOLDER]
"""

import math
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples import samples, verify
from polycast import networks
from polycast.cli.draw import draw_plan
from polycast.errors import NoSolution, PolycastError
from polycast.home import Home
from polycast.model.network import Network
from polycast.model.plan import Plan
from polycast.model.publication import Event
from polycast.pipeline import bill, inbox, mailbox, plans
from polycast.pipeline.bill import Bill, Spending
from polycast.pipeline.run import start_stream
from polycast.pipeline.session import open_session
from polycast.pipeline.site import open_site
from polycast.place import solve

NETWORK = Path(__file__).with_name("network.toml")
FOLDER = Path("out", "demo")
PATIENCE = 300.0
SIMPLE = ("all-in-root", "all-in-leaves", "single-format")

MAP = {
    "id": "map-14-00",
    "source": "/county/incidents/canyon",
    "specversion": "1.0",
    "type": "org.example.map",
    "subject": "canyon",
    "severity": "high",
}
VIDEO = MAP | {"id": "clip-14-02", "type": "org.example.video", "severity": "low"}


def main(folder: Path = FOLDER, console: Console | None = None) -> list[Bill]:
    """Run the demo in a fresh folder, and give back the bills."""
    console = console or Console(highlight=False)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    home, network = Home(folder.absolute()), networks.load(NETWORK)
    with console.status("Making a map and a few seconds of video, and starting Spark …"):
        published = [
            (MAP, samples.annotated_map(folder / "map.pdf")),
            (VIDEO, samples.video(folder / "clip.mp4")),
        ]
        spark = open_session(home=home)
        stream = start_stream(spark, open_site(spark, home, network))
    try:
        return [follow(home, network, attributes, file, console) for attributes, file in published]
    finally:
        stream.stop()


def follow(home: Home, network: Network, attributes: dict[str, str], file: Path, console: Console) -> Bill:
    """Publish one file, and show its journey."""
    event = Event(attributes)
    inbox.put(home.inbox, event, file)
    console.rule(f"[bold]{file.name}[/] is published as {event.type}, {file.stat().st_size / 1e3:,.0f} kB")
    with progress(console) as bar:
        plan_file, bill_file = plans.plan_file(home, event.key), bill.bill_file(home, event.key)
        wait_for(plan_file, bar, "who wants it, in which form, made where?")
        planned = plans.read_plan(plan_file)
        wanted = len(planned.deliveries)
        task = bar.add_task("converting and delivering", total=wanted)
        for _ in until(bill_file):
            bar.update(task, completed=len(list(mailbox.deliveries(home, event.key))))
        bar.update(task, completed=wanted)
    account = bill.read_bill(bill_file)
    show_failures(account, console)
    console.print(
        f"{account.matched} of {len(network.users)} users want it; {wanted} have a device that some form of it "
        "suits. The cheapest plan for all of them:\n"
    )
    draw_plan(planned, console)
    console.print()
    console.print(compared(planned))
    arrived = verify.arrived(home, event.key, planned)
    console.print(delivered(home, network, arrived))
    console.print(billed(account))
    return account


def compared(planned: Plan) -> Table:
    """The plan beside the three simple ones."""
    table = Table("plan", "cost", "sending", "converting", "penalties", "", title="What it should cost")
    least = solve(planned.problem, "exact").plan.cost.total
    for method in ("auto", *SIMPLE):
        try:
            cost = planned.cost if method == "auto" else solve(planned.problem, method).plan.cost
        except NoSolution:
            continue
        is_least = math.isclose(cost.total, least, rel_tol=1e-9)
        above = "the least, proved" if is_least else f"{cost.total / least - 1:+.0%}"
        parts = (cost.total, cost.transmission, cost.conversion, cost.penalty)
        table.add_row(method, *(f"{part:.3f}" for part in parts), above)
    return table


def delivered(home: Home, network: Network, arrived: list[mailbox.Delivered]) -> Table:
    """What lies in the mailboxes: every file is opened, and must be what its form says."""
    table = Table("form", "files", "to", "opened and verified", title="What was delivered")
    found: dict[str, list[mailbox.Delivered]] = {}
    for one in arrived:
        found.setdefault(one.form, []).append(one)
    for form, deliveries in sorted(found.items()):
        files = [home.mailbox(one.subscription) / one.file for one in deliveries]
        seen = {verify.opened(file, network.graph_of[form][form]) for file in files}
        table.add_row(form, str(len(files)), ", ".join(one.subscription for one in deliveries), "\n".join(seen))
    return table


def billed(account: Bill) -> Table:
    """The bill, planned and spent, beside the simple plans."""
    table = Table("", "bytes on links", "processor", "cost", title="The bill")
    for method, spending in account.planned.items():
        name = "planned" if method == "auto" else method
        table.add_row(name, *figures(spending), style="" if method == "auto" else "dim")
    table.add_row("spent", *figures(account.spent), style="bold")
    return table


def figures(spending: Spending) -> tuple[str, str, str]:
    return f"{spending.bytes / 1e6:,.2f} MB", f"{spending.cpu_seconds:,.2f} s", f"{spending.cost:,.2f}"


@contextmanager
def progress(console: Console) -> Iterator[Progress]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield bar


def wait_for(file: Path, bar: Progress, description: str) -> None:
    task = bar.add_task(description, total=None)
    for _ in until(file):
        pass
    bar.remove_task(task)


def until(file: Path) -> Iterator[None]:
    """A moment, again and again, until the file is there."""
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{file} has not come in {PATIENCE:.0f} s")
        yield time.sleep(0.05)


def show_failures(account: Bill, console: Console) -> None:
    for failure in account.failed:
        console.print(f"[bold red]{failure.subscription} has no {failure.form}:[/] {escape(failure.reason)}")


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:2]))
    except (PolycastError, verify.NotAsSaid, TimeoutError) as error:
        sys.exit(f"demo: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
