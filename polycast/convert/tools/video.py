"""Video: mp4, avi, flv, 3gp and webm among each other, smaller and at other bit rates (ffmpeg)."""

from typing import NamedTuple

from polycast.convert import media
from polycast.convert.task import Output, Task
from polycast.convert.tools import ffmpeg
from polycast.convert.tools.ffmpeg import Probe, Track
from polycast.errors import Unreadable
from polycast.model.format import Format


class Codecs(NamedTuple):
    """How picture and sound are written in one kind of container."""

    video: str
    audio: str
    audio_bitrate: int
    picture: tuple[str, ...]
    picture_freely: tuple[str, ...]
    """What stands for the bit rate where none is asked."""
    sound: tuple[str, ...] = ()


H264 = Codecs(
    "libx264",
    "aac",
    96_000,
    ("-preset", "veryfast", "-profile:v", "main", "-movflags", "+faststart"),
    ("-crf", "23"),
)
MPEG4 = Codecs("mpeg4", "libmp3lame", 96_000, (), ("-q:v", "4"), ("-ar", "44100"))
SORENSON = Codecs("flv", "libmp3lame", 96_000, (), ("-q:v", "4"), ("-ar", "44100"))
PHONE = Codecs("mpeg4", "aac", 48_000, (), ("-q:v", "5"), ("-ac", "1"))
OLD_PHONE = Codecs("h263", "libopencore_amrnb", 12_200, (), ("-q:v", "6"), ("-ar", "8000", "-ac", "1"))
VP9 = Codecs(
    "libvpx-vp9", "libopus", 64_000, ("-deadline", "realtime", "-cpu-used", "8"), ("-crf", "33", "-b:v", "0")
)

CONTAINERS = {media.MP4: H264, media.AVI: MPEG4, media.FLV: SORENSON, media.THREEGP: PHONE, media.WEBM: VP9}
MUXERS = {media.MP4: "mp4", media.AVI: "avi", media.FLV: "flv", media.THREEGP: "3gp", media.WEBM: "webm"}
H263_SIZES = ((128, 96), (176, 144), (352, 288), (704, 576))
LEAST_PICTURE_BITRATE = 20_000


def convert(task: Task) -> None:
    """Decode the video once, and write it in every form that is wanted."""
    held = ffmpeg.probe(task.content, media.essence(task.source), task.limits)
    if held.video is None:
        raise Unreadable("no picture in this video")
    ffmpeg.convert(task, held, [Track(arguments(output, held), output.path) for output in task.outputs])


def arguments(output: Output, held: Probe) -> list[str]:
    """How ffmpeg is asked for one form."""
    format = output.format
    kind = media.essence(format)
    codecs = codecs_of(format)
    line = ["-map", "0:v:0", "-map", "0:a:0?", "-c:v", codecs.video, *codecs.picture, "-pix_fmt", "yuv420p"]
    line += ["-vf", ",".join(_filters(format, codecs)), *_bitrate(format, codecs, held)]
    line += ["-c:a", codecs.audio, "-b:a", str(codecs.audio_bitrate), *codecs.sound]
    return [*line, "-sn", "-dn", "-f", MUXERS[kind]]


def codecs_of(format: Format) -> Codecs:
    """The codecs of a form: those of its container, unless its media type names the old phones' H.263."""
    named = media.parameter(format, "codecs") or ""
    if media.essence(format) == media.THREEGP and named.startswith("s263"):
        return OLD_PHONE
    return CONTAINERS[media.essence(format)]


def _filters(format: Format, codecs: Codecs) -> list[str]:
    filters = [f"fps='min({format.framerate},source_fps)'"] if format.framerate else []
    if codecs is OLD_PHONE:
        width, height = _h263_size(format)
        fit = f"scale='min(iw,{width})':'min(ih,{height})':force_original_aspect_ratio=decrease"
        return [*filters, fit, f"pad={width}:{height}:-1:-1", "setsar=1"]
    box = f"w='min(iw,{format.width or 'iw'})':h='min(ih,{format.height or 'ih'})'"
    return [*filters, f"scale={box}:force_original_aspect_ratio=decrease:force_divisible_by=2", "setsar=1"]


def _h263_size(format: Format) -> tuple[int, int]:
    """H.263 knows a few sizes only: the largest one that fits."""
    wanted = format.height or 144
    return max((size for size in H263_SIZES if size[1] <= wanted), default=H263_SIZES[0])


def _bitrate(format: Format, codecs: Codecs, held: Probe) -> tuple[str, ...]:
    if format.bitrate is None:
        return codecs.picture_freely
    sound = codecs.audio_bitrate if held.audio else 0
    picture = max(LEAST_PICTURE_BITRATE, round(format.bitrate) - sound)
    return ("-b:v", str(picture), "-maxrate", str(2 * picture), "-bufsize", str(2 * picture))
