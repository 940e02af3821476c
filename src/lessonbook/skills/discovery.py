"""Finds every skill there is: authored by people, managed by the agent, learned by review; and says what is wrong.

An authored skill wins over a learned one of its name, and that over a managed one: what a person wrote, then what a
person accepted, then what an agent wrote alone. Names are compared without case, the frontmatter's and the folder's.
Nothing a file holds stops the search.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from lessonbook.core import frontmatter
from lessonbook.core.clean import clean_line
from lessonbook.core.redact import redact
from lessonbook.core.skill import MAX_DESCRIPTION, is_skill_name
from lessonbook.skills.files import HEAD, SkillFile, authored_files, managed_files
from lessonbook.skills.roots import authored_roots

Origin = Literal["authored", "learned", "managed"]

_RANK: tuple[Origin, ...] = ("authored", "learned", "managed")


@dataclass(frozen=True, slots=True)
class Found:
    """One skill. ``agents`` read its folder; ``shadowed_by`` is the file of the skill that wins over it, if any.

    A learned skill's path is its path inside the book.
    """

    name: str
    description: str
    origin: Origin
    agents: tuple[str, ...]
    path: Path
    shadowed_by: Path | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one file: its skill's name, its path, and a sentence's end that follows the path."""

    name: str
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every skill found, by name, also those another one shadows; and every problem, once."""

    skills: tuple[Found, ...]
    problems: tuple[Problem, ...]


@dataclass(slots=True)
class _Seen:
    """One real file while it is collected: the skill, every name it answers to, and what is wrong with it."""

    found: Found
    names: set[str]
    usable: bool
    problems: list[str] = field(default_factory=list)


def discover(
    home: Path, cwd: Path | None, managed: Path | None, learned: Mapping[str, bytes] | None = None
) -> Catalogue:
    """Return every skill for a session in ``cwd``; never raises for what is in a file or a folder.

    ``managed`` is the root of the managed skills; ``learned`` maps the paths ``skills/<name>/SKILL.md`` of a book's
    HEAD to bytes. One real file that several roots lead to is listed once.
    """
    own = list(_managed(managed)) if managed else []
    seen = [*_authored(home, cwd, own), *_learned(learned or {}), *own]
    _shadow(seen)
    skills = sorted((item.found for item in seen if item.usable), key=_order)
    problems = [Problem(item.found.name, item.found.path, reason) for item in seen for reason in item.problems]
    return Catalogue(tuple(skills), tuple(sorted(problems, key=lambda problem: (problem.name, str(problem.path)))))


def authored_names(home: Path, cwd: Path | None) -> Mapping[str, Path]:
    """Return every name an authored skill claims, casefolded, with its file; a broken file claims its folder's."""
    claimed: dict[str, Path] = {}
    for item in _authored(home, cwd, []):
        for name in item.names:
            claimed.setdefault(name, item.found.path)
    return claimed


def _authored(home: Path, cwd: Path | None, managed: list[_Seen]) -> list[_Seen]:
    """Collect the authored files. A managed skill that an authored folder links to stays managed."""
    known = {item.found.path.resolve(): item for item in managed}
    by_file: dict[object, _Seen] = {}
    for root in authored_roots(home, cwd):
        for file in authored_files(root.path):
            key: object = file.id or file.path
            item = by_file.get(key)
            if item is None and known and file.id:
                item = known.get(file.path.resolve())
            if item is None:
                item = by_file[key] = _examined(file, "authored")
            elif item.found.origin == "authored":
                item.names.add(file.folder.casefold())
            agents = dict.fromkeys((*item.found.agents, *root.agents))
            item.found = replace(item.found, agents=tuple(agents))
    return list(by_file.values())


def _managed(root: Path) -> Iterator[_Seen]:
    for file in managed_files(root):
        yield _examined(file, "managed")


def _learned(files: Mapping[str, bytes]) -> Iterator[_Seen]:
    for name, data in sorted(files.items()):
        path = Path(name)
        yield _examined(SkillFile(path, path.parent.name, None, data), "learned")


def _examined(file: SkillFile, origin: Origin) -> _Seen:
    shown = _line(file.folder)
    found = Found(shown, "", origin, (), file.path)
    item = _Seen(found, {file.folder.casefold()}, usable=False)
    text = None if file.problem else _text(file.head)
    parts = frontmatter.split(text) if text is not None else None
    reason = file.problem or ("is not UTF-8 text" if parts is None else _line(parts.problem or ""))
    if reason or parts is None:
        item.problems.append(reason)
        return item
    claimed = parts.fields.get("name", "")
    name, told = _name(claimed, file.folder)
    description, doubt = _description(parts.fields.get("description", ""))
    item.problems.extend(text for text in (told, doubt) if text)
    item.found = replace(found, name=name or shown, description=description)
    if isinstance(claimed, str) and claimed.strip():
        item.names.add(claimed.strip().casefold())
    item.usable = True
    return item


def _text(head: bytes) -> str | None:
    try:
        # Only where the head was cut off may its last character be incomplete.
        return codecs.utf_8_decode(head, "strict", len(head) < HEAD)[0]
    except UnicodeDecodeError:
        return None


def _name(value: frontmatter.Value, folder: str) -> tuple[str | None, str | None]:
    if not isinstance(value, str) or not value:
        return None, "has no name in its frontmatter; its folder's name is used"
    if not is_skill_name(value):
        return (
            None,
            f"has the name {_line(value)[:80]!r}, which is not one the specification allows; its folder's is used",
        )
    if value != folder:
        return (
            value,
            f"says its name is {value!r}, but its folder is {_line(folder)!r}; agents differ in which they use",
        )
    return value, None


def _description(value: frontmatter.Value) -> tuple[str, str | None]:
    text = _line(value) if isinstance(value, str) else ""
    if not text:
        return "", "has no description, so no agent knows when to use it"
    if len(text) > MAX_DESCRIPTION:
        return text, f"has a description of {len(text):,} characters; the specification allows {MAX_DESCRIPTION:,}"
    return text, None


def _line(text: str) -> str:
    return redact(clean_line(text)).text


def _shadow(seen: Iterable[_Seen]) -> None:
    """Mark, and say of, every usable skill whose name a better origin claims. A broken file shadows nothing."""
    ranked = sorted((item for item in seen if item.usable), key=lambda item: _RANK.index(item.found.origin))
    claimed: dict[str, Found] = {}
    for item in ranked:
        rivals = (claimed[name] for name in sorted(item.names) if name in claimed)
        winner = next((rival for rival in rivals if rival.origin != item.found.origin), None)
        if winner is not None:
            item.found = replace(item.found, shadowed_by=winner.path)
            item.problems.append(f"is not used: the {winner.origin} skill {winner.path} has its name")
            continue
        for name in item.names:
            claimed.setdefault(name, item.found)


def _order(found: Found) -> tuple[str, int, str]:
    return found.name.casefold(), _RANK.index(found.origin), str(found.path)
