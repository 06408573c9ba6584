"""Makes the samples: a map of a wildfire with its annotations as a PDF, a few seconds of video, and readings.

python examples/samples.py FOLDER
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg

PAGE = (842, 595)
ANNOTATIONS = (
    ("Shelter A", "Open at the high school on Oak Street, 400 places, pets welcome.", (300, 380)),
    ("Road closed", "Canyon Road is closed between mile 3 and mile 9.", (520, 300)),
    ("Hospital", "County hospital, emergency entrance from the north side only.", (200, 210)),
    ("Fire front", "The fire moves south-east at two kilometres an hour.", (640, 430)),
    ("Water", "Drinking water is handed out at the fairground from 8 to 20 hours.", (420, 130)),
)


def annotated_map(path: Path) -> Path:
    """Write a one-page map: relief, roads, a river, the fire, and five notes that can be clicked and spoken."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        _page(),
        pdf_stream(_drawing().encode()),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(_note(title, words, spot).encode() for title, words, spot in ANNOTATIONS),
    ]
    path.write_bytes(pdf_file(objects))
    return path


def _page() -> bytes:
    notes = " ".join(f"{6 + number} 0 R" for number in range(len(ANNOTATIONS)))
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE[0]} {PAGE[1]}] /Contents 4 0 R "
        f"/Resources << /Font << /F1 5 0 R >> >> /Annots [{notes}] >>"
    ).encode()


def pdf_stream(data: bytes, more: bytes = b"") -> bytes:
    """An object of a PDF that holds data."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), more, data)


def _note(title: str, words: str, spot: tuple[int, int]) -> str:
    x, y = spot
    return (
        f"<< /Type /Annot /Subtype /Text /Rect [{x} {y} {x + 20} {y + 20}] /T ({title}) "
        f"/Contents ({words}) /Name /Note /C [1 0.8 0] /F 4 >>"
    )


def _drawing() -> str:
    return "\n".join([_relief(), _river(), _roads(), _fire(), _labels()])


def _relief() -> str:
    """Contour lines around two hills."""
    lines = ["0.94 0.96 0.90 rg 0 0 842 595 re f", "0.6 0.75 0.5 RG 0.5 w"]
    for centre_x, centre_y, rings in ((620, 420, 14), (180, 160, 10)):
        lines += [_ring(centre_x, centre_y, 14 + 16 * ring) for ring in range(rings)]
    return "\n".join(lines)


def _ring(x: float, y: float, radius: float) -> str:
    points = []
    for step in range(73):
        angle = math.tau * step / 72
        reach = radius * (1 + 0.12 * math.sin(3 * angle) + 0.07 * math.cos(5 * angle))
        points.append(f"{x + 1.3 * reach * math.cos(angle):.1f} {y + reach * math.sin(angle):.1f}")
    return f"{points[0]} m " + " ".join(f"{point} l" for point in points[1:]) + " s"


def _river() -> str:
    bends = " ".join(f"{x} {260 + 60 * math.sin(x / 90):.1f} l" for x in range(10, 843, 8))
    return f"0.4 0.6 0.9 RG 5 w 0 260 m {bends} S"


def _roads() -> str:
    streets = ["0.45 0.45 0.45 RG 2.5 w", "40 0 m 300 380 l 842 310 l S", "0 500 m 420 130 l 842 60 l S"]
    streets += ["1.2 w"]
    streets += [f"{x} 40 m {x + 60} 560 l S" for x in range(60, 800, 90)]
    return "\n".join(streets)


def _fire() -> str:
    return "0.9 0.3 0.1 rg 640 430 m 720 540 l 800 500 l 790 400 l 700 390 l f"


def _labels() -> str:
    lines = ["0 0 0 rg BT /F1 20 Tf 40 560 Td (Wildfire, situation at 14:00) Tj ET"]
    for title, _, (x, y) in ANNOTATIONS:
        lines.append(f"BT /F1 11 Tf {x + 24} {y + 5} Td ({title}) Tj ET")
    return "\n".join(lines)


def pdf_file(objects: list[bytes]) -> bytes:
    """A PDF of numbered objects; the first is its catalogue."""
    written = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return written + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (count, table, count, len(written))
    )


def video(path: Path, seconds: float = 4.0, size: tuple[int, int] = (1280, 720), sound: bool = True) -> Path:
    """Write a few seconds of moving test picture with a tone, as mp4 (H.264 and AAC)."""
    width, height = size
    tone = ("-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=44100:duration={seconds}") if sound else ()
    subprocess.run(
        [
            *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-y"),
            *("-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate=25:duration={seconds}"),
            *tone,
            *("-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p"),
            *("-c:a", "aac", "-b:a", "128k", "-fflags", "+bitexact", "-f", "mp4", str(path)),
        ],
        check=True,
    )
    return path


def readings(path: Path, hours: int = 240) -> Path:
    """Write what three weather stations have read every hour, as a JSON list of records."""
    records = [
        {
            "station": station,
            "hour": hour,
            "temperature": round(24 + 9 * math.sin(math.tau * (hour - 9) / 24) + shift, 1),
            "wind": round(5 + 3 * math.cos(math.tau * hour / 31) + shift / 2, 1),
            "smoke": hour % 24 > 12,
        }
        for hour in range(hours)
        for station, shift in (("oak-street", 0.0), ("lighthouse", -4.0), ("island", -2.5))
    ]
    path.write_text(json.dumps(records) + "\n")
    return path


def main(folder: str = "samples") -> None:
    """Write every sample into a folder."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    print(annotated_map(target / "map.pdf"))
    print(video(target / "clip.mp4"))
    print(readings(target / "readings.json"))


if __name__ == "__main__":
    main(*sys.argv[1:])
