"""The options that many commands share."""

from typing import Annotated

import typer

HomeOption = Annotated[
    str | None,
    typer.Option(
        help="The folder for all data; else POLYCAST_HOME, polycast.toml, or the user's data folder.",
        show_default=False,
    ),
]
NetworkOption = Annotated[
    str | None,
    typer.Option(
        help="The network file; else POLYCAST_NETWORK, polycast.toml, or network.toml in the home.",
        show_default=False,
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        help="The Spark master; else POLYCAST_MASTER, polycast.toml, or this machine.", show_default=False
    ),
]
