"""Which old episodes are summed up together, and what a model is asked about them: the rule that every bank keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lessonbook.core import summary
from lessonbook.core.care import Summary
from lessonbook.core.errors import LessonbookError, ModelError, reason
from lessonbook.core.lesson import Lesson
from lessonbook.core.ports import Chat, Reply
from lessonbook.core.tidy import tidy
from lessonbook.core.value import Value

SUMMARISED = "summarised"
SOURCE = "sleep"
AGE = 30 * 86_400.0
"""Seconds since an episode was last told, after which it may be summed up."""
FEWEST = 3
"""Episodes that belong together, at least."""
GROUPS = 20
"""Groups that are summed up in one sleep, at most: each asks the model once."""
_NO_SESSION = ("", "cli")
"""Lessons a person typed carry the second one, whenever that was."""
_CHANGED = "they were changed while the model answered; nothing was stored"


class Group(Value):
    """Episodes of one bank that belong together, oldest first, with their texts."""

    bank: str
    component: str | None
    session: str
    numbers: tuple[int, ...]
    texts: tuple[str, ...]

    def lesson(self, text: str, importance: float) -> Lesson:
        """Return the lesson that sums them up."""
        told = {"sources": ", ".join(map(str, self.numbers)), "tool": SOURCE}
        told |= {"session_id": self.session} if self.session else {}
        return Lesson(
            text,
            source=SOURCE,
            importance=importance,
            veracity="inferred",
            memory_type="episode",
            metadata=told,
            component=self.component,
        )


def grouped(rows: Iterable[Sequence[Any]]) -> list[Group]:
    """Return the groups of episodes, given as number, bank, text, component and session, oldest first.

    They belong together by component, else by session. A group has as many as go into one question to a model; what is
    more waits for the next sleep.
    """
    found: dict[tuple[str, str | None, str], list[tuple[int, str]]] = {}
    for number, bank, text, component, session in rows:
        if component or session not in _NO_SESSION:
            key = (bank, component or None, "" if component else str(session))
            found.setdefault(key, []).append((number, tidy(text).text))
    groups = (
        Group(*key, *zip(*summary.fitting(held), strict=True)) for key, held in found.items() if len(held) >= FEWEST
    )
    return [group for group in groups if len(group.numbers) >= FEWEST]


def summarise(
    groups: Sequence[Group], chat: Chat, keep: Callable[[Group, str], str | None]
) -> tuple[list[Summary], int]:
    """Have groups summed up; return what came of each, and how many are left. What is refused ends it.

    ``keep`` stores the text that sums a group up and returns its lesson, ``None`` where an episode was changed
    meanwhile.
    """
    done: list[Summary] = []
    for group in groups[:GROUPS]:
        sources = tuple(map(str, group.numbers))
        try:
            text = summary.checked(_asked(chat, summary.prompt(group.texts)), group.texts)
        except LessonbookError as error:
            done.append(Summary(sources, problem=str(error)))
            break
        lesson = keep(group, text)
        done.append(Summary(sources, lesson, text, "" if lesson else _CHANGED))
    return done, len(groups) - len(done)


def _asked(chat: Chat, prompt: str) -> str:
    try:
        said = chat(prompt)
    except LessonbookError:
        raise
    except Exception as error:  # a caller's own function may raise anything, and a group has to say what became of it
        raise ModelError(f"the editor model could not be asked: {reason(error)}") from error
    text = said.text if isinstance(said, Reply) else said
    if not isinstance(text, str):
        raise ModelError(f"the editor model answered with {type(text).__name__}, not with text")
    return text
