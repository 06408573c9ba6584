"""Sound and moving pictures: all that ffmpeg makes from one source, in one run that decodes it once."""

from collections.abc import Callable

from polycast.convert import media
from polycast.convert.task import Output, Task
from polycast.convert.tools import audio, ffmpeg, stills, video
from polycast.convert.tools.probe import Probe, checked, parsed
from polycast.errors import Unreadable
from polycast.model.format import Format

USUAL_FRAMERATE = 25.0
LARGE = 1 << 16
"""Pixels to a side, where the size is not known."""


class Unusual(Exception):
    """The content holds something else than what such content usually holds."""

    def __init__(self, held: Probe) -> None:
        self.held = held


def convert(task: Task) -> None:
    """Write every form that is wanted of a video or a sound.

    ffmpeg is started as for what such content usually holds. Only where this one holds something else is it ended
    again, before it decodes, and started anew: to ask it beforehand every time would be a second start every time.
    """
    try:
        _run(task, usual(task.source))
    except Unusual as content:
        _run(task, content.held)


def _run(task: Task, held: Probe) -> None:
    """Write every form, as the content is taken to be."""
    kind, lines = media.essence(task.source), _lines(task, held)

    def opened(said: str) -> Callable[[float], None]:
        found = checked(parsed(said), task.limits)
        if found.video is None and kind in media.VIDEOS:
            raise Unreadable("no picture in this video")
        if _lines(task, found) != lines:
            raise Unusual(found)
        length = found.duration or float("inf")
        return lambda seconds: task.progress(min(1.0, seconds / length))

    tracks = [ffmpeg.Track(line, output.path) for line, output in zip(lines, task.outputs, strict=True)]
    ffmpeg.run(task.content, kind, tracks, task.limits, opened)


def _lines(task: Task, held: Probe) -> list[list[str]]:
    return [arguments(output, held) for output in task.outputs]


def arguments(output: Output, held: Probe) -> list[str]:
    """How ffmpeg is asked for one form."""
    kind = media.essence(output.format)
    if kind in media.VIDEOS:
        return video.arguments(output.format, held)
    if kind in media.PICTURES:
        return stills.arguments(output.format, held)
    return audio.arguments(output.format, held)


def usual(source: Format) -> Probe:
    """What content of a form holds for the most part."""
    moving = media.essence(source) in media.VIDEOS
    codecs = video.codecs_of(source) if moving else None
    return Probe(
        duration=1.0,
        bitrate=source.bitrate,
        streams=2 if moving else 1,
        video=codecs.video_held if codecs else None,
        audio=codecs.audio_held if codecs else "any",
        width=source.width or LARGE,
        height=source.height or LARGE,
        framerate=source.framerate or USUAL_FRAMERATE,
    )
