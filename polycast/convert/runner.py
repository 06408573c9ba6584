"""One run of one tool, start to end: the content in, files and what they cost out."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from polycast.convert import registry
from polycast.convert.messages import Answer, Request
from polycast.convert.pool import Pool
from polycast.convert.task import Limits
from polycast.errors import Crashed, TooLarge
from polycast.model.format import Format


class Made(NamedTuple):
    """What one run has made: a file for every form, in the order asked; gone when the run is left."""

    paths: tuple[Path, ...]
    answer: Answer


@contextmanager
def made(
    pool: Pool,
    source: Format,
    targets: Sequence[Format],
    content: Path,
    limits: Limits,
    cancelled: threading.Event | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Made]:
    """Have one run of one tool make every target; the files stay for as long as the context."""
    entry = _one_entry(source, targets)
    size = content.stat().st_size
    if size > limits.input:
        raise TooLarge(f"{size} bytes of content are more than {limits.input}")
    with pool.private_folder() as folder:
        request = Request(entry, str(content.resolve()), source, tuple(targets), str(folder), limits)
        answer = pool.run(request, cancelled, progress).check()
        paths = tuple(folder / f"output-{number}" for number in range(len(targets)))
        for format, path in zip(targets, paths, strict=True):
            if path.is_symlink() or not path.is_file():
                raise Crashed(f'the tool wrote no "{format.name}"')
        if sum(path.stat().st_size for path in paths) >= limits.output:  # the system cuts files at the limit
            raise TooLarge(f"more than {limits.output} bytes written")
        yield Made(paths, answer)


def _one_entry(source: Format, targets: Sequence[Format]) -> str:
    entries = {registry.find(source, target).entry for target in targets}
    if len(entries) != 1:
        raise ValueError("one run takes one tool")
    return entries.pop()
