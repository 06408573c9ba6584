"""A plan as a tree in the terminal: formats on the links, conversions at the brokers."""

from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from polycast.model.plan import Plan, Step


def draw_plan(plan: Plan, console: Console | None = None) -> None:
    """Draw a plan, on standard error unless told otherwise."""
    console = console or Console(stderr=True)
    problem, steps = plan.problem, plan.steps
    branches: dict[int, Tree] = {}
    for broker in problem.order.tolist():
        label = _label(steps[broker], root=broker == problem.root)
        above = branches.get(int(problem.parent[broker]))
        branches[broker] = Tree(label, guide_style="dim") if above is None else above.add(label)
    console.print(branches[problem.root])


def _label(step: Step, root: bool) -> str:
    received = ", ".join(map(escape, step.receives))
    arrow = "" if root else f"[cyan]──{received or 'nothing'}──▶[/] "
    label = f"{arrow}[bold]{escape(step.name)}[/]"
    if root:
        label += f" [dim]holds[/] [cyan]{received}[/]"
    if step.runs:
        label += (
            "  [yellow]"
            + ", ".join(f"{escape(source)} → {escape(target)}" for source, target in step.runs)
            + "[/]"
        )
    if step.delivers:
        label += f"  [green]delivers {', '.join(map(escape, dict.fromkeys(step.delivers)))}[/]"
    return label
