"""Speech: text to sound (espeak-ng, whose library keeps state, so that every run has a process of its own)."""

import ctypes
import wave
from pathlib import Path

import espeakng_loader

from polycast.convert import media
from polycast.convert.task import Limits, Output, Task
from polycast.convert.tools import audio, ffmpeg
from polycast.convert.tools.probe import probe
from polycast.errors import Crashed, TooLarge, Unreadable
from polycast.model.format import Format

SYNCHRONOUS = 2
UTF8, POSITION_CHARACTER = 1, 1
DEFAULT_LANGUAGE = "en"
HEAR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def speak(task: Task) -> None:
    """Read the text aloud into every form of sound that is wanted: all of it, or its first paragraph."""
    text = _text(task.content)
    for output in task.outputs:
        alone = media.parameter(output.format, "part") == "annotation"
        words = first_paragraph(text) if alone else text
        if media.essence(output.format) == media.WAV:
            synthesize(words, output.path, output.format, task.limits)
        else:
            _encoded(words, output, task.limits)


def _encoded(words: str, output: Output, limits: Limits) -> None:
    spoken = output.path.with_suffix(".wav")
    synthesize(words, spoken, output.format, limits)
    held = probe(spoken, media.WAV, limits)
    track = ffmpeg.Track(audio.arguments(output.format, held), output.path)
    ffmpeg.run(spoken, media.WAV, [track], limits, _ignore)
    spoken.unlink()


def _ignore(seconds: float) -> None:
    """Speech is done before anyone could watch its progress."""


def first_paragraph(text: str) -> str:
    """In the text of a map, its first annotated item."""
    return next((part for part in text.split("\n\n") if part.strip()), "")


def synthesize(text: str, path: Path, format: Format, limits: Limits) -> None:
    """Write spoken text as 16-bit mono."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    rate = library.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    if rate <= 0:
        raise Crashed("the speech library did not start")
    language = format.language or DEFAULT_LANGUAGE
    if library.espeak_SetVoiceByName(language.lower().encode()) != 0:
        raise Unreadable(f'no voice speaks "{language}"')
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        _say(library, text, out, round(limits.duration * rate))


def _say(library: ctypes.CDLL, text: str, out: wave.Wave_write, most: int) -> None:
    @HEAR  # type: ignore[untyped-decorator]
    def hear(samples: "ctypes._Pointer[ctypes.c_short]", count: int, _: object) -> int:
        if samples and count > 0:
            out.writeframesraw(ctypes.string_at(samples, 2 * count))
        return int(out.tell() > most)

    words = text.encode()
    library.espeak_SetSynthCallback(hear)
    library.espeak_Synth(words, len(words) + 1, 0, POSITION_CHARACTER, 0, UTF8, None, None)
    library.espeak_Synchronize()
    if out.tell() > most:
        raise TooLarge("the speech is longer than the duration allowed")


def _text(content: Path) -> str:
    try:
        text = content.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 text: {error.reason} at byte {error.start}") from None
    if "\0" in text:
        raise Unreadable("not text: it has a zero byte")
    if not text.strip():
        raise Unreadable("no words in this text")
    return text
