"""Edits JSON as text, with the comments and trailing commas that many programs allow in theirs (JSONC)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lessonbook.system.config_text import ConfigTextError, Keys, as_json, line_end

_TOKEN = re.compile(
    r'(?P<blank>[ \t\r\n]+|//[^\n]*|/\*(?s:.*?)\*/)|(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")'
    r"|(?P<mark>[{}\[\]:,])|(?P<word>[-+.0-9A-Za-z]+)"
)
_SAME_LINE = re.compile(r"(?:[ \t]|/\*[^\n]*?\*/)*(?://[^\r\n]*)?")
_INDENT = re.compile(r"\n([ \t]+)[^\s]")


@dataclass(slots=True)
class Node:
    """One value and where it stands in the text; the children of a table by name, of a list by number."""

    start: int
    end: int = 0
    value: Any = None
    names: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Where each child begins: its key in a table, itself in a list."""
    children: list[Node] = field(default_factory=list)
    comma: bool = False
    """Whether a comma follows the last child."""


def parse(text: str) -> Any:
    """Return the value of ``text``; an empty table where there is nothing but blanks and comments."""
    try:  # most files have no comments, and some are large
        return json.loads(text, parse_constant=_refuse)
    except ValueError:
        return _root(text).value


def insert(text: str, keys: Keys, name: str, value: Any) -> str:
    """Return the text with one more member at the end of a table."""
    if not text.strip():
        text = f"{text}{{}}\n"
    return _added(text, _find(text, keys), f"{as_json(name)}: ", value)


def append(text: str, keys: Keys, value: Any) -> str:
    """Return the text with one more item at the end of a list."""
    return _added(text, _find(text, keys), "", value)


def remove(text: str, keys: Keys, index: int | None) -> str:
    """Return the text without one member or item, its line and its comma."""
    outer = _find(text, keys if index is not None else keys[:-1])
    at = index if index is not None else _only(outer, keys[-1])
    start, end = outer.starts[at], outer.children[at].end
    first, last = at == 0, at == len(outer.children) - 1
    before = outer.start + 1 if first else outer.children[at - 1].end
    if not last or outer.comma:
        end = _comma(text, end) + 1
    comma = None if first or not last or outer.comma else _comma(text, before)
    # What stands on the line before it, such as a comment on its neighbour, stays; its own line goes.
    from_here = before if first else _comma(text, before) + 1
    from_here = _end_of_line(text, from_here, start)
    if text[from_here:start].strip():  # a comment of its own line before it: that is the person's
        from_here = start
    left = text[:from_here] + text[end:]
    if first and last and not text[outer.start + 1 : from_here].strip() + text[end : outer.end - 1].strip():
        left = text[: outer.start + 1] + text[outer.end - 1 :]
    return left if comma is None else left[:comma] + left[comma + 1 :]


def replace(text: str, keys: Keys, index: int | None, value: Any) -> str:
    """Return the text with another value in the place of one member or item."""
    outer = _find(text, keys if index is not None else keys[:-1])
    at = index if index is not None else _only(outer, keys[-1])
    node = outer.children[at]
    shown = as_json(value)
    if "\n" in text[node.start : node.end]:
        indent = _line_indent(text, outer.starts[at])
        shown = _shown(value, indent, _indents(text, outer)[1], line_end(text))
    return text[: node.start] + shown + text[node.end :]


def _shown(value: Any, indent: str, unit: str, end: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"{end}{indent}")


def _added(text: str, outer: Node, key: str, value: Any) -> str:
    end = line_end(text)
    if outer.children and "\n" not in text[outer.start : outer.end]:
        after = outer.children[-1].end
        return f"{text[:after]}, {key}{as_json(value)}{text[after:]}"
    indent, unit = _indents(text, outer)
    line = f"{end}{indent}{key}{_shown(value, indent, unit, end)}"
    if not outer.children:
        return _first(text, outer, line, end)
    after = outer.children[-1].end
    if outer.comma:
        here = _end_of_line(text, _comma(text, after) + 1, outer.end - 1)
        return f"{text[:here]}{line},{text[here:]}"
    here = _end_of_line(text, after, outer.end - 1)
    return f"{text[:after]},{text[after:here]}{line}{text[here:]}"


def _first(text: str, outer: Node, line: str, end: str) -> str:
    """Return the text with ``line`` as the only thing but blanks and comments in a table or list."""
    start, close = outer.start + 1, outer.end - 1
    if "\n" in text[start:close]:
        here = _end_of_line(text, start, close)
        return text[:here] + line + text[here:]
    kept = text[start:close].rstrip(" \t")
    return text[:start] + kept + line + end + _line_indent(text, outer.start) + text[close:]


