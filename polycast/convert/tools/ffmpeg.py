"""The ffmpeg program: what a file holds, and one run that makes many outputs, always without network or shell."""

import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import imageio_ffmpeg

from polycast.convert import media
from polycast.convert.task import Limits, Task
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

_DURATION = re.compile(r"^  Duration: (\d+):(\d+):([\d.]+)", re.M)
_STREAM = re.compile(r"^  Stream #0:\d+.*?: (Video|Audio|Subtitle|Data|Attachment): (\w+)(.*)$", re.M)
_SIZE = re.compile(r"\b(\d{1,6})x(\d{1,6})\b")
_FRAMERATE = re.compile(r"([\d.]+) fps")


class Probe(NamedTuple):
    """What a file of media announces before anything of it is decoded."""

    duration: float | None
    streams: int
    video: str | None
    audio: str | None
    width: int
    height: int
    framerate: float


class Track(NamedTuple):
    """One output of a run: its arguments, and its file."""

    arguments: Sequence[str]
    path: Path


def probe(content: Path, kind: str, limits: Limits) -> Probe:
    """Read what a file holds, and refuse what breaks the limits or is not what it says."""
    run = subprocess.run(
        _opening(content, kind, limits), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    text = run.stderr.decode("utf-8", "replace")
    if "Input #0" not in text:
        raise Unreadable(f"not a {kind} that can be read: {_reason(text)}")
    return _checked(_parsed(text), limits)


def convert(task: Task, held: Probe, tracks: Sequence[Track]) -> None:
    """Decode once, and write every track."""
    limits = task.limits
    command = [*_opening(task.content, media.essence(task.source), limits), "-y", "-progress", "pipe:1"]
    for track in tracks:
        command += [*track.arguments, "-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact"]
        command += ["-threads", str(limits.threads), "-t", str(limits.duration), f"file:{track.path}"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            _tell(task, held, line)
        complaint = process.stderr.read()
    if process.returncode != 0:
        raise _failure(process.returncode, complaint)


def _failure(code: int, complaint: str) -> ConversionError:
    """Why ffmpeg gave up, in the words of our errors."""
    if code == -signal.SIGXCPU:
        return Timeout("more processor time than allowed")
    if code == -signal.SIGXFSZ or "File too large" in complaint:
        return TooLarge("more output than allowed")
    if "Cannot allocate memory" in complaint:
        return TooLarge("more memory than allowed")
    if code < 0:
        return Crashed(f"ffmpeg was ended by {signal.Signals(-code).name}")
    return Unreadable(f"ffmpeg cannot convert it: {_reason(complaint)}")


def _tell(task: Task, held: Probe, line: str) -> None:
    name, _, value = line.strip().partition("=")
    if name == "out_time_us" and value.isdigit() and held.duration:
        task.progress(min(1.0, int(value) / 1e6 / held.duration))


def _opening(content: Path, kind: str, limits: Limits) -> list[str]:
    reader = READERS[kind]
    return [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-nostdin", "-loglevel", "info", "-nostats"),
        *("-protocol_whitelist", "file", "-format_whitelist", reader, "-max_pixels", str(limits.pixels)),
        *("-threads", str(limits.threads), "-filter_threads", str(limits.threads)),
        *("-f", reader, "-i", f"file:{content}"),
    ]


def _parsed(text: str) -> Probe:
    streams = _STREAM.findall(text)
    first = {kind: (codec, rest) for kind, codec, rest in reversed(streams)}
    video, audio = first.get("Video", (None, "")), first.get("Audio", (None, ""))
    size, rate, length = _SIZE.search(video[1]), _FRAMERATE.search(video[1]), _DURATION.search(text)
    return Probe(
        duration=length and int(length[1]) * 3600 + int(length[2]) * 60 + float(length[3]),
        streams=len(streams),
        video=video[0],
        audio=audio[0],
        width=int(size[1]) if size else 0,
        height=int(size[2]) if size else 0,
        framerate=float(rate[1]) if rate else 0.0,
    )


def _checked(held: Probe, limits: Limits) -> Probe:
    if held.video is None and held.audio is None:
        raise Unreadable("neither picture nor sound in it")
    if held.streams > limits.streams:
        raise TooLarge(f"{held.streams} tracks are more than {limits.streams}")
    if held.width * held.height > limits.pixels:
        raise TooLarge(f"{held.width} × {held.height} is more than {limits.pixels} pixels")
    if held.duration is not None and held.duration > limits.duration:
        raise TooLarge(f"{held.duration:.0f} s are more than {limits.duration:.0f} s")
    if held.duration is not None and held.duration * held.framerate > limits.frames:
        raise TooLarge(f"{held.duration * held.framerate:.0f} frames are more than {limits.frames}")
    return held


def _reason(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "the tool says nothing"
