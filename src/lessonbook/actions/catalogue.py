"""The skills of a folder from all three origins: authored, managed, and learned in the books that count there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lessonbook.actions.skills import list_skills, read_version
from lessonbook.book.head import Head, read
from lessonbook.book.location import book_folder
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.core.redact import redact
from lessonbook.core.screen import quoted
from lessonbook.skills.discovery import Catalogue
from lessonbook.system.files import read_bytes
from lessonbook.system.projects import identify
from lessonbook.system.settings import Places, Settings


def all_skills(where: Places, settings: Settings, cwd: Path) -> Catalogue:
    """Return every skill a session in ``cwd`` has. A book that cannot be read hides only its own skills."""
    return list_skills(where, settings, cwd, learned_files(heads(where, cwd)))


def skill_text(
    where: Places, settings: Settings, cwd: Path, name: str, version: int | None = None, now: int | None = None
) -> str:
    """Return the SKILL.md of the skill a session in ``cwd`` would get under ``name``.

    ``version`` asks for a kept version of a managed one. With ``now`` (epoch seconds) reading a learned skill counts
    as a use, which keeps it from expiring. Raises ``InputError`` where there is none.
    """
    if version is not None:
        return read_version(settings, name, version)
    files = learned_files(heads(where, cwd))
    wanted = name.casefold()  # as agents find them; never cleaned any further into some other skill's name
    found = [s for s in list_skills(where, settings, cwd, files).skills if wanted == s.name.casefold()]
    used = next((skill for skill in found if skill.shadowed_by is None), None)
    if used is None:
        raise InputError(f"There is no skill {quoted(name)} here; `lessonbook skills` lists them.")
    data = files.get(str(used.path)) if used.origin == "learned" else read_bytes(used.path)
    if used.origin == "learned" and now is not None:
        _note_use(where, cwd, str(used.path), now)
    text = (data or b"").decode("utf-8", "replace")
    # What agents wrote and people edited by hand is redacted again on the way out; an authored file is its author's.
    return text if used.origin == "authored" else redact(text).text


def _note_use(where: Places, cwd: Path, path: str, now: int) -> None:
    """Note that a learned skill was read, in the nearest book that holds its file."""
    from lessonbook.book.usage import record
    from lessonbook.core.expiry import skill_key

    for project in (identify(cwd), None):
        folder = book_folder(where, project)
        try:
            held = path in read(folder).skills
        except LessonbookError:  # the skill came from another book then
            continue
        if held:
            record(where.state, folder, skill_key(path.split("/")[1]), now)
            return


def heads(where: Places, cwd: Path) -> list[Head]:
    """Return what the global book and the project's hold; a book that cannot be read is left out."""
    found = []
    for project in (None, identify(cwd)):
        try:
            found.append(read(book_folder(where, project)))
        except LessonbookError:  # the doctor says what is wrong with it
            continue
    return found


def learned_files(books: Sequence[Head]) -> dict[str, bytes]:
    """Return each learned skill's file by its path in the book; the nearer book's, where two hold one name."""
    return {name: data for head in books for name, data in head.skills.items() if name.endswith("/SKILL.md")}
