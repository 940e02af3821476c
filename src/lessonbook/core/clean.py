"""The one cleaning path: every text that enters, and every text a person edited by hand, goes through here.

Contract §1.6. Clean first, then ``redact.redact``, then ``bound``. Nothing here raises for any text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from lessonbook.core import unicode_ranges as ranges
from lessonbook.core.redact import LABELS, secret_spans

_ELLIPSIS = "…"
_SCREEN = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\n\x07\x1b\x9c\x9d]*(?:\x07|\x1b\\|\x9c)"
"""Terminal escape sequences (ECMA-48 CSI and OSC): they colour, they are not text."""
_PAIR = "[\ud800-\udbff][\udc00-\udfff]"


@cache
def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def clean_line(text: str) -> str:
    """Return ``text`` as one safe line, for a lesson, a context or a description.

    Nothing in it can open a tag, a fence or a second line, and nothing in it is hidden from a reader. Idempotent.
    """
    text = _sound(text)
    text = _re("[<>`]").sub("", text)
    text = " ".join(_without_screen_codes(text).split())
    text = _re("~~+").sub("~", _without_hidden(text))
    # Removing a sign can bring a letter and its accent together, so they are composed again.
    return unicodedata.normalize("NFC", " ".join(text.split()))


def clean_body(text: str) -> str:
    """Return ``text`` with its lines, tabs, markup and spacing kept and all that is hidden removed. Idempotent.

    For skill bodies and the rules of ``AGENTS.md``. Every line ends in a line feed; blank ends are trimmed.
    """
    text = _re("\r\n?|[\x85\u2028\u2029]").sub("\n", _sound(text))
    text = _without_hidden(_without_screen_codes(text))
    return unicodedata.normalize("NFC", text.strip())


def comparable(text: str) -> str:
    """Return the form in which two lessons are the same lesson: NFC, white space folded, case kept."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def printable(text: str) -> str:
    r"""Return ``text`` for a terminal: line feeds and tabs survive, whatever else is hidden is shown as ``\x1b``.

    Emoji, and the joiners that Persian and Indic words need, are left alone.
    """
    hidden = f"{ranges.VISIBLE_SEQUENCE}|([{ranges.HIDDEN}{ranges.SURROGATE}\r\x85\u2028\u2029])"
    return _re(hidden).sub(lambda found: _escaped(found[1]) if found[1] else found[0], text)


def bound(text: str, limit: int) -> tuple[str, bool]:
    """Return at most ``limit`` characters of ``text``, and whether it was cut; a cut ends with ``…``.

    Never cut: a label such as ``[REDACTED]``, a character and its accents, an emoji or flag of several code points.
    """
    if len(text) <= limit:
        return text, False
    if limit < 1:
        return "", True
    cut = _before_label(text, limit - 1)
    while cut > 0 and _inside_character(text, cut):
        cut = _before_label(text, cut - 1)
    return text[:cut].rstrip() + _ELLIPSIS, True


def _sound(text: str) -> str:
    """Return ``text`` as composed, encodable text without NUL."""
    if _re(f"[{ranges.SURROGATE}]").search(text):
        text = _re(_PAIR).sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        text = _re(f"[{ranges.SURROGATE}]").sub("\ufffd", text)
    return unicodedata.normalize("NFC", text.replace("\x00", ""))


def _without_screen_codes(text: str) -> str:
    return _re(_SCREEN).sub("", text) if _re("[\x1b\x9b\x9d]").search(text) else text


def _without_hidden(text: str) -> str:
    """Return ``text`` with hidden characters gone: a space where one parted two words, nothing elsewhere.

    A hidden character inside a secret is taken out without a space, so that redaction sees the secret whole.
    """
    if text.isascii() and not _re(f"[{ranges.CONTROL}]").search(text):
        return text
    runs = [m for m in _re(f"{ranges.VISIBLE_SEQUENCE}|([{ranges.HIDDEN}]+)").finditer(text) if m[1]]
    if not runs:
        return text
    inside = _inside_secret(text, runs)
    parts, at = [], 0
    for run, secret in zip(runs, inside, strict=True):
        parts += [text[at : run.start()], "" if secret else _gap(text, run)]
        at = run.end()
    return "".join([*parts, text[at:]])


def _gap(text: str, run: re.Match[str]) -> str:
    """Return what takes the place of a run of hidden characters: a space, or nothing."""
    before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
    if not before or not after or before.isspace() or after.isspace():
        return ""
    joined = _re(f"[{ranges.ZERO_WIDTH}]+").fullmatch(run[0]) and _in_word(before) and _in_word(after)
    return "" if joined else " "


def _in_word(char: str) -> bool:
    return char == "_" or unicodedata.category(char)[0] in "LMN"


def _inside_secret(text: str, runs: list[re.Match[str]]) -> list[bool]:
    """Say for each run of hidden characters whether, with all of them gone, it would lie inside a secret."""
    parts, places, at, length = [], [], 0, 0
    for run in runs:
        parts.append(text[at : run.start()])
        length += len(parts[-1])
        places.append(length)
        at = run.end()
    spans = sorted((span.start, span.end) for span in secret_spans("".join([*parts, text[at:]])))
    answers, index, reach = [], 0, 0
    for place in places:
        while index < len(spans) and spans[index][0] < place:
            reach = max(reach, spans[index][1])
            index += 1
        answers.append(place < reach)
    return answers


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _before_label(text: str, cut: int) -> int:
    """Return ``cut``, or the start of the label it falls into."""
    for label in LABELS:
        start = text.rfind(label, max(0, cut - len(label) + 1), cut + len(label) - 1)
        if 0 <= start < cut:
            return start
    return cut


def _inside_character(text: str, cut: int) -> bool:
    """Whether what a reader sees as one character stands on both sides of ``cut`` (after UAX #29)."""
    before, after = text[cut - 1], text[cut]
    if unicodedata.category(after)[0] == "M" or _re(f"[{ranges.ZERO_WIDTH}\U0001f3fb-\U0001f3ff\udc00-\udfff]").match(
        after
    ):
        return True
    if before == "\u200d" or unicodedata.combining(before) == 9 or (before, after) == ("\r", "\n"):
        return True
    if _re("[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3\u1160-\u11a7]").match(before):
        return _re("[\u1100-\u11ff\ud7b0-\ud7fb]").match(after) is not None
    return _is_region(before) and _is_region(after) and _regions_before(text, cut) % 2 == 1


def _is_region(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _regions_before(text: str, cut: int) -> int:
    """Return how many regional indicators stand directly before ``cut``: two of them are one flag."""
    start = cut
    while start > 0 and _is_region(text[start - 1]):
        start -= 1
    return cut - start
