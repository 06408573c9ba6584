"""Speech: text to sound (espeak-ng, whose library keeps state, so that every run has a process of its own)."""

import ctypes
import os
import re
import shutil
import wave
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import espeakng_loader

from polycast.convert import media
from polycast.convert.task import Limits, Output, Task
from polycast.convert.tools import audio, ffmpeg
from polycast.convert.tools.probe import Probe
from polycast.errors import Crashed, TooLarge, Unreadable

SYNCHRONOUS = 2
UTF8, POSITION_CHARACTER = 1, 1
DEFAULT_LANGUAGE = "en"
LANGUAGE = re.compile(r"[A-Za-z0-9-]+")
"""What a name of a language looks like; espeak-ng would take another one for that of a file."""
SPOKEN = Probe(None, None, streams=1, video=None, audio="pcm_s16le", width=0, height=0, framerate=0.0)
HEAR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def speak(task: Task) -> None:
    """Read the text aloud into every form of sound that is wanted: all of it, or its first paragraph."""
    text = _text(task.content)
    for alike in _grouped(task.outputs):
        first = alike[0].format
        alone = media.parameter(first, "part") == "annotation"
        spoken = alike[0].path.with_suffix(".wav")
        words = first_paragraph(text) if alone else text
        _apart(partial(synthesize, words, spoken, first.language, task.limits))
        _write(spoken, alike, task.limits)


def _apart(work: Callable[[], None]) -> None:
    """Do something in a process of its own; where that fails, doing it here tells why."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        work()


def _grouped(outputs: Iterable[Output]) -> Iterable[list[Output]]:
    """What is spoken alike is spoken once."""
    groups: dict[tuple[str | None, str], list[Output]] = defaultdict(list)
    for output in outputs:
        language = output.format.language or DEFAULT_LANGUAGE
        groups[media.parameter(output.format, "part"), language].append(output)
    return groups.values()


def _write(spoken: Path, outputs: Iterable[Output], limits: Limits) -> None:
    """Encode what was spoken, all forms in one run; as it is, it is a WAV."""
    tracks = []
    for output in outputs:
        if media.essence(output.format) == media.WAV:
            shutil.copyfile(spoken, output.path)
        else:
            tracks.append(ffmpeg.Track(audio.arguments(output.format, SPOKEN), output.path))
    if tracks:
        ffmpeg.run(spoken, media.WAV, tracks, limits, _nobody)
    spoken.unlink()


def _nobody(_: str) -> Callable[[float], None]:
    """Is told of the progress: speech is done before anyone could watch it."""
    return lambda _: None


def first_paragraph(text: str) -> str:
    """In the text of a map, its first annotated item."""
    return next((part for part in text.split("\n\n") if part.strip()), "")


def synthesize(text: str, path: Path, language: str | None, limits: Limits) -> None:
    """Write spoken text as 16-bit mono."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    rate = library.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    if rate <= 0:
        raise Crashed("the speech library did not start")
    language = language or DEFAULT_LANGUAGE
    if not LANGUAGE.fullmatch(language) or library.espeak_SetVoiceByName(language.lower().encode()) != 0:
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
