"""Corrections a person typed right after a wrong step, where the same one was typed in several sessions.

Words alone find wrong ones, so a correction must be short, must follow work of the agent, must read like a standing
instruction or follow an interruption, and must come back in another session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lessonbook.core.consent import consents
from lessonbook.core.session import CallStatus, Session, Turn, TurnState
from lessonbook.proposers.draft import Draft, Lesson, by_project, draft
from lessonbook.proposers.echo import echoed
from lessonbook.proposers.incident import History, Incident, cut, where
from lessonbook.proposers.wording import alike, rule, safe, said, sentence

CORRECTED = "corrected"

_LEAST = 2
_SHORT = 240
_LEAST_WORDS = 4
_ALIKE = 0.5
_SURE = re.compile(
    r"\bI (?:(?:have |'ve )?(?:already|just) )?(?:told|said|asked|meant)\b|\bas I said\b|\bhow (?:many times|often)\b"
    r"|\b(?:not|isn'?t) what I (?:asked|said|wanted|meant)\b|\byou (?:forgot|keep|still)\b|\bstop \w+ing\b"
    r"|\b(?:don'?t|do not|never) ever\b|\bI didn'?t (?:ask|say|tell)\b|\bI did not (?:ask|say|tell)\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(r"\A(?:please )|[\s,]*\b(?:please|thanks|thank you)\W*\Z", re.IGNORECASE)
_STANDING = re.compile(
    r"\A\W*(?:(?:no|please|and|again|wait)\b[\s,.!:]*)*(?:never|always|do not|don'?t|stop|only use|use)\b", re.I
)
_IMPERATIVE = re.compile(
    r"(?:^|[.!?;,:]\s+)((?:please )?(?:never|always|do not|don'?t|only use|use)\b[^.!?;]{8,})", re.IGNORECASE
)


def incidents(session: Session) -> Iterator[Incident]:
    """Yield each prompt of the session that corrects what the agent just did; sub-agents are asked by no person."""
    if session.parent_id:
        return
    for before, turn in zip(session.turns, session.turns[1:], strict=False):
        for text in (turn.prompt, *before.steered):
            if _corrects(before, text) and not echoed(text, session, before.n):
                yield Incident(where(session, turn), topic=CORRECTED, said=cut(text.strip()))


def drafts(found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """Yield a draft for each correction typed in two sessions or more of one project."""
    for project in by_project(found):
        for group in cluster(project, _ALIKE):
            if history.count(group) >= _LEAST:
                yield draft(_lesson(group), group, history, general=False)


def cluster(found: Sequence[Incident], least: float) -> list[list[Incident]]:
    """Return the incidents in groups that say nearly the same; each joins the first group it is like."""
    groups: list[list[Incident]] = []
    for incident in found:
        home = next((group for group in groups if alike(group[0].said, incident.said, least)), None)
        if home is None:
            groups.append([incident])
        else:
            home.append(incident)
    return groups


def _corrects(before: Turn, text: str) -> bool:
    if not before.calls or not 0 < len(text) <= _SHORT or len(text.split()) < _LEAST_WORDS or "\n\n" in text:
        return False
    if before.calls[-1].status is CallStatus.DENIED:  # then it is the reason of the refusal
        return False
    stopped = before.state is TurnState.INTERRUPTED and not consents(text)
    return stopped or _SURE.search(text) is not None or _STANDING.match(text) is not None


def _lesson(group: Sequence[Incident]) -> Lesson:
    shown = min(group, key=lambda incident: (_IMPERATIVE.search(incident.said) is None, len(incident.said)))
    match = _IMPERATIVE.search(shown.said)
    wish = sentence(_COURTESY.sub("", match[1]) if match else "", 200)
    text = rule(wish) if wish else rule(f"Keep to what the person had to say more than once: {said(shown.said, 200)}.")
    key = f"{CORRECTED} | {safe(shown.said, 80).casefold()}"
    return Lesson(CORRECTED, key, wish or shown.said, text, certainty=0.75)
