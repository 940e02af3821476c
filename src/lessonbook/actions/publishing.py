"""Publishes this machine's managed skills and those accepted into the global book to the agents that are set up.

Skills of one project's book are not published: agents read home folders everywhere, and a repository is not ours to
write to. The briefing of that project names them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lessonbook.core.errors import LessonbookError
from lessonbook.core.value import Value
from lessonbook.skills.publish import Published, Report, Target
from lessonbook.skills.publish_record import Record
from lessonbook.skills.roots import managed_root
from lessonbook.system.settings import Places, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.skills.discovery import Catalogue

ACCEPTED = "published-skills"
"""The folder of the accepted skills as they are in HEAD, beside the agent folder."""
LOCK_WAIT = 5.0


class Reader(Value):
    """One agent that is set up: the folder to publish to, and how many characters its list of skills may have."""

    agent: str
    folder: Path
    budget: int
    follows: bool = True
    """Whether it follows a link to a skill's folder."""


def publish_all(where: Places, settings: Settings, readers: Iterable[Reader]) -> Report:
    """Bring the skill folders of ``readers``, and of those that were readers before, in step with what there is.

    Raises ``BusyError`` while another process does the same, ``StoreError`` where our own folders cannot be written.
    """
    from lessonbook.skills.publish import publish
    from lessonbook.system.locks import locked

    known = list(readers)
    with locked(where.state / "publish.lock", wait=LOCK_WAIT):
        record = Record(where.state)
        seal = seal_of(where, settings, record)
        accepted = _accepted(where) if settings.learning and known else {}
        _lay_out(where.data / ACCEPTED, accepted)
        catalogue = _catalogue(where, settings, accepted)
        wanted = _wanted(where, settings, catalogue)
        roots = [managed_root(settings.agent_dir), where.data / ACCEPTED]
        done = publish(record, roots, _targets(known, catalogue), wanted if known else ())
        record.save(seal if known else None)
    return done


def carried(where: Places, settings: Settings, budget: int) -> dict[str, dict[str, bytes]]:
    """Return the files of every skill of ours by its name, for a folder that carries copies of them to one agent.

    No more than ``budget`` characters of its list, most important first. Raises as ``publish_all`` does.
    """
    from lessonbook.skills.publish import contents
    from lessonbook.system.locks import locked

    found: dict[str, dict[str, bytes]] = {}
    with locked(where.state / "publish.lock", wait=LOCK_WAIT):
        accepted = _accepted(where) if settings.learning else {}
        _lay_out(where.data / ACCEPTED, accepted)
        for skill in _wanted(where, settings, _catalogue(where, settings, accepted)):
            if skill.cost <= budget:
                budget -= skill.cost
                found[skill.name] = contents(skill.folder)
    return found


def is_due(where: Places, settings: Settings) -> bool:
    """Whether something was published here before and what there is to publish may have changed since; cheap to ask."""
    record = Record(where.state)
    return record.seal is not None and record.seal != seal_of(where, settings, record)


def seal_of(where: Places, settings: Settings, record: Record) -> list[object]:
    """Return what changes whenever there is something else to publish: times of our folders and of the book's refs.

    Where skills were copied, also the times of the managed ones themselves.
    """
    git = where.learned / ".git"
    head = _bytes(git / "HEAD").removeprefix(b"ref: ").strip().decode("utf-8", "replace")
    watched = [git / "HEAD", git / "packed-refs", git / "reftable" / "tables.list", managed_root(settings.agent_dir)]
    watched += [git / head] if head.startswith("refs/") and ".." not in head else []
    if record.has_copies:
        watched += sorted(managed_root(settings.agent_dir).glob("*/SKILL.md"))
    return [settings.learning, str(settings.agent_dir), *(_time(path) for path in watched)]


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()[:4096]
    except OSError:
        return b""


def _accepted(where: Places) -> Mapping[str, bytes]:
    """Every file below ``skills/`` in HEAD of the global book; nothing where it cannot be read: the doctor says why."""
    from lessonbook.book.head import read

    try:
        return read(where.learned).skills
    except LessonbookError:
        return {}


def _lay_out(root: Path, accepted: Mapping[str, bytes]) -> None:
    """Make ``root`` hold the accepted skills exactly as they are in HEAD."""
    from lessonbook.system.links import remove_folder, write_folder

    by_name: dict[str, dict[str, bytes]] = {}
    for path, data in accepted.items():
        _, name, inner = path.split("/", 2)
        by_name.setdefault(name, {})[inner] = data
    for name, wanted in by_name.items():
        write_folder(root / name, wanted)
    for name in os.listdir(root) if root.is_dir() else ():  # noqa: PTH208  names are enough
        if name not in by_name:
            remove_folder(root / name)


def _catalogue(where: Places, settings: Settings, accepted: Mapping[str, bytes]) -> Catalogue:
    from lessonbook.actions.skills import list_skills

    learned = {path: data for path, data in accepted.items() if path.endswith("/SKILL.md")}
    return list_skills(where, settings, None, learned)


def _wanted(where: Places, settings: Settings, catalogue: Catalogue) -> list[Published]:
    """The skills of ours that no other one shadows, accepted ones first; only under a name that is their folder's."""
    found = []
    for origin in ("learned", "managed"):
        root = where.data / ACCEPTED if origin == "learned" else managed_root(settings.agent_dir)
        for skill in catalogue.skills:
            folder = skill.path.parent.name
            if skill.origin == origin and skill.shadowed_by is None and skill.description and skill.name == folder:
                found.append(Published(skill.name, skill.description, root / folder))
    return found


def _targets(readers: Iterable[Reader], catalogue: Catalogue) -> list[Target]:
    """Each folder once, with what the least patient of its readers' lists has left beside the authored skills."""
    left: dict[Path, int] = {}
    known = list(readers)
    for reader in known:
        authored = (skill for skill in catalogue.skills if skill.origin == "authored" and reader.agent in skill.agents)
        used = sum(Published(skill.name, skill.description, skill.path).cost for skill in authored)
        free = max(0, reader.budget - used)
        left[reader.folder] = min(free, left.get(reader.folder, free))
    unfollowed = {reader.folder for reader in known if not reader.follows}
    return [Target(path, free, path not in unfollowed) for path, free in left.items()]
