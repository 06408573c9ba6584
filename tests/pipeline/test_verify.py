"""The verification of the demo finds what is wrong."""

import wave
from pathlib import Path

import pytest
from PIL import Image

from examples import samples, verify
from polycast.model.format import Format

JPEG = Format(name="jpg", size=0.1, media_type="image/jpeg", width=640)
MP4 = Format(name="mp4", size=1.0, media_type="video/mp4", width=64, height=48)


def picture(path: Path, size: tuple[int, int], kind: str = "JPEG", blank: bool = False) -> Path:
    image = Image.new("RGB", size, "white") if blank else Image.linear_gradient("L").resize(size)
    image.save(path, kind)
    return path


def sound(path: Path, sample: bytes, seconds: float) -> Path:
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        out.writeframes(sample * int(8000 * seconds))
    return path


def test_what_is_right(tmp_path: Path) -> None:
    assert verify.opened(picture(tmp_path / "a", (640, 480)), JPEG) == "JPEG, 640 × 480"
    assert "64 × 48" in verify.opened(samples.video(tmp_path / "b.mp4", 1.0, (64, 48)), MP4)
    assert verify.sound(sound(tmp_path / "c", b"\x00\x20", 1.0)) == "speech of 1.0 s"
    assert verify.document(samples.annotated_map(tmp_path / "d")) == "PDF, 1 page"


def test_what_is_wrong(tmp_path: Path) -> None:
    torn = tmp_path / "torn"
    torn.write_bytes(picture(tmp_path / "whole", (640, 480)).read_bytes()[:2000])
    nothing = tmp_path / "nothing"
    nothing.write_bytes(b"")
    wrong = [
        lambda: verify.picture(picture(tmp_path / "narrow", (320, 240)), JPEG),
        lambda: verify.picture(picture(tmp_path / "png", (640, 480), "PNG"), JPEG),
        lambda: verify.picture(picture(tmp_path / "blank", (640, 480), blank=True), JPEG),
        lambda: verify.picture(torn, JPEG),
        lambda: verify.video(samples.video(tmp_path / "small.mp4", 1.0, (32, 24)), MP4),
        lambda: verify.video(torn, MP4),
        lambda: verify.sound(sound(tmp_path / "silent", b"\0\0", 1.0)),
        lambda: verify.sound(sound(tmp_path / "short", b"\x00\x20", 0.1)),
        lambda: verify.sound(torn),
        lambda: verify.document(torn),
        lambda: verify.text(torn),
        lambda: verify.text(nothing),
    ]
    for look in wrong:
        with pytest.raises(verify.NotAsSaid):
            look()
