"""``polycast place``: decide where on a tree of brokers each conversion runs."""

from enum import StrEnum
from typing import Annotated

import typer

from polycast.cli import streams


class Select(StrEnum):
    slack = "slack"
    random = "random"


class Start(StrEnum):
    best = "best"
    reduced = "reduced"
    all_in_root = "all-in-root"
    all_in_leaves = "all-in-leaves"
    single_format = "single-format"


class Method(StrEnum):
    auto = "auto"
    exact = "exact"
    refine = "refine"
    multilayer = "multilayer"
    all_in_root = "all-in-root"
    all_in_leaves = "all-in-leaves"
    single_format = "single-format"


def place(
    instance: Annotated[str, typer.Argument(help="A JSON file that states the problem; - for standard input.")],
    method: Annotated[Method, typer.Option(help="auto: the best that fits in the time limit.")] = Method.auto,
    alpha: Annotated[float | None, typer.Option(help="Weight of transmission, instead of the file's.")] = None,
    beta: Annotated[float | None, typer.Option(help="Weight of conversion, instead of the file's.")] = None,
    iterations: Annotated[int, typer.Option(min=0, help="refine: rounds.")] = 500,
    select: Annotated[Select, typer.Option(help="refine: which broker is next.")] = Select.slack,
    depth: Annotated[
        int, typer.Option(min=1, max=3, help="refine: levels of the region that a round improves.")
    ] = 1,
    start: Annotated[Start, typer.Option(help="refine: the plan to begin with.")] = Start.best,
    history: Annotated[bool, typer.Option("--history", help="refine: the cost after each round.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="For whatever is random; the same seed, the same answer.")] = 0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best plan so far is the answer.")
    ] = None,
    draw: Annotated[bool, typer.Option("--draw", help="Also draw the plan, on standard error.")] = False,
) -> int:
    """Decide where on a tree of brokers each conversion runs, at least cost.

    Reads the brokers, what each wants, and what sending and converting cost; prints, as JSON, which formats travel
    over each link and which operators each broker runs. docs/place.md explains the file, with an example.
    """
    streams.announce_compilation()
    from polycast.convert import graphs
    from polycast.place import document, solve
    from polycast.place.warm import warm

    data, where = streams.read(instance)
    problem = document.read(data, where, graphs.load, alpha=alpha, beta=beta)
    warm([method.value])
    with streams.progress() as on_progress:
        solution = solve(
            problem,
            method.value,
            time_limit=time_limit,
            on_progress=on_progress,
            iterations=iterations,
            select=select.value,
            depth=depth,
            start=start.value,
            history=history,
            seed=seed,
        )
    if draw:
        from polycast.cli.draw import draw_plan

        draw_plan(solution.plan)
    streams.answer(document.answer_of(solution))
    return 130 if solution.interrupted else 0
