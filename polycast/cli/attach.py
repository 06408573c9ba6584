"""``polycast attach``: decide which broker each user hangs on."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from polycast.cli import streams


class Method(StrEnum):
    greedy = "greedy"
    cluster = "cluster"
    mix = "mix"
    local = "local"
    exact = "exact"
    random = "random"


class Core(StrEnum):
    per_publisher = "per-publisher"
    shared = "shared"


def attach(
    instance: Annotated[str, typer.Argument(help="A JSON file that states the problem; - for standard input.")],
    method: Annotated[
        Method, typer.Option(help="local: the best that can be had quickly. exact: proved, for small networks.")
    ] = Method.local,
    core: Annotated[
        Core, typer.Option(help="Between brokers: a tree for each publisher and channel, or one for all.")
    ] = Core.per_publisher,
    seed: Annotated[int, typer.Option(min=0, help="For whatever is random; the same seed, the same answer.")] = 0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best attachment so far is the answer.")
    ] = None,
    wanted_only: Annotated[
        bool, typer.Option("--wanted-only", help="Leave out messages that nobody but their publisher wants.")
    ] = False,
    evaluate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Only say what this earlier answer costs.")
    ] = None,
) -> int:
    """Decide which broker each user hangs on, at least cost.

    Reads users, with what they publish and want on each channel, and brokers, with what they can take and what all
    links cost; prints, as JSON, the broker of each user. docs/attach.md explains the file, with an example.
    """
    streams.announce_compilation()
    from polycast.overlay import document, solve
    from polycast.overlay import evaluate as cost_of
    from polycast.overlay.warm import warm

    overlay = document.read(*streams.read(instance))
    if wanted_only:
        overlay = overlay.wanted_only()
    if (detour := overlay.detour()) is not None:
        a, via, b = map(overlay.broker_name, detour)
        print(
            f'polycast: warning: core_cost is not metric: from "{a}" to "{b}" the way over "{via}" is cheaper '
            "than the link, and no message takes it",
            file=sys.stderr,
        )
    if evaluate is not None:
        broker = document.read_attachments(*streams.read(evaluate), overlay)
        warm(["greedy"])
        solution = cost_of(overlay, broker, core=core.value)
    else:
        warm([method.value])
        with streams.progress() as on_progress:
            solution = solve(
                overlay,
                method.value,
                core=core.value,
                seed=seed,
                time_limit=time_limit,
                on_progress=on_progress,
            )
    streams.answer(document.answer_of(solution))
    return 130 if solution.interrupted else 0
