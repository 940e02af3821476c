"""Puts managed and accepted skills where agents look for skills, and takes them out again when they retire.

A published skill is a link in an agent's skill folder. Where the agent follows no links, or none can be made, it is a
copy, named in ``.lessonbook-copies`` of that folder. A link is ours where it leads into our folders, or is one we noted
that we made; a copy is ours as long as its files are those we wrote. Nothing else is ever touched. What was accepted is
linked from a copy of the book's HEAD, so that an edit nobody committed is not published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lessonbook.core.errors import LessonbookError, StoreError
from lessonbook.core.value import Value
from lessonbook.skills.publish_record import Record, copied, note_copies, signs_of
from lessonbook.system import files, links

LIST_COST = 4
"""What an agent's list of skills costs besides the name and the description, in characters."""


class Published(Value):
    """One skill to publish: its name and description, and the folder that holds it."""

    name: str
    description: str
    folder: Path

    @property
    def cost(self) -> int:
        """How many characters of an agent's list it takes."""
        return len(self.name) + len(self.description) + LIST_COST


class Target(Value):
    """One folder that agents read skills from, and how many characters of their list are left for ours."""

    path: Path
    left: int
    follows: bool = True
    """Whether all of these agents follow a link to a skill's folder; else it has to be a copy."""


class Report(Value):
    """What publishing did: paths made or repaired, and removed; and sentences on what was left alone."""

    made: tuple[str, ...]
    removed: tuple[str, ...]
    notes: tuple[str, ...]


def publish(record: Record, roots: Iterable[Path], targets: Iterable[Target], wanted: Iterable[Published]) -> Report:
    """Bring every target in step with ``wanted``, most important first, and take everything else of ours out.

    ``roots`` are the folders our skills are in; ``record`` knows what was published before, also to folders that are
    no targets any more, and notes what is published now. What fails in one folder is a note; nothing is raised.
    """
    skills, by_folder = list(wanted), {target.path: target for target in targets}
    notes: list[str] = []
    made: list[str] = []
    removed: list[str] = []
    for folder in sorted({*by_folder, *record.folders}):
        target = by_folder.get(folder)
        here = _Folder(folder, record, frozenset(roots), target is None or target.follows)
        try:
            here.bring_up_to_date(_within_budget(target, skills, notes))
        except LessonbookError as error:
            notes.append(str(error))
        made += here.made
        removed += here.removed
        notes += here.notes
    return Report(tuple(made), tuple(removed), tuple(notes))


def contents(folder: Path) -> dict[str, bytes]:
    """Return every regular file of a skill's folder by its relative path. Raises ``StoreError``."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): files.read_bytes(path) or b"" for path in found}


def _within_budget(target: Target | None, skills: Iterable[Published], notes: list[str]) -> dict[str, Path]:
    """The skills that fit the list of the target's agents; none where it is no target any more."""
    found: dict[str, Path] = {}
    left, out = target.left if target else 0, 0
    for skill in skills if target else ():
        if skill.cost <= left:
            left -= skill.cost
            found[skill.name] = skill.folder
        else:
            out += 1
    if out and target:
        notes.append(f"{target.path}: {out} of ours do not fit the list its agents show; briefings name them")
    return found


class _Folder:
    """One folder of skills while it is brought up to date."""

    def __init__(self, path: Path, record: Record, roots: frozenset[Path], follows: bool) -> None:
        self._path, self._record, self._roots, self._follows = path, record, roots, follows
        self._copies = copied(path)
        self.made: list[str] = []
        self.removed: list[str] = []
        self.notes: list[str] = []

    def bring_up_to_date(self, wanted: Mapping[str, Path]) -> None:
        """Make what is missing, repair what moved, remove what retired. Raises ``StoreError``."""
        for name in sorted(
            (self._record.names(self._path) | self._copies.keys() | set(self._leading_to_us())) - wanted.keys()
        ):
            self._take_out(self._path / name)
        for name, source in wanted.items():
            self._put(self._path / name, source)
        note_copies(self._path, self._copies)
        top = self._record.made_below(self._path)
        if not wanted and top is not None:
            links.remove_empty(self._path, up_to=top)
            self._record.forget_folder(self._path)

    def _put(self, path: Path, source: Path) -> None:
        there = links.target_of(path)
        if there is None and self._is_our_copy(path):
            self._copy(path, source)
        elif there == source and self._follows:
            self._record.note(path, source)
        elif path.is_symlink() and not self._is_ours(path, there):
            self.notes.append(f"{path} is a link of somebody else's; the skill of that name is not published there")
        elif there is None and path.exists():
            self._disown(path)
            self.notes.append(f"{path} is somebody else's; the skill of that name is not published there")
        else:
            self._record.note_folder(self._path)
            self._make(path, source)

    def _make(self, path: Path, source: Path) -> None:
        try:
            if self._follows:
                links.make_link(path, source)
                self._record.note(path, source)
                self.made.append(str(path))
                return
        except StoreError:  # a file system without links
            pass
        files.remove(path)  # a link of ours, where its agents follow none
        self._copy(path, source)

    def _copy(self, path: Path, source: Path) -> None:
        """Make or renew a copy; noted before it is there, so that it is never taken for an authored one."""
        wanted, there = contents(source), contents(path)
        if wanted != there:
            self._copies[path.name] = self._copies.get(path.name, set()) | signs_of(wanted)
            note_copies(self._path, self._copies)
            links.write_folder(path, wanted)
            self.made.append(str(path))
        self._copies[path.name] = signs_of(wanted)
        self._record.note(path, source)

    def _is_our_copy(self, path: Path) -> bool:
        """Whether it was copied here and holds nothing that somebody else wrote since."""
        return path.name in self._copies and signs_of(contents(path)) <= self._copies[path.name]

    def _disown(self, path: Path) -> None:
        self._copies.pop(path.name, None)
        self._record.forget(path)

    def _take_out(self, path: Path) -> None:
        there = links.target_of(path)
        if there is not None and self._is_ours(path, there):
            files.remove(path)
            self.removed.append(str(path))
        elif there is None and self._is_our_copy(path):
            links.remove_folder(path)
            self.removed.append(str(path))
        elif there is None and path.name in self._copies:
            self.notes.append(f"{path} was changed by somebody and stays")
        self._disown(path)

    def _is_ours(self, path: Path, there: Path | None) -> bool:
        return there is not None and (there.parent in self._roots or self._record.leads(path) == there)

    def _leading_to_us(self) -> Iterator[str]:
        """The names of links that lead into our folders, also those nobody noted."""
        try:
            entries = list(self._path.iterdir())
        except OSError:
            return
        for path in entries:
            there = links.target_of(path)
            if there is not None and there.parent in self._roots:
                yield path.name
