"""Every error that Polycast raises on purpose.

PolycastError
├── BadInput            what was given is wrong: where, and why                    (exit code 2)
├── NoSolution          the question is sound, and nothing answers it              (exit code 3)
├── PipelineStopped     the pipeline could not go on; its log says more            (exit code 3)
└── ConversionError     a conversion did not come about                            (exit code 3)
    ├── Timeout         it took longer than its limit
    ├── TooLarge        its input or output is larger than its limit
    ├── Unreadable      the content is not what it says it is, or is damaged
    ├── Crashed         the tool ended without an answer
    ├── Refused         the content asks for something that is not allowed
    └── Cancelled       whoever asked for it no longer wants it
"""

from typing import ClassVar


class PolycastError(Exception):
    """The root of the tree. Its text is one line, fit to be shown to a user."""

    exit_code: ClassVar[int] = 3


class BadInput(PolycastError):
    """Something that was given is wrong; the message names the place and the reason."""

    exit_code = 2

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.where = where
        self.why = why


class NoSolution(PolycastError):
    """No solution exists, or this method found none; the message says which."""


class PipelineStopped(PolycastError):
    """The pipeline could not go on: Spark, the system or a fault of ours, but nothing that was published."""


class ConversionError(PolycastError):
    """A conversion did not come about."""


class Timeout(ConversionError):
    """A conversion took longer than its limit."""


class TooLarge(ConversionError):
    """A conversion's input or output is larger than its limit."""


class Unreadable(ConversionError):
    """The content is not what it says it is, or is damaged."""


class Crashed(ConversionError):
    """The tool ended without an answer."""


class Refused(ConversionError):
    """The content asks for something that is not allowed."""


class Cancelled(ConversionError):
    """Whoever asked for a conversion no longer wants it."""
