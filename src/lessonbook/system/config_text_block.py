"""Keeps one marked block in a Markdown file that a person writes: everything outside the markers keeps its bytes.

The markers are whole lines. Those inside a code fence are text about markers, not markers. A file whose markers do not
pair is refused: a second block, or a block that swallows a person's words, is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.system.config_text import ConfigTextError, line_end

_MARK = b"\xef\xbb\xbf"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def block(data: bytes, name: str) -> str | None:
    """Return the text between the markers of ``name``, with LF line ends; ``None`` where there is no block.

    Raises ``ConfigTextError`` for markers that do not pair and for a file that is not UTF-8.
    """
    text = _text(data)
    found = _span(text, name)
    if found is None:
        return None
    inner = text[found[1] : found[2]]
    return inner.replace("\r\n", "\n")


def with_block(data: bytes, name: str, value: str) -> bytes:
    """Return ``data`` with ``value`` between the markers; the block is added at the end where there is none."""
    text = _text(data)
    end = line_end(text)
    if any(line.strip() in _markers(name) for line in value.split("\n")):
        raise ConfigTextError("would get a block that holds its own markers")
    shown = value.replace("\n", end)
    found = _span(text, name)
    if found is not None:
        return _bytes(data, text[: found[1]] + shown + text[found[2] :])
    first, last = _markers(name)
    gap = "" if not text else end if text.endswith("\n") else end * 2
    if _open_fence(text):
        raise ConfigTextError("ends inside a code fence, where a block would be no more than text")
    return _bytes(data, f"{text}{gap}{first}{end}{shown}{last}{end}")


def without_block(data: bytes, name: str) -> bytes:
    """Return ``data`` without the block, its markers and the blank line before it; the same where there is none."""
    text = _text(data)
    found = _span(text, name)
    if found is None:
        return data
    before = re.sub(r"(\A|\n)\r?\n\Z", r"\1", text[: found[0]])
    return _bytes(data, before + text[found[3] :])


def _span(text: str, name: str) -> tuple[int, int, int, int] | None:
    """Where the block begins, its text begins, its text ends, and the block ends."""
    first, last = _markers(name)
    seen = [(start, end, line) for start, end, line in _lines(text) if line in (first, last)]
    if not seen:
        return None
    if [line for _, _, line in seen] != [first, last]:
        raise ConfigTextError(f"has markers of lessonbook that do not pair ({first} … {last}): repair or remove them")
    return seen[0][0], seen[0][1], seen[1][0], seen[1][1]


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each line outside code fences starts and ends, and its text."""
    at, fence = 0, ""
    for line in text.split("\n"):
        end = min(at + len(line) + 1, len(text))
        fence, inside = _fenced(fence, line), bool(fence)
        if not inside and not fence:
            yield at, end, line.strip()
        at = end


def _fenced(fence: str, line: str) -> str:
    """The fence that is open after ``line``; empty for none."""
    found = _FENCE.match(line.rstrip("\r"))
    if found is None:
        return fence
    if not fence:
        return "" if found[1][0] == "`" and "`" in found[2] else found[1]
    closes = found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip()
    return "" if closes else fence


def _open_fence(text: str) -> str:
    fence = ""
    for line in text.split("\n"):
        fence = _fenced(fence, line)
    return fence


def _markers(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def _text(data: bytes) -> str:
    try:
        return data.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigTextError("is not UTF-8 text") from error


def _bytes(data: bytes, text: str) -> bytes:
    return (_MARK if data.startswith(_MARK) else b"") + text.encode()
