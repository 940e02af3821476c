"""The skills an agent manages: ``<root>/<name>/SKILL.md`` and nothing else, never through a link, every version kept.

All work happens through the handles of opened folders, so a link that is swapped in between the check and the write
leads nowhere. Names are taken exactly as they are: what is no name is refused, never cleaned into another skill's.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lessonbook.core import skill as rules
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.redact import redact
from lessonbook.core.screen import quoted
from lessonbook.core.skill import Skill
from lessonbook.skills.history import History, Version
from lessonbook.skills.roots import FILE, managed_root
from lessonbook.system.faults import point
from lessonbook.system.folders import Folder
from lessonbook.system.locks import locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.core.skill import Action

HISTORY = "managed-skills-history"
LOCK_WAIT = 10.0


def managed_skills(agent_dir: Path) -> ManagedSkills:
    """Return the managed skills of one agent folder."""
    return ManagedSkills(managed_root(agent_dir), agent_dir / HISTORY)


class ManagedSkills:
    """The managed skills of one folder. Methods raise ``InputError`` for what is asked, ``StoreError`` for files.

    ``BusyError`` is raised where another process keeps the lock for more than ten seconds.
    """

    def __init__(self, root: Path, history: Path) -> None:
        self.root = root
        self._history = History(history)

    def check(self, action: Action, skill: Skill) -> None:
        """Raise what ``write`` would raise now; writes nothing."""
        self._planned(action, skill)

    def write(self, action: Action, skill: Skill) -> Path:
        """Create or update one skill and return its file; the version before and this one are kept first.

        ``create`` refuses a skill that exists, ``update`` one that does not. An update keeps the frontmatter keys it
        does not set, and changes nothing where the file already says the same.
        """
        self._planned(action, skill)
        with self._locked():
            data, live = self._planned(action, skill)
            if data != live:
                if live is not None:
                    self._settled(skill.name, live)
                self._history.keep(skill.name, data)
                point("skills.kept")
                self._replace(skill.name, data)
        return self._path(skill.name)

    def read(self, name: str) -> Skill:
        """Return one skill. Raises ``InputError`` where there is none or its frontmatter cannot be read."""
        return rules.parsed(name, _text(self._path(name), self._existing(name)))

    def delete(self, name: str) -> None:
        """Remove one skill; its versions stay, so that ``undo`` brings it back. A link goes, not what it leads to."""
        _check_name(name)
        with self._root() as root:
            if root is None or root.stat(name) is None:
                raise _missing(name)
        with self._locked(), self._root() as root:
            found = root.stat(name) if root else None
            if root is None or found is None:
                raise _missing(name)
            if stat.S_ISLNK(found.st_mode):
                root.remove(name)
            else:
                self._delete_file(root, name)

    def versions(self, name: str) -> tuple[Version, ...]:
        """Return the kept versions of one skill, oldest first; also of one that was deleted."""
        _check_name(name)
        return self._history.versions(name)

    def version_text(self, name: str, number: int) -> str:
        """Return the text of one kept version. Raises ``InputError`` where there is none of that number."""
        found = next((version for version in self.versions(name) if version.number == number), None)
        if found is None:
            raise InputError(f'Managed skill "{name}" has no version {number}.')
        return _text(found.path, self._history.read(name, found))

    def undo(self, name: str, to: int | None = None) -> Path:
        """Bring back the version before the present one, or version ``to``, as one more version; return the file.

        Undoing again goes further back. A deleted skill comes back as it was.
        """
        versions = self.versions(name)
        live = self._live(name)
        if not versions and live is None:
            raise _missing(name)
        with self._locked():
            live = self._live(name)
            target = self._undo_target(name, live, to)
            data = self._history.read(name, target)
            if data != live:
                if live is not None or to is not None:
                    self._history.keep(name, data, restores=target.place)
                    point("skills.kept")
                self._replace(name, data)
        return self._path(name)

    def _undo_target(self, name: str, live: bytes | None, to: int | None) -> Version:
        here = self._settled(name, live) if live is not None else None
        versions = self._history.versions(name)
        if to is not None:
            found = next((version for version in versions if version.number == to), None)
        elif here is not None:
            found = next((version for version in reversed(versions) if version.number < here), None)
        else:
            found = versions[-1] if versions else None
        if found is None:
            wanted = f"version {to}" if to is not None else "version before this one; delete it to be rid of it"
            raise InputError(f'Managed skill "{name}" has no {wanted}.')
        return found

    def _settled(self, name: str, live: bytes) -> int:
        """Return the number whose text is live, and see to it that the newest version is this text.

        It is not where a person edited the file by hand, nor where a writer was killed between keeping a version and
        putting it in place; the version before is live then.
        """
        last = self._history.versions(name)[-2:]
        for version in reversed(last):
            if self._history.read(name, version) == live:
                return version.place if version is last[-1] else self._history.keep(name, live, version.place).place
        return self._history.keep(name, live).place

    def _planned(self, action: Action, skill: Skill) -> tuple[bytes, bytes | None]:
        _check_name(skill.name)
        live = self._live(skill.name)
        if action == "create":
            if live is not None:
                raise InputError(f'Managed skill "{skill.name}" already exists; use the action "update" to change it.')
            return skill.text.encode(), None
        if live is None:
            raise InputError(f'Managed skill "{skill.name}" does not exist; use the action "create" to add it.')
        return rules.updated(skill, _text(self._path(skill.name), live)).text.encode(), live

    def _live(self, name: str) -> bytes | None:
        with self._root() as root, _child(root, name) as folder:
            return folder.read(FILE) if folder else None

    def _existing(self, name: str) -> bytes:
        _check_name(name)
        data = self._live(name)
        if data is None:
            raise _missing(name)
        return data

    def _replace(self, name: str, data: bytes) -> None:
        with self._root(make=True) as root, _child(root, name, make=True) as folder:
            if folder is None:
                raise StoreError(f"{self._path(name)} was removed while it was written; nothing was written.")
            folder.sweep()
            folder.write(FILE, data)

    def _delete_file(self, root: Folder, name: str) -> None:
        with _child(root, name) as folder:
            found = folder.stat(FILE) if folder else None
            if folder is None or found is None:
                raise _missing(name)
            # What is no plain file of ours (a link, a second name of another file) goes unread.
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                self._settled(name, folder.read(FILE) or b"")
            folder.remove(FILE)
            folder.sweep()
        root.remove_folder(name)

    def _path(self, name: str) -> Path:
        return self.root / name / FILE

    @contextmanager
    def _root(self, *, make: bool = False) -> Iterator[Folder | None]:
        root = Folder.at(self.root, make=make)
        if root is None:
            yield None
        else:
            with root:
                yield root

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Opened first: a history that is a link is refused before a lock file is made behind it.
        history = Folder.at(self._history.path, make=True)
        if history is None:
            raise StoreError(f"{self._history.path} cannot be made; nothing was written.")
        with history, locked(self._history.path / ".lock", wait=LOCK_WAIT):
            yield


@contextmanager
def _child(root: Folder | None, name: str, *, make: bool = False) -> Iterator[Folder | None]:
    folder = root.child(name, make=make) if root else None
    if folder is None:
        yield None
    else:
        with folder:
            yield folder


def _check_name(name: str) -> None:
    if not rules.is_skill_name(name):
        rules.skill_name(name)
        raise InputError(f"{quoted(redact(name).text)} is not a skill name as it stands: {rules.NAME_RULE}.")


def _missing(name: str) -> InputError:
    return InputError(f'Managed skill "{name}" does not exist.')


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; nothing was changed.") from error
