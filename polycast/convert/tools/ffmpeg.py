"""The ffmpeg program: one run that reads one file and makes many outputs, without network, scripts or shell."""

import re
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from polycast.convert import media
from polycast.convert.task import Limits
from polycast.errors import ConversionError, Crashed, Timeout, TooLarge, Unreadable

# The one reader that may open a file of each declared type: no playlist or script is ever followed.
READERS = {
    media.MP4: "mov",
    media.THREEGP: "mov",
    media.AVI: "avi",
    media.FLV: "flv",
    media.WEBM: "matroska",
    media.WAV: "wav",
    media.MP3: "mp3",
    media.OPUS: "ogg",
    media.AAC: "aac",
    media.AMR: "amr",
}
_COMPLAINT = re.compile(r"^(\[[^]]* @ [^]]*\] )?\[(?:error|fatal|panic)\] (.+)$", re.M)
SAME_BYTES_FROM_SAME_CONTENT = ("-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact")


def _program() -> str:
    """The ffmpeg to run, or nothing: spoken WAV does without."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return ""


PROGRAM = _program()
"""Looked for when the tool is loaded and not in every run, because it is tried out."""


OPENED = "Input #0"
BEGINS = "[info] Stream mapping:"
"""What ffmpeg says when it has opened everything and is about to begin."""
Opened = Callable[[str], Callable[[float], None]]
"""Is given what ffmpeg says of the content before it begins; what is raised then ends the run. What it returns is
told now and then how many seconds of media are done."""


class Track(NamedTuple):
    """One output of a run: its arguments, and its file."""

    arguments: Sequence[str]
    path: Path


def run(content: Path, kind: str, tracks: Sequence[Track], limits: Limits, opened: Opened) -> None:
    """Decode once, and write every track."""
    command = [*opening(content, kind, limits), "-y", "-progress", "pipe:1"]
    for track in tracks:
        command += [*track.arguments, *SAME_BYTES_FROM_SAME_CONTENT, "-threads", str(limits.threads)]
        command += ["-t", str(limits.duration), f"file:{track.path}"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        lines = (line.decode("utf-8", "replace").rstrip() for line in process.stdout)
        try:
            said, begun = _beginning(lines)
            told = opened(said) if OPENED in said else None
            if begun and told:
                said = _listen(lines, told)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise failure(process.returncode, said)
    if not told:
        raise Crashed("ffmpeg does not say what it reads")


def opening(content: Path, kind: str, limits: Limits) -> list[str]:
    """The part of a command that opens the content."""
    if not PROGRAM:
        raise Crashed("there is no ffmpeg here")
    reader, threads = READERS[kind], str(limits.threads)
    return [
        *(PROGRAM, "-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+info"),
        *("-protocol_whitelist", "file", "-format_whitelist", reader, "-max_pixels", str(limits.pixels)),
        *("-threads", threads, "-filter_threads", threads, "-f", reader, "-i", f"file:{content}"),
    ]


def failure(code: int, said: str) -> ConversionError:
    """Why ffmpeg gave up, in the words of our errors."""
    if code == -signal.SIGXCPU:
        return Timeout("more processor time than allowed")
    if code == -signal.SIGXFSZ or "File too large" in said:
        return TooLarge("more output than allowed")
    if "Cannot allocate memory" in said:
        return TooLarge("more memory than allowed")
    if code < 0:
        return Crashed(f"ffmpeg was ended by {signal.Signals(-code).name}")
    return Unreadable(f"ffmpeg cannot read it: {_reason(said)}")


def _beginning(lines: Iterator[str]) -> tuple[str, bool]:
    """All that is said before the run begins, and whether it does."""
    said: list[str] = []
    for line in lines:
        if line == BEGINS:
            return "\n".join(said), True
        said.append(line)
    return "\n".join(said), False


def _listen(lines: Iterator[str], told: Callable[[float], None]) -> str:
    """Pass on how far the run is; keep the last of its complaints."""
    said: deque[str] = deque(maxlen=40)
    for line in lines:
        name, _, value = line.partition("=")
        if name == "out_time_us":
            told(int(value) / 1e6 if value.isdigit() else 0.0)
        elif _COMPLAINT.match(line):
            said.append(line)
    return "\n".join(said)


def _reason(said: str) -> str:
    """The first complaint of a part of ffmpeg, whose name stands before it; else its last word."""
    complaints = _COMPLAINT.findall(said)
    lines = [words for part, words in complaints if part][:1] or [words for _, words in complaints][-1:]
    return (lines or said.strip().split("\n"))[-1].strip()[:200] or "it does not say why"
