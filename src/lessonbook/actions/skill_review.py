"""Routes the ``learn`` tool's skills to the review queue, for sessions where ``autolearn.review`` is on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lessonbook.book.location import book_folder
from lessonbook.core.lesson import Scope
from lessonbook.system.settings import Places

if TYPE_CHECKING:
    from lessonbook.core.skill import Action, Skill

SkillOffer: TypeAlias = "Callable[[Skill, Action, Scope], str]"


def skill_offer(
    where: Places, cwd: Path, session_id: str, clock: Callable[[], float], random_hex: Callable[[], str]
) -> SkillOffer:
    """Return what a ``LearnSession`` needs to offer skills: to the book of ``cwd``'s project, or to the global one.

    A lesson of scope ``global`` takes its skill to the global book. What is returned answers with the candidate's id,
    the same for the same skill, and raises ``LessonbookError`` where it cannot be offered.
    """

    def offered(skill: Skill, action: Action, scope: Scope) -> str:
        from lessonbook.book.skill_offer import offer_skill
        from lessonbook.system.projects import identify

        now = int(clock())
        told = (
            ("Proposer", "learn"),
            ("Evidence-kind", "skill"),
            ("Evidence-dates", f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d}"),
            ("Evidence-session", _line(session_id)),
        )
        folder = book_folder(where, None if scope is Scope.GLOBAL else identify(cwd))
        return offer_skill(folder, skill, action, tuple(pair for pair in told if pair[1]), now, random_hex)

    return offered


def _line(text: str) -> str:
    from lessonbook.core.clean import clean_line
    from lessonbook.core.redact import redact

    return redact(clean_line(text)).text
