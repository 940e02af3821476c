"""The two ways to extract: by rules, which is the default, and by asking a model, which falls back to the rules."""

from __future__ import annotations

from collections.abc import Callable

from lessonbook.core import extraction_prompt
from lessonbook.core.entities import entities
from lessonbook.core.entity import Entity
from lessonbook.core.errors import LessonbookError, ModelError
from lessonbook.core.extraction import Extraction
from lessonbook.core.fact import Fact
from lessonbook.core.facts import facts
from lessonbook.core.ports import Chat, Reply

FELL_BACK = "Facts and names are taken by rules alone, because the model gave no usable answer: {why}."
"""What ``ModelExtractor`` says, once."""


class RuleExtractor:
    """Extracts by rules for English text and the names of programs. Meets ``core.ports.Extractor``; never raises."""

    def extract(self, text: str) -> Extraction:
        """Return what ``text`` names and states."""
        return Extraction(entities(text), facts(text))


class ModelExtractor:
    """Asks a model, and adds what the rules find. Meets ``core.ports.Extractor``; never raises.

    Where the model gives no usable answer the rules alone are taken, and ``say`` is given one sentence about it, once.
    """

    def __init__(self, chat: Chat, say: Callable[[str], None]) -> None:
        self._chat = chat
        self._say: Callable[[str], None] | None = say
        self._rules = RuleExtractor()

    def extract(self, text: str) -> Extraction:
        """Return what ``text`` names and states; the model is not asked about blank texts and very long ones."""
        ruled = self._rules.extract(text)
        if not text.strip() or len(text) > extraction_prompt.LONGEST:
            return ruled
        try:
            return _joined(extraction_prompt.extraction(text, self._asked(text)), ruled)
        except LessonbookError as error:
            self._tell(str(error))
            return ruled

    def _asked(self, text: str) -> str:
        try:
            said = self._chat(extraction_prompt.prompt(text))
        except LessonbookError:
            raise
        except Exception as error:  # a caller's own function may raise anything, and a lesson is stored all the same
            raise ModelError(type(error).__name__) from error
        told = said.text if isinstance(said, Reply) else said
        if not isinstance(told, str):
            raise ModelError(f"it answered with {type(told).__name__}, not with text")
        return told

    def _tell(self, why: str) -> None:
        say, self._say = self._say, None
        if say:
            say(FELL_BACK.format(why=why.rstrip(".")))


def _joined(asked: Extraction, ruled: Extraction) -> Extraction:
    """Return what the model and the rules found, each thing and each statement once."""
    named = {(each.kind, each.key): each for each in (*asked.entities, *ruled.entities)}
    stated = {_statement(each): each for each in (*ruled.facts, *asked.facts)}
    return Extraction(tuple(sorted(named.values(), key=_place)), tuple(sorted(stated.values(), key=_place)))


def _statement(fact: Fact) -> tuple[object, ...]:
    return fact.relation, fact.subject_key, fact.object_key, fact.positive, fact.version, fact.limits_key


def _place(found: Entity | Fact) -> tuple[int, int]:
    return found.start, found.end
