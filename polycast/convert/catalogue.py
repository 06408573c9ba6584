"""Which forms there are, by name, and the rule that no conversion makes a form look better than it is."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from polycast.convert import forms, magic, media, registry
from polycast.errors import BadInput
from polycast.model.format import Format

_ALIASES = {"jpeg": "jpg", "txt": "text", "ogg": "opus", "jsonl": "json"}


@cache
def formats() -> tuple[Format, ...]:
    """Every form with a name of its own: ours, and those that other packages bring."""
    brought = {format.name: format for format in (*forms.all_forms(), *registry.formats())}
    return tuple(brought.values())


def named(name: str) -> Format:
    """A form by its name, or by its media type.

    To a picture or a video a size can be added, as in ``jpg-800`` or ``mp4-600p``; to a picture that is drawn from
    a page, its fineness, as in ``png-300dpi``; to a video or a sound, its bit rate, as in ``mp4-600-800k``; to
    speech, its language, as in ``speech-de``.
    """
    asked = name.strip().lower().removeprefix(".")
    known = {format.name: format for format in formats()}
    if "/" in asked:
        return of_media_type(asked)
    kind, *more = asked.split("-")
    kind = _ALIASES.get(kind, kind)
    asked = "-".join((kind, *more))
    if asked in known:
        return known[asked]
    format = _adjusted(known.get(kind), more)
    if format is None:
        raise _unknown(name, known, more)
    return replace(format, name=asked)


def of_media_type(media_type: str) -> Format:
    """The form that stands for content of a media type, of any size; a new one, if no form has that type."""
    asked = Format(name=media_type, size=None, media_type=media_type)
    kind, part = media.essence(asked), media.parameter(asked, "part")
    for format in formats():
        alike = (media.essence(format), media.parameter(format, "part")) == (kind, part)
        if alike and not (format.width or format.bitrate):
            return format
    if not any(kind in (*tool.sources, *tool.targets) for tool in registry.tools()):
        raise BadInput("format", f"no tool reads or writes {kind}; `polycast operators` lists them")
    return asked


def of_file(content: Path) -> Format:
    """The form that a file seems to have, by its first bytes, or else by its name."""
    try:
        kind = magic.guess(content) or media.of_name(content) or magic.guess_words(content)
    except OSError as error:
        raise BadInput(str(content), error.strerror or str(error)) from None
    if kind is None:
        raise BadInput(str(content), "neither its bytes nor its name tell what it is; name its format")
    try:
        return of_media_type(kind)
    except BadInput as error:
        raise BadInput(str(content), error.why) from None


def keeps(source: Format, target: Format) -> bool:
    """Whether the target asks for nothing that the source has lost: no larger picture, no better quality.

    Qualities are compared among forms of one kind only: a poster of a video is another thing than the video.
    Within a kind, a form without a size is as large as what was published: nothing made smaller becomes it.
    """
    alike = media.kind(source) == media.kind(target)
    return not (
        _rises(source.width, target.width, alike)
        or _rises(source.height, target.height, alike)
        or _rises(source.framerate, target.framerate, alike)
        or (alike and _rises(source.quality, target.quality, False))
    )


def allows(source: Format, target: Format) -> bool:
    """Whether there is an operator from the one form to the other."""
    drawn = target.dpi is None or media.kind(source) == "application"
    spoken = target.language in (None, source.language) or media.kind(source) == "text"
    sound = source.name != target.name and drawn and spoken
    return sound and keeps(source, target) and registry.exists(source, target)


def pairs(among: Iterable[Format]) -> Iterator[tuple[Format, Format]]:
    """Every operator among some forms."""
    among = tuple(among)
    return ((source, target) for source in among for target in among if allows(source, target))


def _rises(before: float | None, after: float | None, unbounded: bool) -> bool:
    """Whether a figure grows; ``unbounded``: one that is not stated is as large as can be."""
    if before is None:
        return False
    return unbounded if after is None else after > before


def _adjusted(format: Format | None, words: Iterable[str]) -> Format | None:
    """A form with more words of its name applied, one after the other; None if one does not suit it."""
    for word in words:
        fitting = (
            apply(format, found[1])
            for pattern, suits, apply in _WORDS
            if format and suits(format) and (found := re.fullmatch(pattern, word))
        )
        format = next(fitting, None)
    return format


def _with_bitrate(format: Format, kilobits: str) -> Format:
    """Fewer bits than the size needs cost quality; more of them do not make it better."""
    bits = 1000.0 * int(kilobits)
    short = min(1.0, bits / format.bitrate) ** 0.5 if format.bitrate else 1.0
    return replace(format, bitrate=bits, quality=format.quality and round(format.quality * short, 3))


# What can be added to the name of a form: how it is written, which forms it suits, and what it does.
_WORDS: tuple[tuple[str, Callable[[Format], bool], Callable[[Format, str], Format]], ...] = (
    (
        r"([1-9]\d{0,4})p?",
        lambda form: form.name in forms.PICTURES,
        lambda form, n: forms.picture(form.name, int(n)),
    ),
    (r"([1-9]\d{0,3})p?", lambda form: form.name in forms.VIDEOS, lambda form, n: forms.video(form.name, int(n))),
    (r"([1-9]\d{0,3})dpi", lambda form: form.name in forms.PICTURES, lambda form, n: replace(form, dpi=float(n))),
    (r"([1-9]\d{0,5})k", lambda form: media.kind(form) in ("video", "audio"), _with_bitrate),
    (r"([a-z]{2,3})", lambda form: form.language is not None, lambda form, code: replace(form, language=code)),
)


def _unknown(name: str, known: Mapping[str, Format], more: Sequence[str]) -> BadInput:
    """Says which names are much like it: those known, and those of other kinds with the same words added."""
    others = ("-".join((kind, *more)) for kind, format in known.items() if _adjusted(format, more))
    near = difflib.get_close_matches(name.lower(), list(dict.fromkeys((*others, *known))), 3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`polycast formats` lists them"
    return BadInput("format", f'no format is named "{name}"; {hint}')
