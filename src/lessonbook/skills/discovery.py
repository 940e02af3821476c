"""Finds every skill there is: authored by people, managed by the agent, learned by review; and says what is wrong.

An authored skill wins over a learned one of its name, and that over a managed one: what a person wrote, then what a
person accepted, then what an agent wrote alone. Names are compared without case, the frontmatter's and the folder's.
Nothing a file holds stops the search.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from lessonbook.core.value import Value
from lessonbook.skills.files import SkillFile, authored_files, file_id, managed_files
from lessonbook.skills.found import Found as Found
from lessonbook.skills.found import Seen
from lessonbook.skills.publish_record import copied
from lessonbook.skills.roots import PUBLISHED_FROM, authored_roots
from lessonbook.system.links import target_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.skills.found import Origin
    from lessonbook.skills.known import Known


_RANK: tuple[Origin, ...] = ("authored", "learned", "managed")


class Problem(Value):
    """What is wrong with one file: its skill's name, its path, and a sentence's end that follows the path."""

    name: str
    path: Path
    reason: str


class Catalogue(Value):
    """Every skill found, by name, also those another one shadows; and every problem, once."""

    skills: tuple[Found, ...]
    problems: tuple[Problem, ...]


def discover(
    home: Path,
    cwd: Path | None,
    managed: Path | None,
    learned: Mapping[str, bytes] | None = None,
    known: Known | None = None,
) -> Catalogue:
    """Return every skill for a session in ``cwd``; never raises for what is in a file or a folder.

    ``managed`` is the root of the managed skills; ``learned`` maps the paths ``skills/<name>/SKILL.md`` of a book's
    HEAD to bytes. One real file that several roots lead to is listed once. ``known`` remembers what is in files from
    one search to the next.
    """
    own = list(_managed(managed, known)) if managed else []
    seen = [*_authored(home, cwd, own, known), *_learned(learned or {}), *own]
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


def _authored(home: Path, cwd: Path | None, managed: list[Seen], known_files: Known | None = None) -> list[Seen]:
    """Collect the authored files. A managed skill that an authored folder links to stays managed."""
    ours = {id: item for item in managed if (id := file_id(item.found.path)) is not None}
    by_file: dict[object, Seen] = {}
    for root in authored_roots(home, cwd):
        copies = copied(root.path)
        for file in authored_files(root.path, known_files):
            key: object = file.id or file.path
            item = by_file.get(key)
            if item is None and file.id:
                item = ours.get(file.id)
            if item is None and _is_published(file, copies):
                continue
            if item is None:
                item = by_file[key] = _examined(file, "authored", known_files, root.agents)
            elif item.found.origin == "authored":
                item.names.add(file.folder.casefold())
            if not set(root.agents) <= set(item.found.agents):
                agents = dict.fromkeys((*item.found.agents, *root.agents))
                item.found = item.found.but(agents=tuple(agents))
    return list(by_file.values())


def _is_published(file: SkillFile, copies: Container[str]) -> bool:
    """Whether it is a skill of ours that was published to an agent: nobody wrote it there."""
    to = target_of(file.path.parent)
    return to.parent.name in PUBLISHED_FROM if to is not None else file.folder in copies


def _managed(root: Path, known: Known | None) -> Iterator[Seen]:
    for file in managed_files(root, known):
        yield _examined(file, "managed", known)


def _learned(files: Mapping[str, bytes]) -> Iterator[Seen]:
    for name, data in sorted(files.items()):
        path = Path(name)
        yield _examined(SkillFile(path, path.parent.name, None, data), "learned")


def _examined(file: SkillFile, origin: Origin, known: Known | None = None, agents: tuple[str, ...] = ()) -> Seen:
    if known is not None and file.is_known:
        return known.seen(file.key, file.path, file.folder, origin, agents)
    from lessonbook.skills.examine import examined  # its rules take as long to load as all else a briefing needs

    item = examined(file, origin, agents)
    if known is not None and file.key:
        known.keep(file.key, item, file.folder)
    return item


def _shadow(seen: Iterable[Seen]) -> None:
    """Mark, and say of, every usable skill whose name a better origin claims. A broken file shadows nothing."""
    ranked = sorted((item for item in seen if item.usable), key=lambda item: _RANK.index(item.found.origin))
    claimed: dict[str, Found] = {}
    for item in ranked:
        rivals = (claimed[name] for name in sorted(item.names) if name in claimed)
        winner = next((rival for rival in rivals if rival.origin != item.found.origin), None)
        if winner is not None:
            item.found = item.found.but(shadowed_by=winner.path)
            item.problems.append(f"is not used: the {winner.origin} skill {winner.path} has its name")
            continue
        for name in item.names:
            claimed.setdefault(name, item.found)


def _order(found: Found) -> tuple[str, int, str]:
    return found.name.casefold(), _RANK.index(found.origin), str(found.path)
