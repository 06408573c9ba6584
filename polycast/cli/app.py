"""The ``polycast`` command: its subcommands, and the one place where errors become exit codes."""

import sys
from typing import Annotated

import typer

import polycast
from polycast.cli import streams
from polycast.cli.attach import attach
from polycast.cli.calibrate import calibrate
from polycast.cli.compile import compile_kernels
from polycast.cli.convert import convert
from polycast.cli.formats import formats, operators
from polycast.cli.gc import gc
from polycast.cli.grow import grow
from polycast.cli.guides import GUIDES
from polycast.cli.match import match
from polycast.cli.pipeline import pipeline
from polycast.cli.place import place
from polycast.cli.publish import publish
from polycast.errors import PolycastError
from polycast.kernel import is_interrupt

app = typer.Typer(
    epilog=GUIDES,
    help="Publish once; every subscriber gets what it asked for, in the form its device can use.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"polycast {polycast.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    pass


app.command("place", epilog=GUIDES)(place)
app.command("attach", epilog=GUIDES)(attach)
app.command("grow", epilog=GUIDES)(grow)
app.command("match", epilog=GUIDES)(match)
app.command("publish", epilog=GUIDES)(publish)
app.add_typer(pipeline, name="pipeline", epilog=GUIDES)
app.command("convert", epilog=GUIDES)(convert)
app.command("calibrate", epilog=GUIDES)(calibrate)
app.command("formats")(formats)
app.command("operators", epilog=GUIDES)(operators)
app.command("gc", epilog=GUIDES)(gc)
app.command("compile")(compile_kernels)


def main() -> None:
    """Run the command; one line on standard error, and never a traceback, for what a user can mend."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except PolycastError as error:
        return _complain(str(error), error.exit_code)
    except typer.TyperException as error:
        return _complain(error.format_message().replace("Value error, ", ""), 2)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", 130)
    except SystemError as error:
        if not is_interrupt(error):
            raise
        return _complain("interrupted", 130)
    except (BrokenPipeError, SystemExit) as error:
        # The reader of our output has gone, as in `polycast … | head`; typer makes an exit of it.
        if not isinstance(error.__context__ if isinstance(error, SystemExit) else error, BrokenPipeError):
            raise
        streams.drop_output()
        return 0
    except OSError as error:  # the disk is full, a folder is not ours to write
        where = streams.OUTPUT if streams.drop_lost_output() else error.filename
        return _complain(": ".join(filter(None, (where, error.strerror))) or str(error), 2)
    return code if isinstance(code, int) else 0


def _complain(message: str, code: int) -> int:
    if message:  # there is none where a command without arguments has shown its help
        print(f"polycast: {' '.join(message.split())}", file=sys.stderr)
    return code
