"""What we published and where: noted in the state folder, and in the folder itself where it had to be a copy."""

from __future__ import annotations

from json import dumps, loads
from pathlib import Path

from lessonbook.core.errors import LessonbookError
from lessonbook.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

COPIES = ".lessonbook-copies"
FILE = "published.json"


class Record:
    """Every link we made with where it leads, and every folder we made for one; ``seal`` names what was published."""

    def __init__(self, state: Path) -> None:
        """Read what is noted; nothing where that is damaged: links into our folders are known all the same."""
        self._file = state / FILE
        found = _table(self._file)
        links, made = found.get("links"), found.get("made")
        self._links = {Path(path): Path(to) for path, to in links.items()} if isinstance(links, dict) else {}
        self._made = {Path(path): Path(top) for path, top in made.items()} if isinstance(made, dict) else {}
        self.seal: Any = found.get("seal")

    @property
    def folders(self) -> set[Path]:
        """The folders something of ours was published to."""
        return {path.parent for path in self._links} | self._made.keys()

    @property
    def has_copies(self) -> bool:
        """Whether something of ours was published as a copy."""
        return any((folder / COPIES).exists() for folder in self.folders)

    def names(self, folder: Path) -> set[str]:
        """Return the names of the links that were made in one folder."""
        return {path.name for path in self._links if path.parent == folder}

    def leads(self, path: Path) -> Path | None:
        """Return where the link we made at ``path`` led; ``None`` where we made none."""
        return self._links.get(path)

    def note(self, path: Path, to: Path) -> None:
        """Note a link of ours."""
        self._links[path] = to

    def forget(self, path: Path) -> None:
        """Note that there is none of ours any more."""
        self._links.pop(path, None)

    def note_folder(self, folder: Path) -> None:
        """Note that a folder is made for what we publish, where it is not there yet, and which one above it is."""
        if not folder.exists():
            self._made[folder] = next(above for above in folder.parents if above.exists())

    def made_below(self, folder: Path) -> Path | None:
        """Return the folder that was there before this one was made; ``None`` where we did not make it."""
        return self._made.get(folder)

    def forget_folder(self, folder: Path) -> None:
        """Note that it is none of ours any more."""
        self._made.pop(folder, None)

    def save(self, seal: Any) -> None:
        """Write it, or remove the file where nothing is published. Raises ``StoreError``."""
        if not self._links and not self._made and seal is None:
            files.remove(self._file)
            return
        links = {str(path): str(to) for path, to in self._links.items()}
        made = {str(path): str(top) for path, top in self._made.items()}
        document = {"links": links, "made": made, "seal": seal}
        files.write_atomic(self._file, dumps(document).encode("utf-8", "replace"), new_mode=0o600)


def copied(folder: Path) -> dict[str, set[str]]:
    """Return the skills in ``folder`` that are copies of ours, by name, each with the signs of what we wrote."""
    noted = _table(folder / COPIES)
    return {name: {sign for sign in signs if isinstance(sign, str)} for name, signs in noted.items() if _is_list(signs)}


def note_copies(folder: Path, copies: Mapping[str, set[str]]) -> None:
    """Note which skills in ``folder`` are copies of ours; the note goes with the last. Raises ``StoreError``."""
    if copies and copies != copied(folder):
        document = {name: sorted(signs) for name, signs in sorted(copies.items())}
        files.write_atomic(folder / COPIES, dumps(document).encode())
    if not copies:
        files.remove(folder / COPIES)


def signs_of(skill: Mapping[str, bytes]) -> set[str]:
    """Return one sign for each file of a skill, by which it is known again at that place."""
    from hashlib import sha256

    return {sha256(name.encode("utf-8", "replace") + b"\0" + data).hexdigest()[:32] for name, data in skill.items()}


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _table(path: Path) -> dict[str, Any]:
    try:
        found = loads(files.read_bytes(path) or b"{}")
    except (LessonbookError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
