"""The first telling line of what a failed call printed, and that line with its particulars masked.

Two failures whose masked lines are equal failed for the same reason: paths, numbers and quoted names are what differs
from one day to the next.
"""

from __future__ import annotations

import re

LINE_LIMIT = 160
"""Longest error line kept, in characters."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TAG = re.compile(r"</?(?:tool_use_error|error|output|returncode|stderr|stdout)>")
_HEADER = re.compile(
    r"(?:Exit [Cc]ode:? -?\d+|Error: Exit code \d+|Wall time: .*|Output:|Command: .*|Chunk ID: .*"
    r"|Command exited with code \d+|Directory: \S*|(?:Output|Stdout|Stderr): \(empty\)|Error: \(none\)"
    r"|Signal: \S*|Background PIDs: .*|Process Group PGID: .*)\s*\Z"
)
_HEADER_STARTS = frozenset("EWOCDSBP")
_LABELLED = ("Output: ", "Command: ")
"""How a result begins in which labels stand before what was said: ``Output: bash: kite: command not found``."""
_LABEL = re.compile(r"^(?:Output|Stdout|Stderr): (?=\S)(?!\(empty\))", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last)"
_READ_MOST = 20_000
_ECHO = re.compile(r"(?:\$ |> |\+ |\[[\w:-]+\] \$ |make(?:\[\d+\])?: (?:Entering|Leaving))")
_RULE = re.compile(r"[\W_]*\Z")
_WARNING = re.compile(r"\A(?:\w+ )?WARN(?:ING)?\b", re.IGNORECASE)
_EXCEPTION = re.compile(
    r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|NotFound|Failure)\b(?:: |:?\Z)"
    r"|(?:\w+\.)+[A-Z]\w*: "
)
_TELLING = re.compile(
    r"\berror\b|\b\w*errors?:|\bERR!|\bfatal\b|\bfailed\b|\bfailure\b|\bpanic\b|not found|no such|\bcannot\b|\bcan't\b"
    r"|could not|couldn't|\bdenied\b|not permitted|not allowed|\brefus|\bunknown\b|\bunrecogni[sz]ed\b|\binvalid\b"
    r"|\billegal\b|\bunexpected\b|\bmissing\b|does not exist|doesn't exist|timed out|\btimeout\b|\brejected\b"
    r"|\bunable\b|\bignored by\b|\bbad \w+|\bundefined\b|\bExit status\b|\bnot a\b|\bhas not been\b"
    r"|\bhas been modified\b|\bexceeds\b|\bno match|\bnothing to commit\b|\bconflict\b",
    re.IGNORECASE,
)
_SIGNS = (
    "error", "err!", "fatal", "fail", "panic", "not found", "no such", "cannot", "can't", "could not", "couldn't",
    "denied", "not permitted", "not allowed", "refus", "unknown", "unrecogni", "invalid", "illegal", "unexpected",
    "missing", "not exist", "n't exist", "timed out", "timeout", "rejected", "unable", "ignored by", "bad ", "not a",
    "exit status", "undefined", "has not been", "has been modified", "exceeds", "no match", "nothing to commit",
    "conflict",
)  # fmt: skip
"""One of these, in small letters, is in every line that ``_TELLING`` matches."""
_NOT_TELLING = re.compile(r"\b(?:0|no) (?:errors?|failed|failures?)\b|\bwarning:", re.IGNORECASE)

_ENDINGS = "[cm]?[jt]sx?|py|pyi|go|rs|md|json|ya?ml|toml|sh|txt|html?|css|java|kt|rb|php|c|h|cpp"
_PLACES = (
    (re.compile(r"\b[a-z][a-z0-9+.-]{1,12}://[^\s'\"`)>\]]+", re.IGNORECASE), "<url>"),
    (re.compile(r"(?<![\w<])(?:~|\.{1,2}|[A-Za-z]:)?[\\/][^\s'\":,;)(\]\[]+|\b[\w.@-]+(?:/[\w.@-]+)+/?"), "<path>"),
    (re.compile(rf"\b[\w-]+\.(?:{_ENDINGS})\b"), "<path>"),
)
_QUOTED = re.compile(r"(?<!\w)'[^'\n]{1,200}'(?!\w)|\"[^\"\n]{1,200}\"|`[^`\n]{1,200}`|“[^”\n]{1,200}”|‘[^’\n]{1,200}’")
_MASKS = (
    _PLACES[0],
    (_QUOTED, "'…'"),
    *_PLACES[1:],
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"), "<hex>"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "N"),
)


def error_line(text: str) -> str:
    """Return the first line of ``text`` that says what went wrong, cleaned of colours and tags; ``""`` for none.

    A Python traceback gives its exception; where no line reads like an error, the first line that is not an echo of
    the command is taken.
    """
    return error_of(plain_lines(text))


def error_of(lines: list[str]) -> str:
    """Return what ``error_line`` does, for lines that ``plain_lines`` returned."""
    told = _exception(lines) or _first_telling(lines)
    if not told:
        told = next((line for line in lines if not _ECHO.match(line) and not _RULE.match(line)), "")
    return told[:LINE_LIMIT].rstrip()


def mask(line: str) -> str:
    """Return ``line`` with quoted text, paths, addresses, digests and numbers replaced by placeholders."""
    for pattern, placeholder in _MASKS:
        line = pattern.sub(placeholder, line)
    return " ".join(line.split()).rstrip(" .:")


def without_places(line: str) -> str:
    """Return ``line`` up to the first path or address it names, which is another one each time."""
    at = min((match.start() for pattern, _ in _PLACES if (match := pattern.search(line))), default=len(line))
    return re.sub(r"\s+(?:in|at|for|of|from)\Z", "", line[:at].rstrip(" :'\"`(")) if at else line


def error_key(text: str) -> str:
    """Return the masked error line of a result: equal keys failed for the same reason."""
    return mask(error_line(text))


def plain_lines(text: str) -> list[str]:
    """Return the lines of a result that hold something: no colours, tags, blank lines or ``Exit code N`` headers."""
    text = text[:_READ_MOST]
    if text.startswith(_LABELLED):
        text = _LABEL.sub("", text, count=2)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "<" in text:
        text = _TAG.sub("", text)
    lines = map(" ".join, map(str.split, text.split("\n")))
    return [line for line in lines if line and not (line[0] in _HEADER_STARTS and _HEADER.match(line))]


def _first_telling(lines: list[str]) -> str:
    """The first line that tells, looked for by what every such line holds: most lines are never looked at."""
    if lines and _tells(lines[0]):
        return lines[0]
    whole = "\n".join(lines).lower()
    if len(whole) != sum(map(len, lines)) + max(len(lines) - 1, 0):  # a letter that is longer in small ones
        return next((line for line in lines if _tells(line)), "")
    at = 0
    while (found := _next_sign(whole, at)) >= 0:
        number = whole.count("\n", 0, found)
        if _tells(lines[number]):
            return lines[number]
        at = whole.find("\n", found) + 1
        if not at:
            break
    return ""


def _next_sign(whole: str, at: int) -> int:
    nearest = len(whole)
    for sign in _SIGNS:
        place = whole.find(sign, at, nearest + len(sign))
        if 0 <= place < nearest:
            nearest = place
    return nearest if nearest < len(whole) else -1


def _tells(line: str) -> bool:
    told = _TELLING.search(line) and not _ECHO.match(line) and not _NOT_TELLING.search(line)
    return bool(told) and not _WARNING.match(line)


def _exception(lines: list[str]) -> str:
    """The exception a Python traceback ends with: the first exception line after its heading."""
    start = next((n for n, line in enumerate(lines) if line.startswith(_TRACEBACK)), None)
    if start is None:
        return ""
    return next((line for line in lines[start + 1 :] if _EXCEPTION.match(line)), "")
