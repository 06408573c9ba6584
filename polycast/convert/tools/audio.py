"""Sound: WAV, MP3, Opus, AAC and AMR among each other, and the sound of a video (ffmpeg)."""

from typing import NamedTuple

from polycast.convert import media
from polycast.convert.tools.probe import Probe
from polycast.errors import Unreadable
from polycast.model.format import Format


class Sound(NamedTuple):
    """How sound is written in one kind of file."""

    codec: str
    muxer: str
    bitrate: int | None
    more: tuple[str, ...] = ()


SOUNDS = {
    media.WAV: Sound("pcm_s16le", "wav", None),
    media.MP3: Sound("libmp3lame", "mp3", 128_000),
    media.OPUS: Sound("libopus", "ogg", 64_000),
    media.AAC: Sound("aac", "adts", 96_000),
    media.AMR: Sound("libopencore_amrnb", "amr", 12_200, ("-ar", "8000", "-ac", "1")),
}
AMR_BITRATES = (4_750, 5_150, 5_900, 6_700, 7_400, 7_950, 10_200, 12_200)


def arguments(format: Format, held: Probe) -> list[str]:
    """How ffmpeg is asked for one form of sound."""
    if held.audio is None:
        raise Unreadable("no sound in it")
    sound = SOUNDS[media.essence(format)]
    line = ["-map", "0:a:0", "-vn", "-sn", "-dn", "-c:a", sound.codec, *sound.more]
    if sound.bitrate is not None:
        line += ["-b:a", str(_bitrate(format, sound.bitrate))]
    return [*line, "-f", sound.muxer]


def _bitrate(format: Format, usual: int) -> int:
    wanted = round(format.bitrate or usual)
    if media.essence(format) == media.AMR:  # it knows a few rates only: the highest that is not above
        return max((rate for rate in AMR_BITRATES if rate <= wanted), default=AMR_BITRATES[0])
    return wanted
