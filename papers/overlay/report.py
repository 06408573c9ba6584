"""Tables and pictures of what the experiments have measured."""

from pathlib import Path

from papers.experiment import Journal
from papers.figures import Panel, draw, write_csv
from papers.overlay.experiments import REDUCTION
from papers.overlay.means import reductions, relays, times
from papers.overlay.parameters import NETWORKS


def report(journal: Journal, out: Path) -> None:
    """One table and one picture to a question."""
    _question(journal, out, "scale", "users", by_network=True)
    _question(journal, out, "crowding", "users to brokers", by_network=True)
    _question(journal, out, "links", "access-to-core cost ratio")
    _question(journal, out, "width", "width of a subscription")
    _question(journal, out, "channels", "channels (T)")
    write_csv(out / "times.csv", times(journal))
    write_csv(out / "relays.csv", relays(journal))


def _question(journal: Journal, out: Path, experiment: str, x: str, by_network: bool = False) -> None:
    rows = reductions(journal, experiment, x, by_network)
    write_csv(out / f"{experiment}.csv", rows)
    networks = NETWORKS if by_network else (NETWORKS[0],)
    draw(
        out / f"{experiment}.png",
        [
            Panel(
                f"{network} network",
                [row for row in rows if row.get("network", network) == network],
                x,
                [REDUCTION],
                line="method",
                scale="log",
            )
            for network in networks
        ],
        REDUCTION,
    )
