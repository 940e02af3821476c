"""One look at everything: books, memory, skills and switches of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lessonbook.actions.catalogue import all_skills
from lessonbook.actions.review import GLOBAL, NamedBook, books
from lessonbook.book.head import read
from lessonbook.book.queue import candidates
from lessonbook.core.errors import LessonbookError
from lessonbook.core.ports import Delivering
from lessonbook.core.project import Project
from lessonbook.memory.registry import open_memory
from lessonbook.system.projects import identify
from lessonbook.system.settings import Places, Settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BookStatus:
    """One book. ``head`` is 7 hex digits or ``None``; ``characters`` counts its ``AGENTS.md``."""

    book: str
    folder: str
    counts_here: bool
    """Whether a session in the folder is briefed from it."""
    head: str | None
    pending: int
    stale: int
    characters: int
    skills: int
    trouble: str | None


@dataclass(frozen=True, slots=True)
class Status:
    """What ``lessonbook status`` shows. ``lessons`` is ``None`` where the memory is off or cannot be read."""

    project: str
    learning: bool
    autolearn: bool
    autolearn_review: bool
    memory: str
    lessons: int | None
    books: tuple[BookStatus, ...]
    skills: dict[str, int]
    skill_problems: int
    places: dict[str, str]
    troubles: tuple[str, ...]


def status(places: Places, settings: Settings, cwd: Path, now: float) -> Status:
    """Return how things stand for a session in ``cwd``. What cannot be read is a sentence in ``troubles``."""
    project = identify(cwd)
    troubles: list[str] = []
    catalogue = all_skills(places, settings, cwd)
    used = Counter(skill.origin for skill in catalogue.skills if skill.shadowed_by is None)
    lessons = _tried(troubles, "memory", lambda: _lessons(settings, project, cwd, now, troubles))
    known = books(places)
    listed = [*known, *(book for book in books(places, "project", cwd) if book not in known)]
    return Status(
        project=project.name,
        learning=settings.learning,
        autolearn=settings.autolearn_enabled,
        autolearn_review=settings.autolearn_review,
        memory=settings.memory_backend,
        lessons=lessons,
        books=tuple(_book(book, book.name in (GLOBAL, project.slug)) for book in listed),
        skills={origin: used[origin] for origin in ("authored", "learned", "managed")},
        skill_problems=len(catalogue.problems),
        places={
            "settings": str(places.config_file),
            "books": str(places.config),
            "agent folder": str(settings.agent_dir),
            "state": str(places.state),
        },
        troubles=tuple(troubles),
    )


def _book(book: NamedBook, counts_here: bool) -> BookStatus:
    troubles: list[str] = []
    head = _tried(troubles, book.name, lambda: read(book.folder))
    rows: Sequence[object] = _tried(troubles, book.name, lambda: candidates(book.folder)) or ()
    skills = [name for name in head.skills if name.endswith("/SKILL.md")] if head else []
    return BookStatus(
        book=book.name,
        folder=str(book.folder),
        counts_here=counts_here,
        head=head.commit[:7] if head and head.commit else None,
        pending=len(rows),
        stale=sum(1 for row in rows if getattr(row, "stale", None)),
        characters=len(head.agents) if head else 0,
        skills=len(skills),
        trouble=troubles[0].removeprefix(f"{book.name}: ") if troubles else None,
    )


def _lessons(settings: Settings, project: Project, cwd: Path, now: float, troubles: list[str]) -> int | None:
    """Count what the project can recall; where a server does not answer, what this machine knows, and why."""
    if settings.memory_backend == "off":
        return None
    memory = open_memory(settings, project, lambda: now, cwd)
    try:
        count = memory.count()
        if isinstance(memory, Delivering) and memory.trouble:
            troubles.append(f"memory: only what this machine knows is counted. {memory.trouble}")
        return count
    finally:
        memory.close()


def _tried(troubles: list[str], name: str, get: Callable[[], T]) -> T | None:
    try:
        return get()
    except LessonbookError as error:
        troubles.append(f"{name}: {error}")
        return None
