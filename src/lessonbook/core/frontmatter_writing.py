"""Writes the YAML block at the head of a Markdown file: one line per key, and edits that leave other lines alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lessonbook.core.errors import InputError
from lessonbook.core.frontmatter import ENDS_PLAIN, ODD, line_of, parse, yaml_events

if TYPE_CHECKING:
    import yaml

# What YAML 1.1 reads as a truth value or nothing when it stands unquoted, in whatever case.
_TYPED_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def scalar(text: str) -> str:
    """Return ``text`` as YAML on one line that every parser reads back as this very text; quoted only when needed."""
    plain = (
        text[:1].isalpha()
        and text.lower() not in _TYPED_WORDS
        and text == text.strip()
        and "---" not in text
        and "\n" not in text
        and not ODD.search(text)
        and not ENDS_PLAIN.search(text)
    )
    return text if plain else f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    # Some readers, the reference one among them, end the block at the first three hyphens wherever they stand.
    text = text.replace("---", "--\\x2d")
    return ODD.sub(lambda found: _code(ord(found[0])), text)


def _code(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def render(fields: Mapping[str, str | Mapping[str, str]]) -> str:
    """Return the lines of a block for ``fields``, each on one line, a nested table indented by two blanks."""
    lines: list[str] = []
    for key, value in fields.items():
        if isinstance(value, str):
            lines.append(f"{key}: {scalar(value)}")
        elif value:
            lines.append(f"{key}:")
            lines.extend(f"  {name}: {scalar(text)}" for name, text in value.items())
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _Entries:
    """A block cut into its top-level entries, so that one is replaced and every other keeps its bytes."""

    head: tuple[str, ...]
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def text(self) -> str:
        return "".join(f"{line}\n" for part in (self.head, *self.lines.values()) for line in part)


def merge(old: str, new: str) -> str:
    """Return block ``old`` with the entries of block ``new`` in place of its own; all other lines keep their bytes.

    ``metadata`` is merged key by key; one that is not a table of its own lines stays as it is. Raises ``InputError``
    where the old block cannot be read, or is laid out so that an edit would change more than was asked for.
    """
    before, given = parse(old), parse(new)
    result = _merged(old, new).text()
    try:
        after = parse(result)
    except InputError:
        after = {}
    kept, fresh = before.get("metadata"), given.get("metadata")
    both = {**kept, **fresh} if isinstance(kept, Mapping) and isinstance(fresh, Mapping) else fresh
    expected = {**before, **given}
    if kept is not None and after.get("metadata") in (kept, both):
        expected["metadata"] = after["metadata"]
    if after != expected:
        raise InputError("has a frontmatter laid out so that it cannot be edited safely; write one key a line")
    return result


def _merged(old: str, new: str) -> _Entries:
    before, given = _entries(old), _entries(new)
    lines = dict(before.lines)
    for key, fresh in given.lines.items():
        kept = lines.get(key, ())
        if key == "metadata" and kept:
            lines[key] = _merged_table(kept, fresh)
        else:
            lines[key] = fresh + tuple(_trailing_notes(kept))
    return _Entries(before.head, lines)


def _merged_table(kept: tuple[str, ...], fresh: tuple[str, ...]) -> tuple[str, ...]:
    notes = tuple(_trailing_notes(kept))
    table = kept[1 : len(kept) - len(notes)]
    found = next((re.match(r" +", line) for line in table if line.strip()), None)
    if not re.fullmatch(r"metadata: *(#.*)?", kept[0]) or found is None:
        return kept
    indent = found[0]
    inner = "".join(f"{line.removeprefix(indent)}\n" for line in table)
    added = "".join(f"{line.removeprefix('  ')}\n" for line in fresh[1:])
    merged = _merged(inner, added).text().split("\n")[:-1]
    return kept[0], *(f"{indent}{line}" if line else line for line in merged), *notes


def _trailing_notes(lines: tuple[str, ...]) -> Iterator[str]:
    for number, _ in enumerate(lines[1:], 1):
        if all(not line.strip() or line.startswith("#") for line in lines[number:]):
            yield from lines[number:]
            return


def _entries(block: str) -> _Entries:
    lines = block.split("\n")
    if not lines[-1]:
        lines.pop()
    starts = list(_key_lines(yaml_events(block)))
    ends = [line for _, line in starts[1:]] + [len(lines)]
    head = tuple(lines[: starts[0][1]] if starts else lines)
    return _Entries(
        head, {key: tuple(lines[line:end]) for (key, line), end in zip(starts, ends, strict=True)} if starts else {}
    )


def _key_lines(events: list[yaml.Event]) -> Iterator[tuple[str, int]]:
    depth, is_key = 0, True
    for event in events:
        kind = type(event).__name__
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            depth -= 1
        if depth == 1 and is_key and kind == "ScalarEvent":
            yield str(getattr(event, "value", "")), line_of(event) - 2
        if depth == 1 and kind in ("MappingEndEvent", "SequenceEndEvent", "ScalarEvent", "AliasEvent"):
            is_key = not is_key
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            depth += 1
