"""What a pool and its workers say to each other: framed messages over pipes."""

import os
import struct

import msgspec

from polycast.convert.confinement import Isolation
from polycast.convert.task import Limits
from polycast.errors import ConversionError, Crashed
from polycast.model.format import Format

_NAMED = {kind.__name__: kind for kind in ConversionError.__subclasses__()}
_LENGTH = struct.Struct("!I")
MOST = 1 << 20


class Request(msgspec.Struct, frozen=True, tag=True):
    """What is asked of a worker. It writes ``folder/output-0`` and so on, in the order of the targets."""

    entry: str
    content: str
    source: Format
    targets: tuple[Format, ...]
    folder: str
    limits: Limits


class Ready(msgspec.Struct, frozen=True, tag=True):
    """A worker has started."""

    isolation: Isolation


class Progress(msgspec.Struct, frozen=True, tag=True):
    """Which share of a run is done."""

    share: float


class Answer(msgspec.Struct, frozen=True, tag=True):
    """How a run ended: well, or with the name and the text of an error; and what it took."""

    error: str | None = None
    why: str = ""
    cpu_seconds: float = 0.0
    peak_memory: int = 0

    def check(self) -> "Answer":
        """Raise the error of the run, if there is one, in the process that asked for it."""
        if self.error is None:
            return self
        raise _NAMED.get(self.error, Crashed)(self.why)


Message = Request | Ready | Progress | Answer
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def send(stream: int, message: Message) -> None:
    """Write one message to an open file of the system."""
    body = msgspec.msgpack.encode(message)
    rest = memoryview(_LENGTH.pack(len(body)) + body)
    while rest:
        rest = rest[os.write(stream, rest) :]


class Inbox:
    """The messages that arrive at an open file of the system, without ever waiting for the rest of one."""

    def __init__(self, stream: int) -> None:
        self._stream = stream
        self._arrived = bytearray()

    def fileno(self) -> int:
        """For ``select``."""
        return self._stream

    def read(self) -> list[Message] | None:
        """What has arrived in whole; None when the other side is gone, or speaks nonsense."""
        piece = os.read(self._stream, 1 << 16)
        self._arrived += piece
        try:
            messages = self._whole()
        except (ValueError, msgspec.DecodeError):
            return None
        return messages if piece or messages else None

    def wait(self) -> Message | None:
        """The next message, however long it takes; for a side that has nothing else to do."""
        while True:
            if (message := self._next()) is not None:
                return message
            piece = os.read(self._stream, 1 << 16)
            if not piece:
                return None
            self._arrived += piece

    def _whole(self) -> list[Message]:
        messages: list[Message] = []
        while (message := self._next()) is not None:
            messages.append(message)
        return messages

    def _next(self) -> Message | None:
        if len(self._arrived) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._arrived)
        if length > MOST:
            raise ValueError("a message that long is not one of ours")
        end = _LENGTH.size + length
        if len(self._arrived) < end:
            return None
        message = _decoder.decode(self._arrived[_LENGTH.size : end])
        del self._arrived[:end]
        return message
