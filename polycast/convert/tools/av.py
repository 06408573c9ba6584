"""Sound and moving pictures: all that ffmpeg makes from one source, in one run that decodes it once."""

from collections.abc import Callable

from polycast.convert import media
from polycast.convert.task import Output, Task
from polycast.convert.tools import audio, ffmpeg, stills, video
from polycast.convert.tools.probe import Probe, probe
from polycast.errors import Unreadable


def convert(task: Task) -> None:
    """Write every form that is wanted of a video or a sound."""
    held = probe(task.content, media.essence(task.source), task.limits)
    if held.video is None and media.essence(task.source) in media.VIDEOS:
        raise Unreadable("no picture in this video")
    tracks = [ffmpeg.Track(arguments(output, held), output.path) for output in task.outputs]
    ffmpeg.run(task.content, media.essence(task.source), tracks, task.limits, _teller(task, held))


def arguments(output: Output, held: Probe) -> list[str]:
    """How ffmpeg is asked for one form."""
    kind = media.essence(output.format)
    if kind in media.VIDEOS:
        return video.arguments(output.format, held)
    if kind in media.PICTURES:
        return stills.arguments(output.format, held)
    return audio.arguments(output.format, held)


def _teller(task: Task, held: Probe) -> Callable[[float], None]:
    length = held.duration or float("inf")
    return lambda seconds: task.progress(min(1.0, seconds / length))
