"""Checks skill files against the Agent Skills specification (agentskills.io) and what agents make of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.core import frontmatter
from lessonbook.core.skill import MAX_BYTES
from lessonbook.core.value import Value
from lessonbook.skills.examine import examined
from lessonbook.skills.files import HEAD, SkillFile, authored_files, read_file
from lessonbook.skills.found import Seen
from lessonbook.skills.roots import FILE

FIELDS = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
"""The fields the specification knows."""
MAX_COMPATIBILITY = 500
_DEPTH = 12


class Fault(Value):
    """One thing wrong with one file. ``level`` is ``fault`` for what breaks the specification, else ``note``."""

    path: Path
    name: str
    level: str
    text: str
    """The end of a sentence that the path begins."""


def lint(folder: Path) -> tuple[int, list[Fault]]:
    """Return how many skills are in ``folder`` (or whether it is one), and every fault once, by path. Never raises."""
    found = [(file, examined(file, "authored")) for file in _skill_files(folder)]
    faults = [fault for file, seen in found for fault in _looked_into(file, seen)]
    faults += _twice(found)
    return len(found), sorted(faults, key=lambda fault: (str(fault.path), fault.level, fault.text))


def _skill_files(folder: Path) -> Iterator[SkillFile]:
    own = read_file(folder / FILE if folder.name != FILE else folder)
    if own is not None:
        yield own
    else:
        yield from authored_files(folder, depth=_DEPTH)


def _looked_into(file: SkillFile, seen: Seen) -> Iterator[Fault]:
    for problem in seen.problems:
        yield Fault(file.path, seen.found.name, "fault", problem)
    if not seen.usable:
        return
    text = file.head.decode("utf-8", "replace")
    parts = frontmatter.split(text)
    for level, told in (*_fields(parts), *_size(file, parts)):
        yield Fault(file.path, seen.found.name, level, told)


def _fields(parts: frontmatter.Frontmatter) -> Iterator[tuple[str, str]]:
    fields = parts.fields
    unknown = sorted(set(fields) - FIELDS)
    if unknown:
        shown = ", ".join(unknown[:10])
        yield "note", f"has fields the specification does not know, which some agents use and others ignore: {shown}"
    metadata = fields.get("metadata", {})
    if metadata != "" and not isinstance(metadata, dict):
        yield "fault", "has metadata that is no table of texts"
    elif isinstance(metadata, dict):
        odd = sorted(key for key, value in metadata.items() if not isinstance(value, str))
        if odd:
            yield "fault", f"has metadata whose values are no texts: {', '.join(odd[:10])}"
    for name in ("license", "compatibility"):
        if name in fields and not isinstance(fields[name], str):
            yield "fault", f"has a {name} that is no text"
    compatibility = fields.get("compatibility", "")
    if isinstance(compatibility, str) and len(compatibility) > MAX_COMPATIBILITY:
        size = f"{len(compatibility):,} characters; the specification allows {MAX_COMPATIBILITY}"
        yield "fault", f"has a compatibility of {size}"
    if "allowed-tools" in fields and not isinstance(fields["allowed-tools"], str):
        yield "note", "has allowed-tools that are a list; the specification wants one text, separated by blanks"


def _size(file: SkillFile, parts: frontmatter.Frontmatter) -> Iterator[tuple[str, str]]:
    if len(file.head) < HEAD and not parts.body.strip():
        yield "fault", "says nothing below its frontmatter"
    if file.size > MAX_BYTES:
        yield "note", f"has {file.size:,} bytes, all of which an agent reads; move parts into files beside it"


def _twice(found: list[tuple[SkillFile, Seen]]) -> Iterator[Fault]:
    """Say of every name that two folders side by side claim; agents differ in which they take."""
    first: dict[tuple[Path, str], Path] = {}
    for file, seen in found:
        name = seen.found.name
        other = first.setdefault((file.path.parent.parent, name.casefold()), file.path) if seen.usable else file.path
        if other != file.path:
            yield Fault(file.path, name, "fault", f"claims the name of {other}")
