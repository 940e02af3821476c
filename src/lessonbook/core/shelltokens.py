"""Takes a shell script apart: here-documents, quotes, operators, words. Tolerant of everything, expands nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEREDOC = re.compile(r"(?<!<)<<-?\s*(?P<quote>['\"]?)(?P<name>[A-Za-z_][\w.-]*)(?P=quote)")
_PLAIN_RUN = re.compile(r"[^\s'\"\\$`|&;()#]+")


def word_set(text: str) -> frozenset[str]:
    """Return the words of ``text``, for tables of names."""
    return frozenset(text.split())


def without_heredocs(script: str) -> str:
    """Drop the bodies of here-documents; a document that never ends is left as it is."""
    lines = script.split("\n")
    kept: list[str] = []
    endless: set[str] = set()
    at = 0
    while at < len(lines):
        line = lines[at]
        kept.append(line)
        at += 1
        for match in _HEREDOC.finditer(line):
            end = None if match["name"] in endless else _end_of_heredoc(lines, at, match["name"])
            if end is None:
                endless.add(match["name"])
            else:
                at = end + 1
    return "\n".join(kept)


def _end_of_heredoc(lines: list[str], start: int, name: str) -> int | None:
    return next((n for n in range(start, len(lines)) if lines[n].strip() == name), None)


def segments(text: str) -> Iterator[tuple[str, list[str], bool]]:
    """Yield ``(operator before, words, in the background)`` of each simple command."""
    joined, words = "", list[str]()
    for kind, value in _tokens(text):
        if kind == "word":
            words.append(value)
            continue
        if words:
            yield joined, words, value == "&"
            joined, words = value, []
        elif value != "\n":
            joined = value
    if words:
        yield joined, words, False


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Split into ``("word", text)`` and ``("op", one of && || ; | & newline as ;)``; quotes are taken off words."""
    word: list[str] = []
    open_word = False
    at, size = 0, len(text)
    while at < size:
        run = _PLAIN_RUN.match(text, at)
        if run is not None:
            word.append(run[0])
            open_word, at = True, run.end()
            continue
        char = text[at]
        if char in "'\"":
            piece, at = _quoted(text, at)
            word.append(piece)
            open_word = True
            continue
        if char == "\\" and at + 1 < size:
            if text[at + 1] != "\n":
                word.append(text[at + 1])
                open_word = True
            at += 2
            continue
        if text.startswith("$(", at) or char == "`":
            end = _substitution(text, at)
            word.append(text[at:end])
            open_word, at = True, end
            continue
        operator = _operator(text, at)
        if operator or char.isspace() or (char == "#" and not open_word):
            if open_word:
                yield "word", "".join(word)
            word, open_word = [], False
            if char == "#" and not operator:
                at = _line_end(text, at)
            elif operator:
                yield "op", ";" if operator in ("\n", ";;", "(", ")") else operator
                at += len(operator)
            else:
                at += 1
            continue
        word.append(char)
        open_word = True
        at += 1
    if open_word:
        yield "word", "".join(word)


def _operator(text: str, at: int) -> str:
    """The control operator at ``at``, or ``""``: the ``&`` of ``2>&1`` and ``&>`` belongs to a redirection."""
    for operator in ("&&", "||", ";;", "|&"):
        if text.startswith(operator, at):
            return operator if operator != "|&" else "|"
    char = text[at]
    if char == "&" and ((at and text[at - 1] in "<>") or text.startswith("&>", at)):
        return ""
    if char == "|" and at and text[at - 1] == ">":
        return ""
    return char if char in ";|&\n()" else ""


def _quoted(text: str, at: int) -> tuple[str, int]:
    """The text inside the quotes that open at ``at``, and where it goes on; an open end closes at the text's end."""
    quote, start = text[at], at + 1
    if quote == "'":
        end = text.find("'", start)
        return (text[start:], len(text)) if end < 0 else (text[start:end], end + 1)
    at = start
    piece: list[str] = []
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and at + 1 < len(text):
            piece.append(text[at + 1] if text[at + 1] in '"\\$`\n' else text[at : at + 2])
            at += 2
        elif text.startswith("$(", at):
            end = _substitution(text, at)
            piece.append(text[at:end])
            at = end
        else:
            piece.append(text[at])
            at += 1
    return "".join(piece), min(at + 1, len(text))


def _substitution(text: str, at: int) -> int:
    """Where the ``$(…)`` or backtick substitution that opens at ``at`` ends."""
    if text[at] == "`":
        end = text.find("`", at + 1)
        return len(text) if end < 0 else end + 1
    depth, at = 0, at + 1
    while at < len(text):
        char = text[at]
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        elif char == "\\":
            at += 1
        elif char == "'":
            end = text.find("'", at + 1)
            at = end if end > 0 else at
        at += 1
    return len(text)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
