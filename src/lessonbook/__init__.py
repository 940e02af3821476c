"""lessonbook: what coding agents learned, reviewed by a person, briefed to the next session.

The names below are loaded when they are first used, so that importing a part of the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; importing typing for it would cost every start
if TYPE_CHECKING:
    from lessonbook.actions.brief import Brief, brief
    from lessonbook.actions.learn import LearnSession, LearnTool, ToolResult
    from lessonbook.actions.recall import recall, reflect
    from lessonbook.actions.remembering import Remembered, lessons, remember
    from lessonbook.core.errors import BusyError, InputError, LearnError, LessonbookError, SetupError, StoreError
    from lessonbook.core.lesson import Lesson, Outcome, Recalled, Receipt, Scope
    from lessonbook.core.project import Project
    from lessonbook.core.version import __version__
    from lessonbook.memory.registry import open_memory
    from lessonbook.system.projects import identify
    from lessonbook.system.settings import Places, Settings, load, places

_HOMES = {
    "lessonbook.actions.brief": ("Brief", "brief"),
    "lessonbook.actions.learn": ("LearnSession", "LearnTool", "ToolResult"),
    "lessonbook.actions.recall": ("recall", "reflect"),
    "lessonbook.actions.remembering": ("Remembered", "lessons", "remember"),
    "lessonbook.core.errors": (
        "BusyError",
        "InputError",
        "LearnError",
        "LessonbookError",
        "SetupError",
        "StoreError",
    ),
    "lessonbook.core.lesson": ("Lesson", "Outcome", "Recalled", "Receipt", "Scope"),
    "lessonbook.core.project": ("Project",),
    "lessonbook.core.version": ("__version__",),
    "lessonbook.memory.registry": ("open_memory",),
    "lessonbook.system.projects": ("identify",),
    "lessonbook.system.settings": ("Places", "Settings", "load", "places"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Brief",
    "BusyError",
    "InputError",
    "LearnError",
    "LearnSession",
    "LearnTool",
    "Lesson",
    "LessonbookError",
    "Outcome",
    "Places",
    "Project",
    "Recalled",
    "Receipt",
    "Remembered",
    "Scope",
    "Settings",
    "SetupError",
    "StoreError",
    "ToolResult",
    "__version__",
    "brief",
    "identify",
    "lessons",
    "load",
    "open_memory",
    "places",
    "recall",
    "reflect",
    "remember",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
