"""A window on a text that is one JSON document, moved forward as its values are read."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, BinaryIO

from lessonbook.transcripts.lines import LENIENT, LINE_MAX, clean

CHUNK = 256 * 1024
_SPACE = re.compile(r"[\s\x00]*")
_MARK = re.compile(r'["{}\[\]]')
_QUOTED = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_SURROGATE = re.compile(r"\\ud[89a-f]", re.IGNORECASE)


class CutOff(Exception):
    """The text ends inside a value."""


class Damaged(Exception):
    """What stands here is no JSON."""


class TooLarge(Exception):
    """The value is larger than what may be held."""


class Window:
    """A window on the text of a file, moved forward as it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self.window = ""
        self.at = 0
        self.ended = False
        self.replaced = False

    def more(self, size: int = CHUNK) -> bool:
        """Read on; ``False`` where there is nothing more."""
        if self.ended:
            return False
        raw = self._file.read(size)
        self.ended = not raw
        said = self._decoder.decode(raw, final=self.ended)
        self.replaced = self.replaced or ("\ufffd" in said and b"\xef\xbf\xbd" not in raw)
        self.window = self.window[self.at :] + said
        self.at = 0
        return not self.ended

    def skip_space(self) -> None:
        """Pass over white space, and NUL bytes as a torn write leaves them."""
        while True:
            found = _SPACE.match(self.window, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.window) or not self.more():
                return

    def peek(self) -> str:
        """Return the next character; empty at the end."""
        if self.at >= len(self.window):
            self.more()
        return self.window[self.at : self.at + 1]

    def take(self, expected: str) -> None:
        """Pass over one character and the space around it."""
        self.skip_space()
        found = self.peek()
        if found != expected:
            raise Damaged if found else CutOff
        self.at += 1
        self.skip_space()

    def value(self) -> Any:
        """Return the value that starts here and pass over it. Nothing is passed over where it raises."""
        while True:
            try:
                value, end = LENIENT.raw_decode(self.window, self.at)
            except json.JSONDecodeError as error:
                if not self._incomplete(error):
                    raise Damaged from error
            else:
                if end < len(self.window) or self.ended:
                    return self._taken(value, end)
            held = len(self.window) - self.at
            if held > LINE_MAX:
                raise TooLarge
            if not self.more(max(CHUNK, held)):
                self._last_try()

    def _incomplete(self, error: json.JSONDecodeError) -> bool:
        """Whether the window's end is what is wrong, rather than what stands in it."""
        return error.msg.startswith("Unterminated string") or error.pos >= len(self.window) - 12

    def _last_try(self) -> None:
        try:
            LENIENT.raw_decode(self.window, self.at)
        except json.JSONDecodeError as error:
            raise (CutOff if self._incomplete(error) else Damaged) from error

    def _taken(self, value: Any, end: int) -> Any:
        escaped = _SURROGATE.search(self.window, self.at, end)
        self.at = end
        return clean(value) if escaped else value

    def pass_over(self) -> bool:
        """Pass over a container by its brackets alone, holding little of it; ``False`` where it does not end."""
        depth, quoted = 0, False
        while True:
            if quoted:
                rest = _QUOTED.match(self.window, self.at)
                self.at = rest.end() if rest else self.at
                quoted = self.window[self.at : self.at + 1] != '"'
                self.at += not quoted
            elif found := _MARK.search(self.window, self.at):
                self.at = found.end()
                quoted = found[0] == '"'
                depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
                if depth == 0 and not quoted:
                    return True
                continue
            else:
                self.at = len(self.window)
            if (quoted or self.at >= len(self.window)) and not self.more():
                return False
