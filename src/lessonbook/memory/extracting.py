"""Has a model say what lessons name and state, beside what the rules find; in a sleep, so that nobody waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lessonbook.core.care import Extracted
from lessonbook.core.extraction import Extraction
from lessonbook.core.extractor import ModelExtractor
from lessonbook.core.ports import Chat, Reply

AT_ONCE = 50
"""Lessons a model is asked about in one sleep, at most, the newest first: one question each."""

Keep = Callable[[int, str, Extraction], int | None]
"""Keeps what a lesson's text names and states, and returns how many contradictions that brought to light.

``None`` where the lesson was changed while the model answered: nothing is kept then.
"""


def extract(waiting: Sequence[tuple[int, str]], chat: Chat, keep: Keep, left: Callable[[], int]) -> Extracted:
    """Ask about lessons, given by number and text; a model that does not answer ends it.

    What a lesson names and states by the rules stays, and where its text changes the rules alone hold again. ``left``
    counts the lessons that no model was asked about yet.
    """
    done = refused = found = 0
    problem = ""
    for number, text in waiting:
        told, said, answered = _asked(chat, text)
        if said and not answered:
            problem = said
            break
        clashes = keep(number, text, told)
        if clashes is not None:
            found += clashes
            done, refused = done + (not said), refused + bool(said)
    return Extracted(done, refused, found, left(), problem)


def _asked(chat: Chat, text: str) -> tuple[Extraction, str, bool]:
    """Return what a text names and states, what is to be said of the model's answer, and whether there was one."""
    said: list[str] = []
    answers: list[object] = []

    def asked(prompt: str, /) -> Reply | str:
        reply = chat(prompt)
        answers.append(reply)
        return reply

    told = ModelExtractor(asked, said.append).extract(text)
    return told, "".join(said), bool(answers)
