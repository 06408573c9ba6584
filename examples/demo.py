"""Plan the annotated map on a small tree of brokers, draw the plan, and compare it with the three simple plans."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from polycast.cli.draw import draw_plan
from polycast.convert import graphs
from polycast.model.problem import Problem
from polycast.place import document, solve

INSTANCE = Path(__file__).with_name("annotated-map.json")
SIMPLE = ("all-in-root", "all-in-leaves", "single-format")


def main() -> None:
    console = Console(highlight=False)
    problem = document.read(INSTANCE.read_bytes(), INSTANCE.name, graphs.load)
    console.print("\nA map is published as PDF at the capital. The cheapest plan for everyone who wants it:\n")
    draw_plan(solve(problem, "exact").plan, console)
    console.print()
    console.print(compare(problem))


def compare(problem: Problem) -> Table:
    table = Table("plan", "cost", "sending", "converting", "penalties", "")
    best = solve(problem, "exact").plan.cost.total
    for method in ("exact", *SIMPLE):
        cost = solve(problem, method).plan.cost
        above = f"{cost.total / best - 1:+.0%}" if cost.total > best else "the least, proved"
        parts = (cost.total, cost.transmission, cost.conversion, cost.penalty)
        table.add_row(method, *(f"{part:.3f}" for part in parts), above)
    return table


if __name__ == "__main__":
    main()
