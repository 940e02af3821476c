"""Puts what somebody else wrote into a text of ours, so that it stays inside its own place there.

A lesson is one item on one line. Reviewed Markdown keeps its words and its blocks; only what would reach out of its
section is stopped: a heading at our level, a fence or comment left open, a tag a host wraps text in, and our own
first and last lines. Tags are stopped by one space, which reads the same and closes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.briefing import CLOSING, OPENING, REMINDER
from lessonbook.core.clean import bound, clean_body, clean_line
from lessonbook.core.redact import redact
from lessonbook.core.tidy import as_item

_SECTION_DEPTH = 2
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_COMMENT = re.compile(r" {0,3}<!--")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_TITLE = re.compile(r" {0,3}([-*+>|#]|\d+[.)]|`{3}|~{3})|\s*$|( {4}|\t)")
# What hosts and models wrap text in. Closing tags of all such names; opening ones only where people do not use the same
# words as placeholders, as in ``src/<function>/``.
_NAMES = (
    "system|user|assistant|developer|human|instructions?|hook|persisted|context|tool|function|environment|lessonbook"
)
_OPENING = (
    r"system(?:[-_]\w+)?|hook_\w+|persisted-output|environment_context|function_(?:calls|results?)|antml:\w+|"
    r"tool_(?:use|call|result)s?|user[-_](?:prompt|instructions)[\w-]*"
)
_WRAPPER = re.compile(rf"<(?=(?:/\s*(?:{_NAMES}|antml)(?:[-_:][\w:-]*)?|{_OPENING})[\s>/]|\|\w+\|>)", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"<(?=/)")


def one_line(text: str, limit: int | None = None) -> str:
    """Return ``text`` on one clean line that stays a plain paragraph in a list item, of at most ``limit`` characters.

    It opens no tag, comment, code span or fence, and starts no block of Markdown.
    """
    flat = _unframed(clean_line(text))
    return as_item(flat if limit is None else bound(flat, limit)[0])


def embedded(markdown: str) -> str:
    """Return reviewed Markdown ready to stand in a section of a briefing, its words and blocks as they were.

    What is hidden in it, or is a secret, is taken out once more: a person may have committed it by hand.
    """
    text = redact(clean_body(markdown)).text
    lines: list[str] = []
    closer = within = ""
    for line, inside, still_open in _scanned(_unframed(_WRAPPER.sub("< ", text)).split("\n")):
        if not inside and not within and lines and _UNDERLINE.match(line) and not _NO_TITLE.match(lines[-1]):
            lines[-1] = f"{'#' * (_SECTION_DEPTH + 1)} {lines[-1].strip()}"
            line = ""
        lines.append(line if inside == "code" else _prose(line))
        closer, within = still_open, inside
    return "\n".join([*lines, closer] if closer else lines)


def paragraphs(markdown: str) -> tuple[str, ...]:
    """Return the blocks of ``embedded`` Markdown: split at empty lines, but never inside a fence or a comment."""
    blocks: list[list[str]] = [[]]
    for line, inside, _ in _scanned(markdown.split("\n")):
        if line.strip() or inside:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return _with_headings(["\n".join(block).rstrip() for block in blocks if block])


def _scanned(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each line, what it is inside of (``code``, ``comment`` or nothing), and what would close that after it.

    Fences and comment blocks as CommonMark 0.31 has them: §4.5, and §4.6 start condition 2.
    """
    closer = ""
    for line in lines:
        fence = _FENCE.match(line)
        inside = {"": "", "-->": "comment"}.get(closer, "code")
        if closer == "-->":
            closer = "" if "-->" in line else closer
        elif closer:
            closer = "" if fence and fence[1].startswith(closer) and not fence[2].strip() else closer
        elif fence and not (fence[1][0] == "`" and "`" in fence[2]):
            inside, closer = "code", fence[1]
        elif _COMMENT.match(line):
            inside, closer = "comment", "" if "-->" in line.partition("<!--")[2] else "-->"
        yield line, inside, closer


def _with_headings(blocks: list[str]) -> tuple[str, ...]:
    """Keep a heading with what it heads, so that no cut leaves it behind alone."""
    joined: list[str] = []
    for block in blocks:
        if joined and _HEADING.match(joined[-1].rpartition("\n")[2]):
            joined[-1] = f"{joined[-1]}\n\n{block}"
        else:
            joined.append(block)
    return tuple(joined)


def _prose(line: str) -> str:
    """Move a heading below our own level, and stop closing tags."""
    heading = _HEADING.match(line)
    if heading:
        line = "#" * min(6, len(heading[1]) + _SECTION_DEPTH) + line[heading.end() :]
    return _CLOSING_TAG.sub("< ", line)


def _unframed(text: str) -> str:
    """Replace our own first and last line; by something, so that what stood around them cannot become one."""
    return text.replace(OPENING, "…").replace(REMINDER, "…").replace(CLOSING, "…")
