"""``polycast grow``: build trees that keep the readers of streams fresh."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from polycast.cli import streams
from polycast.errors import BadInput

if TYPE_CHECKING:
    from polycast.tree import Overhead


class GrowMethod(StrEnum):
    greedy = "greedy"
    anneal = "anneal"
    dita = "dita"
    star = "star"
    random = "random"
    local = "local"
    exact = "exact"


class Form(StrEnum):
    approximate = "approximate"
    precise = "precise"


def grow(
    instance: Annotated[str, typer.Argument(help="A JSON file with servers and delays; - for standard input.")],
    method: Annotated[GrowMethod, typer.Option(help="local: as good as anneal, much faster.")] = GrowMethod.greedy,
    per_object: Annotated[
        bool, typer.Option("--per-object", help="One tree for each object, over those who want it.")
    ] = False,
    model: Annotated[Form, typer.Option(help="precise: tell the children of a broker apart.")] = Form.approximate,
    overhead: Annotated[
        str | None,
        typer.Option(
            metavar="t_e,t_d,T_e,T_d",
            help="Count the work of adapting: seconds to collect and to decide, and how often each is done.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For whatever is random; the same seed, the same answer.")] = 0,
    evaluate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Grow nothing; tell what the trees of this answer lose.")
    ] = None,
) -> int:
    """Build trees over servers that want streams of changing values, so that the values are stale for least.

    Reads how fast the servers are, how often each wants which object, and how far apart they are; prints, as JSON,
    the trees and what each server loses. docs/grow.md explains the file, with an example.
    """
    streams.announce_compilation()
    from polycast import tree
    from polycast.tree import document
    from polycast.tree.warm import warm

    data, where = streams.read(instance)
    servers = document.read(data, where)
    loss_model = tree.LossModel(model is Form.precise, _overhead(overhead))
    if evaluate is not None:
        data, where = streams.read(evaluate)
        trees = document.read_trees(data, where, servers)
        warm(["star"])
        streams.answer(document.answer_of(tree.evaluate(servers, trees, loss_model, f"{where}, trees")))
        return 0
    warm([method.value])
    with streams.progress() as on_progress:
        growth = tree.grow(
            servers,
            method.value,
            per_object=per_object,
            model=loss_model,
            seed=seed,
            on_progress=on_progress,
        )
    streams.answer(document.answer_of(growth))
    return 130 if growth.interrupted else 0


def _overhead(option: str | None) -> "Overhead | None":
    from polycast.tree import Overhead

    if option is None:
        return None
    try:
        collect_time, decide_time, collect_period, decide_period = map(float, option.split(","))
    except ValueError:
        raise BadInput("--overhead", f'"{option}" is not four numbers: t_e,t_d,T_e,T_d') from None
    return Overhead(collect_time, decide_time, collect_period, decide_period)
