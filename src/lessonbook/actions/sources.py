"""Where a briefing comes from: the books, the memory and the skills, asked side by side and each within its time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Thread
from time import monotonic

from lessonbook.book.location import book_folder, has_project_books
from lessonbook.core.embed import one_line
from lessonbook.core.errors import LessonbookError
from lessonbook.core.project import Project, from_folder
from lessonbook.core.value import Value
from lessonbook.system.projects import identify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from lessonbook.book.head import Head
    from lessonbook.core.lesson import Recalled
    from lessonbook.skills.discovery import Catalogue
    from lessonbook.system.settings import Places, Settings

THIS_PROJECT = "this project"
"""The words that name the project's own book."""
_NOTE_MAX = 200
_MEMORIES = 40


class Memories(Value):
    """The newest lessons of a memory, and how many it holds in all."""

    newest: Sequence[Recalled] = ()
    total: int = 0


class Read(Value):
    """What the sources answered; books by the words that name them."""

    heads: Mapping[str, Head]
    memories: Memories
    catalogue: Catalogue | None


class Sources:
    """Asks every source in a thread of its own, so that one that hangs or breaks costs only itself."""

    def __init__(self, seconds: float, notes: list[str]) -> None:
        """``seconds`` is how long each of its three rounds may take; ``notes`` grows by what was left out."""
        self.seconds = seconds
        self.notes = notes

    def read(self, cwd: Path, places: Places, settings: Settings, learned: bool, now: float) -> Read:
        """Return what all sources say about ``cwd``; without what review accepted where not ``learned``."""
        first = self.gather(
            {"project": lambda: identify(cwd), "the global book": lambda: _head(places, None) if learned else None},
            meanwhile=_load_skills,
        )
        project: Project = first["project"] or from_folder(str(cwd))
        jobs: dict[str, Callable[[], Any]] = {}
        if learned and has_project_books(places):
            jobs["the project's book"] = lambda: _head(places, project)
        if settings.memory_backend != "off":
            jobs["memory"] = lambda: _memories(settings, project, cwd, now)
        second = self.gather(jobs)
        found = {"every project": first["the global book"], THIS_PROJECT: second.get("the project's book")}
        heads = {kind: head for kind, head in found.items() if head is not None}
        skills = self.gather({"skills": lambda: _skills(cwd, places, settings, list(heads.values()), now)})["skills"]
        return Read(heads, second.get("memory") or Memories(), skills)

    def gather(
        self, jobs: Mapping[str, Callable[[], Any]], meanwhile: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """Return what each job returned; ``None``, and a note, for one that raised or was late.

        ``meanwhile`` is done while they run, which is mostly waiting for git.
        """
        late = TimeoutError("it did not answer in time")
        answers: dict[str, Any] = dict.fromkeys(jobs, late)
        threads = [Thread(target=_answer, args=(answers, name, job), daemon=True) for name, job in jobs.items()]
        for thread in threads:
            thread.start()
        until = monotonic() + self.seconds
        meanwhile()
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))
        taken = dict(answers)  # a late thread may still write into the other
        self.notes += [note(name, found) for name, found in taken.items() if isinstance(found, Exception)]
        return {name: None if isinstance(found, Exception) else found for name, found in taken.items()}


def _answer(answers: dict[str, Any], name: str, job: Callable[[], Any]) -> None:
    try:
        answers[name] = job()
    except Exception as error:  # noqa: BLE001  whatever is broken in one source must not take the others along
        answers[name] = error


def note(name: str, error: Exception) -> str:
    """Return the sentence that says what was left out and why."""
    told = str(error) if isinstance(error, LessonbookError | TimeoutError) else type(error).__name__
    return one_line(f"Left out {name}: {told}", _NOTE_MAX)


def _head(places: Places, project: Project | None) -> Head:
    from lessonbook.book.head import read

    return read(book_folder(places, project))


def _memories(settings: Settings, project: Project, cwd: Path, now: float) -> Memories:
    from lessonbook.memory.registry import open_memory

    memory = open_memory(settings, project, lambda: now, cwd)
    try:
        newest = memory.recent(_MEMORIES)
        return Memories(newest, memory.count() if len(newest) == _MEMORIES else len(newest))
    finally:
        memory.close()


def _load_skills() -> None:
    """Load what ``_skills`` will need."""
    import lessonbook.actions.catalogue  # noqa: F401


def _skills(cwd: Path, places: Places, settings: Settings, heads: Sequence[Head], now: float) -> Catalogue:
    from lessonbook.actions.catalogue import learned_files
    from lessonbook.actions.skills import list_skills

    return list_skills(places, settings, cwd, learned_files(heads), remember_at=now)