def _end_of_line(text: str, start: int, limit: int) -> int:
    """Return where a comment on the rest of this line ends; ``start`` where there is none."""
    found = _SAME_LINE.match(text, start, limit)
    here = start + len(found[0].rstrip(" \t")) if found else start
    return here if found and (found.end() >= limit or text[found.end()] in "\r\n") else start


def _indents(text: str, outer: Node) -> tuple[str, str]:
    """The blanks in front of a child, and those of one level."""
    own = _line_indent(text, outer.start)
    found = _INDENT.search(text)
    unit = "\t" if found and "\t" in found[1] else found[1] if found else "  "
    if outer.starts:
        child = _line_indent(text, outer.starts[0])
        if child.startswith(own) and len(child) > len(own):
            return child, child[len(own) :]
    return own + unit, unit


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _comma(text: str, start: int) -> int:
    """Where the comma after a value stands, past blanks and comments."""
    return next(found.start() for found in _tokens(text, start) if found["mark"] == ",")


def _find(text: str, keys: Keys) -> Node:
    node = _root(text)
    for key in keys:
        node = node.children[_only(node, key)]
    return node


def _only(node: Node, key: str) -> int:
    if node.names.count(key) > 1:
        raise ConfigTextError(f"holds {key!r} twice in one table")
    return node.names.index(key)


def _tokens(text: str, start: int) -> Iterator[re.Match[str]]:
    """Every token but blanks and comments."""
    while start < len(text):
        found = _TOKEN.match(text, start)
        if found is None:
            raise ConfigTextError(f"is not JSON: line {text.count(chr(10), 0, start) + 1} cannot be read")
        start = found.end()
        if found.lastgroup != "blank":
            yield found


def _root(text: str) -> Node:
    tokens = _tokens(text, 0)
    first = next(tokens, None)
    if first is None:
        return Node(0, len(text), {})
    node = _node(first, tokens, text)
    if next(tokens, None) is not None:
        raise ConfigTextError("is not JSON: something follows its end")
    return node


def _node(token: re.Match[str], rest: Iterator[re.Match[str]], text: str) -> Node:
    if token[0] in "{[":
        return _table(token, rest, text) if token[0] == "{" else _list(token, rest, text)
    if token["mark"]:
        raise _wrong(text, token)
    try:
        value = json.loads(token[0], parse_constant=_refuse)
    except ValueError as error:
        raise _wrong(text, token) from error
    return Node(token.start(), token.end(), value)


def _table(token: re.Match[str], rest: Iterator[re.Match[str]], text: str) -> Node:
    node = Node(token.start(), value={})
    while (key := _next(rest))[0] != "}":
        if not key["text"] or (node.children and not node.comma):
            raise _wrong(text, key)
        if (colon := _next(rest))[0] != ":":
            raise _wrong(text, colon)
        child = _node(_next(rest), rest, text)
        node.names.append(json.loads(key[0]))
        node.value[node.names[-1]] = child.value
        if _closed(node, key, child, rest, text, "}"):
            return node
    node.end = key.end()
    return node


def _list(token: re.Match[str], rest: Iterator[re.Match[str]], text: str) -> Node:
    node = Node(token.start(), value=[])
    while (item := _next(rest))[0] != "]":
        child = _node(item, rest, text)
        node.value.append(child.value)
        if _closed(node, item, child, rest, text, "]"):
            return node
    node.end = item.end()
    return node


def _closed(
    node: Node, first: re.Match[str], child: Node, rest: Iterator[re.Match[str]], text: str, close: str
) -> bool:
    """Take one child in, and what follows it: a comma, or the end of its table or list."""
    node.starts.append(first.start())
    node.children.append(child)
    token = _next(rest)
    node.comma = token[0] == ","
    if not node.comma and token[0] != close:
        raise _wrong(text, token)
    node.end = token.end()
    return not node.comma


def _next(rest: Iterator[re.Match[str]]) -> re.Match[str]:
    found = next(rest, None)
    if found is None:
        raise ConfigTextError("is not JSON: it ends in the middle")
    return found


def _wrong(text: str, token: re.Match[str]) -> ConfigTextError:
    line = text.count("\n", 0, token.start()) + 1
    return ConfigTextError(f"is not JSON: {token[0][:1]!r} in line {line} is not expected")


def _refuse(word: str) -> None:
    raise ValueError(word)
