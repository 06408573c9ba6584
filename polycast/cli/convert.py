"""``polycast convert``: turn a file into other forms, by the cheapest chain that keeps the quality."""

import contextlib
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from polycast.cli import streams
from polycast.errors import BadInput, ConversionError, NoSolution
from polycast.model import codec

if TYPE_CHECKING:
    from polycast.convert.converter import Stored
    from polycast.model.format import Chain, Format


class Done(msgspec.Struct, frozen=True):
    """What became of one form that was wanted: its file, or an error."""

    format: str
    runs: tuple[tuple[str, str], ...]
    output: str | None = None
    size: int | None = None
    sha256: str | None = None
    cpu_seconds: float | None = None
    error: str | None = None


LimitOption = Annotated[
    list[str] | None,
    typer.Option(envvar="POLYCAST_LIMIT", help="What one run may take, as in wall=60 or memory=4G; repeatable."),
]


def convert(
    content: Annotated[str, typer.Argument(metavar="INPUT", help="The file; - for standard input.")],
    to: Annotated[list[str], typer.Option(help="The format wanted, as in 3gp, speech or jpg-800; repeatable.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="The file to write, or a folder; - for standard output.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", help="The format of the input, where it does not tell.")
    ] = None,
    graph: Annotated[
        str | None, typer.Option(help="Choose among the operators of this content graph: a name, or a path.")
    ] = None,
    store: Annotated[str | None, typer.Option(help="A folder or URL that remembers what was converted.")] = None,
    limit: LimitOption = None,
    json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Turn a file into other forms.

    Finds the cheapest chain of operators that keeps the quality, and runs it in a sandbox. `polycast formats`
    lists what can be asked for; docs/conversion.md tells more.
    """
    from polycast.convert import routes
    from polycast.convert.converter import Converter
    from polycast.convert.pool import Pool
    from polycast.convert.store import ContentStore
    from polycast.convert.task import read_limits

    limits = read_limits(limit or [])
    with Pool(1) as pool, pool.private_folder() as folder:
        given = _given(content, folder)
        with _called(content, given):
            ways, chains = routes.find(given, to, source, graph)
        outputs = _outputs(content, [ways[name] for name in chains], out)
        with (
            Converter(ContentStore(store or folder / "store"), limits=limits, pool=pool) as converter,
            streams.progress() as show,
        ):
            told = None if show is None else streams.shares(show, "converting")
            made = converter.make(converter.store.put(given), ways, chains.values(), None, told)
            done = [_done(name, made, chain, outputs[name]) for name, chain in chains.items()]
            for one in done:
                if one.sha256 is not None:
                    streams.write_whole(converter.store.stream(one.sha256), outputs[one.format])
            first = routes.name_of_source(ways, chains)
    _report(done, first, to_stderr=out == "-", json=json)
    failures = [(name, why) for name in chains if isinstance(why := made[name], ConversionError)]
    if failures:
        said = "; ".join(f"{streams.name(content)} to {name}: {why}" for name, why in failures)
        raise type(failures[0][1])(said)


def _given(content: str, folder: Path) -> Path:
    """The input as a file."""
    if content == "-":
        given = folder / "input"
        with given.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return given
    if not Path(content).is_file():
        raise BadInput(content, "a folder, not a file" if Path(content).is_dir() else "no such file")
    return Path(content)


@contextlib.contextmanager
def _called(content: str, given: Path) -> Iterator[None]:
    """What is wrong with the input is said of it by the name that the user knows."""
    try:
        yield
    except NoSolution as error:
        raise NoSolution(f"{streams.name(content)}: {error}") from None
    except BadInput as error:
        if error.where != str(given):
            raise
        raise BadInput(streams.name(content), error.why) from None


def _outputs(content: str, forms: Sequence["Format"], out: str | None) -> dict[str, str]:
    """Where each form is written: where the user says; else beside where we are, and then never over a file."""
    if out is not None and len(forms) > 1:
        _make_folder(out)
    if out is not None and not Path(out).is_dir():
        return {form.name: out for form in forms}
    outputs = {form.name: _named(Path(out or ""), content, form, len(forms) > 1) for form in forms}
    for path in outputs.values():
        if out is None and path.exists():
            raise BadInput(str(path), f"exists already; say -o {path} to write over it, or name another file")
    return {name: str(path) for name, path in outputs.items()}


def _make_folder(out: str) -> None:
    if out == "-":
        raise BadInput(out, "several formats need a folder")
    try:
        Path(out).mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(out, f"several formats need a folder: {error.strerror}") from None


def _named(folder: Path, content: str, form: "Format", several: bool) -> Path:
    from polycast.convert import media

    stem = "output" if content == "-" else Path(content).stem
    plain = folder / f"{stem}.{media.extension(form)}"
    is_input = content != "-" and plain.exists() and plain.samefile(content)
    return plain.with_name(f"{stem}-{form.name}{plain.suffix}") if several or is_input else plain


def _done(name: str, made: Mapping[str, "Stored | ConversionError"], chain: "Chain", out: str) -> Done:
    result = made[name]
    runs = tuple((operator.source, operator.target) for operator in chain.operators)
    if isinstance(result, ConversionError):
        return Done(name, runs, error=str(result))
    spent = (made[target] for _, target in runs)
    seconds = sum(step.cpu_seconds for step in spent if not isinstance(step, ConversionError))
    return Done(name, runs, out, result.size, result.digest, seconds)


def _report(done: Sequence[Done], first: str, to_stderr: bool, json: bool) -> None:
    """Say what was done, on standard output, or on standard error where that has the content."""
    with contextlib.redirect_stdout(sys.stderr) if to_stderr else contextlib.nullcontext():
        if json:
            print(codec.encode(done).decode())
            return
        for one in done:
            if one.error is None:
                way = " → ".join((first, *(target for _, target in one.runs)))
                print(f"{one.output}: {way}, {one.size} bytes, {one.cpu_seconds:.3f} s of processor time")
