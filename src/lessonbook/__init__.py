"""lessonbook: what coding agents learned, reviewed by a person, briefed to the next session.

The names below are loaded when they are first used, so that importing a part of the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lessonbook.core.version import __version__

if TYPE_CHECKING:
    from lessonbook.actions.learn import LearnSession, LearnTool, ToolResult
    from lessonbook.core.errors import BusyError, InputError, LearnError, LessonbookError, SetupError, StoreError
    from lessonbook.memory.registry import open_memory

__all__ = [
    "BusyError",
    "InputError",
    "LearnError",
    "LearnSession",
    "LearnTool",
    "LessonbookError",
    "SetupError",
    "StoreError",
    "ToolResult",
    "__version__",
    "open_memory",
]

_HOMES = {
    **dict.fromkeys(("LearnSession", "LearnTool", "ToolResult"), "lessonbook.actions.learn"),
    "open_memory": "lessonbook.memory.registry",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "lessonbook.core.errors")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
