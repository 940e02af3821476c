"""Where the books lie: one for everything, and one per project (contract §2.1)."""

from __future__ import annotations

from lessonbook.book.sentences import LEARNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from lessonbook.core.project import Project
    from lessonbook.system.settings import Places

PROJECTS = "projects"


def book_folder(places: Places, project: Project | None = None) -> Path:
    """Return the folder of the global book, or of the project's; nothing is made."""
    return places.learned if project is None else places.config / PROJECTS / project.slug / LEARNED


def has_project_books(places: Places) -> bool:
    """Whether any project has a book: where none has, no project's name need be worked out."""
    try:
        return (places.config / PROJECTS).is_dir()
    except OSError:  # reading the book tells what is wrong
        return True
