"""What we add to a candidate's commit message; every byte its proposer wrote stays as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lessonbook.book.candidates import EDITED as EDITED
from lessonbook.book.candidates import Message

ACCEPTED = "Accepted-by"
SPLIT = "Split-from"

_LINE = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*: *|[ \t]+[^ \t\r\n])[^\n]*")


def with_trailer(message: Message, key: str, value: str) -> bytes:
    """Return the raw message with one more trailer: in its last paragraph where that holds only such lines, else below.

    A message that ends with this very line already is returned as it is.
    """
    line = _encoded(message, f"{key}: {value}")
    body = message.raw.rstrip(b"\n")
    above, _, last = body.rpartition(b"\n\n")
    lines = last.split(b"\n")
    if above and lines[-1] == line:
        return message.raw
    together = above.strip() and all(_LINE.fullmatch(each) for each in lines)
    return body + (b"\n" if together else b"\n\n") + line + b"\n"


def with_trailers(message: Message, rows: Iterable[tuple[str, str]]) -> bytes:
    """Return the raw message with these trailers, as ``with_trailer`` adds each."""
    for key, value in rows:
        message = Message(message.author, message.encoding, with_trailer(message, key, value))
    return message.raw


def numbered(message: Message, number: int, count: int) -> Message:
    """Return the message with ``(number of count)`` at the end of its subject."""
    start = len(message.raw) - len(message.raw.lstrip(b"\n"))
    end = message.raw.find(b"\n\n", start)
    subject = message.raw[:end] if end >= 0 else message.raw
    rest = message.raw[len(subject.rstrip(b"\n")) :]
    mark = _encoded(message, f" ({number} of {count})")
    return Message(message.author, message.encoding, subject.rstrip(b"\n") + mark + rest)


def _encoded(message: Message, text: str) -> bytes:
    """The text in the message's own encoding; what that cannot say becomes ``?``."""
    plain = text.encode("ascii", "replace")
    try:
        data = text.encode((message.encoding or b"utf-8").decode("ascii"), "replace")
    except (LookupError, UnicodeError):
        return plain
    # In some encodings, such as UTF-16, ASCII is not ASCII; our line would be no line there.
    return data if data.startswith(plain[:2]) else plain
