"""The same for programs that run an event loop: each waits for files, git or SQLite in a thread, and never the loop.

A task that is cancelled stops waiting; what was begun is finished all the same, once. The tool itself has
``LearnTool.execute_async``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from lessonbook.actions import brief as _brief
from lessonbook.actions import recall as _recall
from lessonbook.actions import remembering as _remembering
from lessonbook.system import projects as _projects

__all__ = ["brief", "identify", "lessons", "recall", "reflect", "remember"]

_Params = ParamSpec("_Params")
_Found = TypeVar("_Found")


def _in_a_thread(act: Callable[_Params, _Found]) -> Callable[_Params, Coroutine[Any, Any, _Found]]:
    @wraps(act)
    async def wait(*args: _Params.args, **kwargs: _Params.kwargs) -> _Found:
        return await asyncio.to_thread(act, *args, **kwargs)

    return wait


brief = _in_a_thread(_brief.brief)
identify = _in_a_thread(_projects.identify)
lessons = _in_a_thread(_remembering.lessons)
recall = _in_a_thread(_recall.recall)
reflect = _in_a_thread(_recall.reflect)
remember = _in_a_thread(_remembering.remember)
