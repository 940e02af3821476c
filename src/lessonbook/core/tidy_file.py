"""Cleans and redacts what a person changed in a file; every line they left alone keeps its bytes."""

from __future__ import annotations

from lessonbook.core.clean import clean_body
from lessonbook.core.linediff import diff
from lessonbook.core.paragraphs import lines_of
from lessonbook.core.redact import Redacted, redact

_SPACE = " \t\n"


def tidy_file(old: str, new: str) -> Redacted:
    """Return ``new`` with what it changes of ``old`` cleaned and redacted, and how many secrets were taken out.

    Line ends and the space around each changed block stay as they are.
    """
    before, after = lines_of(old), lines_of(new)
    parts: list[str] = []
    count, done = 0, 0
    for hunk in diff(before, after):
        block = _tidy_block("".join(hunk.lines))
        parts += [*before[done : hunk.start], block.text]
        count, done = count + block.count, hunk.end
    return Redacted("".join([*parts, *before[done:]]), count)


def _tidy_block(block: str) -> Redacted:
    text = block.replace("\r\n", "\n")
    core = text.strip(_SPACE)
    if not core:
        return Redacted(block, 0)
    lead, _, trail = text.partition(core)
    found = redact(clean_body(core))
    return Redacted(_with_ends(lead + found.text + trail, block), found.count)


def _with_ends(text: str, block: str) -> str:
    """The text with the line ends of the block: each line's own where there are as many, else CRLF if one has it."""
    if "\r\n" not in block:
        return text
    was, lines = lines_of(block), lines_of(text)
    same = len(was) == len(lines)
    crlf = [was[at].endswith("\r\n") if same else True for at in range(len(lines))]
    return "".join(line.replace("\n", "\r\n") if ends else line for line, ends in zip(lines, crlf, strict=True))
