"""What a file of media announces, asked of ffmpeg before anything is decoded, and checked against the limits."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from polycast.convert.task import Limits
from polycast.convert.tools import ffmpeg
from polycast.errors import TooLarge, Unreadable

_DURATION = re.compile(r"^\[info\]   Duration: (\d+):(\d+):([\d.]+)", re.M)
_BITRATE = re.compile(r"^\[info\]   Duration: .*bitrate: (\d+) kb/s", re.M)
_STREAM = re.compile(r"^\[info\]   Stream #0:\d+.*?: (Video|Audio|Subtitle|Data|Attachment): (\w+)(.*)$", re.M)
_SIZE = re.compile(r"\b(\d{1,6})x(\d{1,6})\b")
_FRAMERATE = re.compile(r"([\d.]+)(k?) (?:fps|tbr)")


class Probe(NamedTuple):
    """What a file of media announces. What it does not say is None."""

    duration: float | None
    bitrate: float | None
    streams: int
    video: str | None
    audio: str | None
    width: int
    height: int
    framerate: float


def probe(content: Path, kind: str, limits: Limits) -> Probe:
    """Read what a file holds, and refuse what breaks the limits or is not what it says."""
    run = subprocess.run(
        ffmpeg.opening(content, kind, limits), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    text = run.stderr.decode("utf-8", "replace")
    if ffmpeg.OPENED not in text:
        raise ffmpeg.failure(min(run.returncode, 0), text)
    return checked(parsed(text), limits)


def parsed(text: str) -> Probe:
    """What ffmpeg says of its input."""
    streams = _STREAM.findall(text)
    first = {kind: (codec, rest) for kind, codec, rest in reversed(streams)}
    video, audio = first.get("Video", (None, "")), first.get("Audio", (None, ""))
    size, rate = _SIZE.search(video[1]), _FRAMERATE.search(video[1])
    length, bits = _DURATION.search(text), _BITRATE.search(text)
    return Probe(
        duration=length and int(length[1]) * 3600 + int(length[2]) * 60 + float(length[3]),
        bitrate=bits and float(bits[1]) * 1000,
        streams=len(streams),
        video=video[0],
        audio=audio[0],
        width=int(size[1]) if size else 0,
        height=int(size[2]) if size else 0,
        framerate=float(rate[1]) * (1000 if rate[2] else 1) if rate else 0.0,
    )


def checked(held: Probe, limits: Limits) -> Probe:
    """What a file holds, if it keeps the limits."""
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
