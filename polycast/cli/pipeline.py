"""``polycast pipeline``: take what is in the inbox the whole way to its subscribers."""

import logging
from collections.abc import Callable
from typing import Annotated

import typer

from polycast.cli import streams
from polycast.cli.guides import GUIDES
from polycast.cli.settings import HomeOption, MasterOption, NetworkOption

pipeline = typer.Typer(help="The way from the inbox to the mailboxes, on Spark.", no_args_is_help=True)


@pipeline.command("run", epilog=GUIDES)
def run(
    once: Annotated[bool, typer.Option("--once", help="Deal with what is in the inbox now, and stop.")] = False,
    home: HomeOption = None,
    network: NetworkOption = None,
    master: MasterOption = None,
    spark: Annotated[
        list[str] | None,
        typer.Option("--spark", help="One of Spark's settings, as in spark.driver.memory=2g. Can be repeated."),
    ] = None,
) -> int:
    """Match, plan, convert and deliver what is published, until Ctrl-C.

    Prints, as JSON, a line for every batch of publications. What was killed, at whatever moment, carries on where
    it was when it is started again. docs/pipeline.md explains the folders of the home, and docs/network.md the
    network file.
    """
    from polycast import networks
    from polycast.pipeline.run import alone, interruption, run_once, run_stream
    from polycast.pipeline.session import LOCAL, running_session
    from polycast.pipeline.site import open_site
    from polycast.settings import read_settings, spark_option

    logging.basicConfig(handlers=[logging.NullHandler()])  # what Spark's Python logs comes as an exception, too
    options = dict(spark_option(text, "--spark") for text in spark or ())
    settings = read_settings(home=home, network=network, master=master)
    described = networks.load(settings.network_file)
    folders = settings.folders
    with alone(folders):
        streams.tell("starting Spark")
        with running_session(settings.master or LOCAL, settings.spark | options, folders) as session:
            site = open_site(session, folders, described)
            if once:
                with streams.progress() as show, interruption() as asked:
                    summary = run_once(session, site, _progress(show), asked.is_set)
                streams.answer(summary)
                return 130 if asked.is_set() else 0
            streams.tell(f"waiting for publications in {folders.inbox}; Ctrl-C to stop")
            run_stream(session, site, streams.answer)
            return 130


def _progress(show: Callable[[float | None, str], None] | None) -> Callable[[int, int], None]:
    """Feeds a progress bar, where there is one, with how many publications have been dealt with."""

    def on_progress(done: int, files: int) -> None:
        if show is not None:
            show(done / files, f"{done:,} of {files:,} publications")

    return on_progress
