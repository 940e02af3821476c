"""The YAML block at the head of a Markdown file, read without surprises.

Every scalar stays the text it is (``on``, ``2024-06-01`` and ``123`` are names, not values). Most skills have a block
simple enough to read without a YAML parser, whose import alone costs more than reading hundreds of files; whatever is
not certainly that simple goes to PyYAML, and the two never differ where both answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lessonbook.core.errors import InputError

if TYPE_CHECKING:
    import yaml

Value: TypeAlias = "str | tuple[Value, ...] | Mapping[str, Value]"

MAX_BLOCK = 65_536
MAX_DEPTH = 16

_OPEN = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\r|\n)")
_CLOSE = re.compile(r"(?:(?<=\r)|(?<=\n))---[ \t]*(?:\r\n|\r|\n|\Z)")
_BREAK = re.compile(r"\r\n|\r")

# What YAML 1.1 and 1.2 both take as ordinary characters of one line (specification 1.2.2, production 1, less breaks).
ODD = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_PAIR = re.compile(
    r"""(?P<key>[A-Za-z_][A-Za-z0-9_-]{0,99}):(?:\ +(?:"(?P<double>[^"\\]*)"|'(?P<single>(?:[^']|'')*)'"""
    r"""|(?P<plain>[A-Za-z0-9_/(.$\xa0-\U0010ffff][^\n]*)))?\ *""",
    re.VERBOSE,
)
ENDS_PLAIN = re.compile(r":(?:\ |\Z)|\ \#")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A file's first block and the rest. ``problem`` says, after the file's name, why the block cannot be used."""

    fields: Mapping[str, Value]
    body: str
    """Everything after the closing fence, exactly as it was; the whole text where there is no block."""
    block: str = ""
    """The lines between the fences, with LF line ends."""
    problem: str | None = None


def split(text: str) -> Frontmatter:
    """Return the fields and the body of ``text``; never raises.

    The first line must be ``---`` (a byte order mark may precede it, blanks may follow it), and the next line that is
    only ``---`` closes the block, also as the last line of the file. LF, CRLF and lone CR end lines.
    """
    opened = _OPEN.match(text)
    if opened is None:
        return Frontmatter({}, text, problem="has no frontmatter: its first line must be ---")
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        return Frontmatter({}, text, problem="opens a frontmatter with --- and never closes it")
    block = _BREAK.sub("\n", text[opened.end() : closed.start()])
    body = text[closed.end() :]
    try:
        return Frontmatter(parse(block), body, block)
    except InputError as error:
        return Frontmatter({}, body, block, problem=str(error))


def parse(block: str) -> dict[str, Value]:
    """Return the fields of a block of YAML; raises ``InputError`` naming what is wrong with it."""
    if len(block) > MAX_BLOCK:
        raise InputError(f"has a frontmatter of {len(block)} characters; {MAX_BLOCK} are the most that is read")
    quick = parse_simple(block)
    return parse_yaml(block) if quick is None else quick


def parse_simple(block: str) -> dict[str, Value] | None:
    """Return the fields of a block of one-line ``key: value`` pairs, one level of nesting deep; else ``None``.

    Answers only where a YAML parser would certainly say the same.
    """
    if ODD.search(block):
        return None
    fields: dict[str, Value] = {}
    inner: dict[str, Value] = {}
    last, indent = "", 0
    for line in block.split("\n"):
        text = line.lstrip(" ")
        if not text:
            continue
        pair = _simple_pair(text)
        deep = len(line) - len(text)
        if pair is None or (deep and (not pair[1] or not last or fields[last] not in ("", inner))):
            return None
        if not deep:
            last, inner, indent = pair[0], {}, 0
            if last in fields:
                return None
            # A quoted empty text is not an empty place that a nested block may fill.
            fields[last] = pair[1]
            if not pair[1] and not text.rstrip(" ").endswith(":"):
                last = ""
        elif (indent and deep != indent) or pair[0] in inner:
            return None
        else:
            indent = deep
            inner[pair[0]] = pair[1]
            fields[last] = inner
    return fields


def _simple_pair(text: str) -> tuple[str, str] | None:
    found = _PAIR.fullmatch(text)
    if found is None:
        return None
    key, double, single, plain = found.groups()
    if double is not None:
        return key, double
    if single is not None:
        return key, single.replace("''", "'")
    value = (plain or "").rstrip(" ")
    return None if ENDS_PLAIN.search(value) else (key, value)


def parse_yaml(block: str) -> dict[str, Value]:
    """Return the fields as PyYAML reads them, every scalar as text. Raises ``InputError`` naming what is wrong.

    Aliases, anchors, unknown tags, duplicate keys, nesting past 16 levels and a second document are refused.
    """
    events = yaml_events(block)
    # Stream start, document start, then the node.
    if len(events) <= 2:
        return {}
    steps = iter(events[2:])
    value = _build(next(steps), steps, 0)
    if not isinstance(value, dict):
        if value == "":
            return {}
        raise InputError("has a frontmatter that is not a list of `key: value` lines")
    if type(next(steps)).__name__ != "DocumentEndEvent" or type(next(steps)).__name__ != "StreamEndEvent":
        raise InputError("has a frontmatter of more than one YAML document")
    return value


def yaml_events(block: str) -> list[yaml.Event]:
    """Return what PyYAML's parser sees in a block; raises ``InputError`` where it is not YAML."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return list(yaml.parse(block, Loader=loader))
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise InputError(f"has a frontmatter that is not YAML{where}: {error.problem or error.context}") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise InputError("has a frontmatter with characters that YAML does not allow") from error


def line_of(event: yaml.Event) -> int:
    """Return the line of its file an event of a block starts in: the first line after the opening fence is 2."""
    return event.start_mark.line + 2 if event.start_mark else 0


def _build(event: yaml.Event, rest: Iterator[yaml.Event], depth: int) -> Value:
    kind = type(event).__name__
    line = line_of(event)
    if kind == "AliasEvent" or getattr(event, "anchor", None):
        raise InputError(f"uses a YAML anchor or alias in line {line}, which is not read")
    tag = getattr(event, "tag", None)
    if tag and tag != "!" and not tag.startswith("tag:yaml.org,2002:"):
        raise InputError(f"uses the YAML tag {tag!r} in line {line}; put the text in quotes")
    if kind == "ScalarEvent":
        return str(getattr(event, "value", ""))
    if depth >= MAX_DEPTH:
        raise InputError(f"nests its frontmatter deeper than {MAX_DEPTH} levels in line {line}")
    if kind == "SequenceStartEvent":
        return tuple(_items(rest, depth))
    return dict(_pairs(rest, depth))


def _items(rest: Iterator[yaml.Event], depth: int) -> Iterator[Value]:
    while type(event := next(rest)).__name__ != "SequenceEndEvent":
        yield _build(event, rest, depth + 1)


def _pairs(rest: Iterator[yaml.Event], depth: int) -> Iterator[tuple[str, Value]]:
    seen: set[str] = set()
    while type(event := next(rest)).__name__ != "MappingEndEvent":
        key = _build(event, rest, depth + 1)
        if not isinstance(key, str):
            raise InputError(f"has a key that is not text in line {line_of(event)}")
        if key in seen:
            raise InputError(f"has the key {key!r} twice in its frontmatter, again in line {line_of(event)}")
        seen.add(key)
        yield key, _build(next(rest), rest, depth + 1)
