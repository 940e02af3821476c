"""Edits YAML as text: entries in block style line by line, in flow style between the braces.

PyYAML says where every value stands; nothing is ever written by it, so comments, quotes and layout stay. Files with
several documents, merge keys on the way, or anchors inside what would be taken out are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from lessonbook.system.config_text import ConfigTextError, Keys, as_json, line_end

_Node = yaml.MappingNode | yaml.SequenceNode


def parse(text: str) -> Any:
    """Return what the text holds, every scalar with its tag; an empty table for nothing."""
    root = _root(text)
    return {} if root is None else _value(root, ())


def insert(text: str, keys: Keys, name: str, value: Any) -> str:
    """Return the text with one more entry at the end of the table ``keys``."""
    root = _root(text)
    if root is None:
        gap = "" if not text or text.endswith("\n") else line_end(text)
        return f"{text}{gap}{_lines(name, value, 0, line_end(text))}"
    if keys and isinstance(_child(root, keys), yaml.ScalarNode):
        return _below_nothing(text, root, keys, name, value)
    outer = _find(root, keys)
    if outer.flow_style:
        return _flow(text, outer, f"{_plain(name)}: {as_json(value)}")
    indent = outer.value[0][0].start_mark.column
    return _after(text, outer, _lines(name, value, indent, line_end(text)))


def append(text: str, keys: Keys, value: Any) -> str:
    """Return the text with one more item at the end of the list ``keys``."""
    root = _root(text)
    outer = _find(root, keys) if root is not None else None
    if not isinstance(outer, yaml.SequenceNode):
        raise ConfigTextError(f"holds no list at {'.'.join(keys)}")
    if outer.flow_style:
        return _flow(text, outer, as_json(value))
    return _after(text, outer, _item(value, outer.start_mark.column, line_end(text)))


def remove(text: str, keys: Keys, index: int | None) -> str:
    """Return the text without one entry of a table or one item of a list."""
    outer, spans, at = _place(text, keys, index)
    if outer.flow_style:
        return _unflow(text, spans, at)
    begin, beyond = _own_lines(text, outer, spans[at])
    return text[:begin] + text[beyond:]


def replace(text: str, keys: Keys, index: int | None, value: Any) -> str:
    """Return the text with another value in the place of one entry or item."""
    outer, spans, at = _place(text, keys, index)
    start, end = spans[at]
    if outer.flow_style:
        return text[:start] + (f"{_plain(keys[-1])}: " if index is None else "") + as_json(value) + text[end:]
    begin, beyond = _own_lines(text, outer, (start, end))
    first = outer.value[at]
    indent = outer.start_mark.column if index is not None else _first(first).start_mark.column
    close = line_end(text)
    lines = _item(value, indent, close) if index is not None else _lines(keys[-1], value, indent, close)
    return text[:begin] + lines + text[beyond:]


def _place(text: str, keys: Keys, index: int | None) -> tuple[Any, list[tuple[int, int]], int]:
    """The table or list that holds the entry, where each of its children starts and ends, and which one it is."""
    root = _root(text)
    if root is None:
        raise ConfigTextError("holds nothing")
    outer = _find(root, keys if index is not None else keys[:-1])
    at = index if index is not None else next(n for n, (key, _) in enumerate(outer.value) if key.value == keys[-1])
    spans = [(_first(child).start_mark.index, _end(text, _second(child))) for child in outer.value]
    return outer, spans, at


def _own_lines(text: str, outer: Any, span: tuple[int, int]) -> tuple[int, int]:
    """Where the lines of one child of a block start and end."""
    begin, beyond = text.rfind("\n", 0, span[0]) + 1, _next_line(text, span[1])
    before = text[begin : span[0]]
    lead = before.replace("-", "", 1) if isinstance(outer, yaml.SequenceNode) else before
    if lead.strip():
        raise ConfigTextError("has that entry on a line with another one")
    return begin, beyond


def _root(text: str) -> Any:
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigTextError(f"is not YAML: {error.problem or error.context}{line}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigTextError("is not YAML") from error
    if len(documents) > 1:
        raise ConfigTextError("holds more than one YAML document")
    root = documents[0] if documents else None
    if isinstance(root, yaml.ScalarNode) and root.value == "" and root.tag.endswith(":null"):
        return None
    return root


def _value(node: Any, above: tuple[int, ...]) -> Any:
    """A plain value that differs whenever two files differ for a reader; our own values look the same in it."""
    if id(node) in above:
        raise ConfigTextError("holds an anchor that contains itself")
    if isinstance(node, yaml.MappingNode):
        found: dict[Any, Any] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else repr(_value(key, (*above, id(node))))
            if name in found:
                raise ConfigTextError(f"holds {name!r} twice in one table")
            found[name] = _value(value, (*above, id(node)))
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*above, id(node))) for item in node.value]
    return _scalar(node)


def _scalar(node: Any) -> Any:
    kind = node.tag.rpartition(":")[2]
    if kind == "str":
        return node.value
    if kind == "null":
        return None
    if kind == "bool" and node.value in ("true", "false"):
        return node.value == "true"
    if kind == "int" and node.value.isdecimal() and str(int(node.value)) == node.value:
        return int(node.value)
    return f"{node.tag} {node.value}"


def _below_nothing(text: str, root: Any, keys: Keys, name: str, value: Any) -> str:
    """Put the first entry below a key that has nothing behind it."""
    outer = _find(root, keys[:-1])
    key, empty = next(pair for pair in outer.value if pair[0].value == keys[-1])
    if outer.flow_style or text[empty.start_mark.index : empty.end_mark.index].strip():
        raise ConfigTextError(f"holds no table at {'.'.join(keys)}")
    here = _next_line(text, key.end_mark.index)
    gap = "" if text[here - 1] == "\n" else line_end(text)
    return text[:here] + gap + _lines(name, value, key.start_mark.column + 2, line_end(text)) + text[here:]


def _child(root: Any, keys: Keys) -> Any:
    node = root
    for key in keys:
        node = next(value for name, value in node.value if name.value == key)
    return node


def _find(root: Any, keys: Keys) -> Any:
    node = _child(root, keys)
    if not isinstance(node, _Node):
        raise ConfigTextError(f"holds neither a table nor a list at {'.'.join(keys)}")
    return node


def _first(child: Any) -> Any:
    return child[0] if isinstance(child, tuple) else child


def _second(child: Any) -> Any:
    return child[1] if isinstance(child, tuple) else child


def _end(text: str, node: Any) -> int:
    """Where the last character of a value stands: PyYAML counts comments and blank lines after a block to it."""
    if isinstance(node, _Node) and not node.flow_style and node.value:
        last = node.value[-1]
        if _second(last).start_mark.index < _first(last).start_mark.index:  # an alias: its value stands elsewhere
            return int(last[0].end_mark.index)
        return _end(text, _second(last))
    end: int = node.end_mark.index
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return end
    return len(text[:end].rstrip(" \t\r\n")) if end > node.start_mark.index else end


def _next_line(text: str, at: int) -> int:
    if at and text[at - 1] == "\n":
        return at
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _after(text: str, outer: Any, lines: str) -> str:
    """Put lines behind the last one of a block."""
    here = _next_line(text, _end(text, outer))
    gap = "" if not here or text[here - 1] == "\n" else line_end(text)
    return text[:here] + gap + lines + text[here:]


def _flow(text: str, outer: Any, shown: str) -> str:
    if not outer.value:
        here = outer.start_mark.index + 1
        return text[:here] + shown + text[here:]
    here = _end(text, _second(outer.value[-1]))
    return f"{text[:here]}, {shown}{text[here:]}"


def _unflow(text: str, spans: list[tuple[int, int]], at: int) -> str:
    start, end = spans[at]
    if at:
        start = spans[at - 1][1]
    elif len(spans) > 1:
        end = spans[1][0]
    return text[:start] + text[end:]


def _lines(name: str, value: Any, indent: int, end: str) -> str:
    """One entry in block style: tables and lists of tables on lines of their own, all else as JSON on one."""
    blanks = " " * indent
    if isinstance(value, Mapping) and value:
        inner = "".join(_lines(key, item, indent + 2, end) for key, item in value.items())
        return f"{blanks}{_plain(name)}:{end}{inner}"
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return f"{blanks}{_plain(name)}:{end}" + "".join(_item(item, indent + 2, end) for item in value)
    return f"{blanks}{_plain(name)}: {as_json(value)}{end}"


def _item(value: Any, indent: int, end: str) -> str:
    blanks = " " * indent
    if not isinstance(value, Mapping) or not value:
        return f"{blanks}- {as_json(value)}{end}"
    inner = "".join(_lines(key, item, indent + 2, end) for key, item in value.items())
    return f"{blanks}- {inner[indent + 2 :]}"


def _plain(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)
