"""Video: mp4, avi, flv, 3gp and webm among each other, smaller and at other bit rates (ffmpeg)."""

import math
from typing import NamedTuple

from polycast.convert import media
from polycast.convert.tools.probe import Probe
from polycast.errors import Unreadable
from polycast.model.format import Format


class Codecs(NamedTuple):
    """How picture and sound are written in one kind of container, and what ffmpeg calls them when it reads them.

    ``freely`` stands for the bit rate where none is asked.
    """

    video: str
    video_held: str
    picture: tuple[str, ...]
    freely: tuple[str, ...]
    audio: str
    audio_held: str
    audio_bitrate: int
    sound: tuple[str, ...] = ()
    container: tuple[str, ...] = ()


H264 = Codecs(
    video="libx264",
    video_held="h264",
    picture=("-preset", "veryfast", "-profile:v", "main"),
    freely=("-crf", "23"),
    audio="aac",
    audio_held="aac",
    audio_bitrate=96_000,
    container=("-movflags", "+faststart"),
)
MPEG4 = Codecs(
    video="mpeg4",
    video_held="mpeg4",
    picture=(),
    freely=("-q:v", "4"),
    audio="libmp3lame",
    audio_held="mp3",
    audio_bitrate=96_000,
    sound=("-ar", "44100"),
)
SORENSON = MPEG4._replace(video="flv", video_held="flv1")
PHONE = MPEG4._replace(
    freely=("-q:v", "5"), audio="aac", audio_held="aac", audio_bitrate=48_000, sound=("-ac", "1")
)
OLD_PHONE = Codecs(
    video="h263",
    video_held="h263",
    picture=(),
    freely=("-q:v", "6"),
    audio="libopencore_amrnb",
    audio_held="amr_nb",
    audio_bitrate=12_200,
    sound=("-ar", "8000", "-ac", "1"),
)
VP9 = Codecs(
    video="libvpx-vp9",
    video_held="vp9",
    picture=("-deadline", "realtime", "-cpu-used", "8"),
    freely=("-crf", "33", "-b:v", "0"),
    audio="libopus",
    audio_held="opus",
    audio_bitrate=64_000,
)

CONTAINERS = {media.MP4: H264, media.AVI: MPEG4, media.FLV: SORENSON, media.THREEGP: PHONE, media.WEBM: VP9}
MUXERS = {media.MP4: "mp4", media.AVI: "avi", media.FLV: "flv", media.THREEGP: "3gp", media.WEBM: "webm"}
H263_SIZES = ((128, 96), (176, 144), (352, 288), (704, 576))
LEAST_PICTURE_BITRATE = 20_000
SLOWEST = 0.01
"""Frames per second below which no buffer is made larger."""


def arguments(format: Format, held: Probe) -> list[str]:
    """How ffmpeg is asked for one form of video. What already is as wanted is copied, not written anew."""
    if held.video is None:
        raise Unreadable("no picture in it")
    codecs = codecs_of(format)
    line = ["-map", "0:v:0", "-map", "0:a:0?", "-sn", "-dn"]
    line += ["-c:v", "copy"] if _is_as_wanted(format, codecs, held) else _picture(format, codecs, held)
    line += ["-c:a", "copy"] if held.audio == codecs.audio_held else _sound(codecs)
    return [*line, *codecs.container, "-f", MUXERS[media.essence(format)]]


def may_copy(source: Format, target: Format) -> bool:
    """Whether the picture of one form may already be as the other one wants it, so that nothing is encoded."""
    return (
        codecs_of(source).video_held == codecs_of(target).video_held
        and (source.width or math.inf) <= (target.width or math.inf)
        and (source.height or math.inf) <= (target.height or math.inf)
    )


def _is_as_wanted(format: Format, codecs: Codecs, held: Probe) -> bool:
    return (
        held.video == codecs.video_held
        and held.width <= (format.width or held.width)
        and held.height <= (format.height or held.height)
        and held.framerate <= (format.framerate or held.framerate)
        and (format.bitrate is None or (held.bitrate or math.inf) <= format.bitrate)
    )


def _picture(format: Format, codecs: Codecs, held: Probe) -> list[str]:
    line = ["-c:v", codecs.video, *codecs.picture, "-pix_fmt", "yuv420p"]
    return [*line, "-vf", ",".join(_filters(format, codecs)), *_bitrate(format, codecs, held)]


def _sound(codecs: Codecs) -> list[str]:
    return ["-c:a", codecs.audio, "-b:a", str(codecs.audio_bitrate), *codecs.sound]


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
        return codecs.freely
    sound = codecs.audio_bitrate if held.audio else 0
    picture = max(LEAST_PICTURE_BITRATE, round(format.bitrate) - sound)
    buffer = round(2 * picture * max(1.0, 1.0 / max(held.framerate, SLOWEST)))
    return ("-b:v", str(picture), "-maxrate", str(2 * picture), "-bufsize", str(buffer))
