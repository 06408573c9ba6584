"""Pictures of a video: a poster, or a contact sheet of sixteen moments (ffmpeg)."""

from polycast.convert import media
from polycast.convert.tools.probe import Probe
from polycast.errors import Unreadable
from polycast.model.format import Format

ENCODERS = {
    media.JPEG: ("-c:v", "mjpeg", "-q:v", "3", "-pix_fmt", "yuvj420p"),
    media.PNG: ("-c:v", "png"),
    media.WEBP: ("-c:v", "libwebp", "-quality", "85"),
}
CONTACT_SHEET = "contact-sheet"
SIDE = 4
"""Moments in a row and in a column of a contact sheet."""
CANDIDATES = 50
"""Frames from which the poster is chosen: the one that is most like all of them."""


def arguments(format: Format, held: Probe) -> list[str]:
    """How ffmpeg is asked for one picture of a video."""
    if held.video is None:
        raise Unreadable("no picture in it")
    sheet = media.parameter(format, "part") == CONTACT_SHEET
    filters = _sheet(format, held) if sheet else f"thumbnail={CANDIDATES},{_fit(format, 1)}"
    line = ["-map", "0:v:0", "-an", "-sn", "-dn", "-vf", filters, "-frames:v", "1", "-update", "1"]
    line += ["-flags:v", "+bitexact"]  # without the name of the encoder
    return [*line, *ENCODERS[media.essence(format)], "-f", "image2"]


def _sheet(format: Format, held: Probe) -> str:
    if not held.duration:
        raise Unreadable("a video of unknown length has no contact sheet")
    return f"fps={SIDE * SIDE / held.duration:.6f}:round=up,{_fit(format, SIDE)},tile={SIDE}x{SIDE}"


def _fit(format: Format, parts: int) -> str:
    box = (f"'min(iw,{side // parts})'" if side else f"{axis}/{parts}" for side, axis in _sides(format))
    return f"scale={':'.join(box)}:force_original_aspect_ratio=decrease:force_divisible_by=2,setsar=1"


def _sides(format: Format) -> tuple[tuple[int | None, str], tuple[int | None, str]]:
    return (format.width, "iw"), (format.height, "ih")
