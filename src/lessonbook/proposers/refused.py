"""Calls a person refused, with the reason they gave.

A refusal without words takes its reason from what the person typed next; one followed by *sorry, continue* was a slip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lessonbook.core.consent import acts, consents
from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn
from lessonbook.proposers.draft import Draft, Lesson, by_project, by_topic, draft
from lessonbook.proposers.incident import History, Incident, cut, where
from lessonbook.proposers.wording import code, example, rule, said

REFUSED = "refused"

_CHANGING = frozenset({CallKind.EDIT, CallKind.WRITE})
_COUNTED = _CHANGING | {CallKind.SHELL, CallKind.WEB, CallKind.MCP, CallKind.TASK}
"""A plan that is not approved, or a question that is not answered, is talk; it refuses nothing."""

_LEAST = 2
_EDITS_LEAST = 3
_SHORT = 240
_QUOTED = 4
_LINE = 110
_ORDER = re.compile(r"\b(?:never|always|don'?t|do not|instead|unless|only)\b", re.IGNORECASE)
_UNASKED = re.compile(r"\bI (?:did not|didn'?t|never) (?:say|ask|tell|want)\b", re.IGNORECASE)
_STANDING = re.compile(r"\b(?:not|no|use|first|ask|must)\b", re.IGNORECASE)


def incidents(session: Session) -> Iterator[Incident]:
    """Yield each call of the session that a person refused and meant to."""
    for at, turn in enumerate(session.turns):
        following = session.turns[at + 1] if at + 1 < len(session.turns) else None
        for call in turn.calls:
            if topics(call):
                yield from _refusals(session, turn, call, following)


def drafts(found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """Yield a draft for each act refused in two sessions or more of one project, or once in words of a rule."""
    for topic, group in by_topic(found).items():
        for part in by_project(group):
            lesson = _of_edits(topic, part, history) if topic == _EDITS else _of_act(topic, part, history)
            if lesson is not None:
                yield _quoting(draft(lesson, part, history, general=False), part)


def _quoting(one: Draft, group: Sequence[Incident]) -> Draft:
    """Show more than one of the reasons: they are what a reader judges the lesson by."""
    spoken = sorted((one.said for one in group if one.said), key=lambda text: (len(text.split()) < 3, len(text)))
    reasons = dict.fromkeys(said(text, 90) for text in spoken)
    first = next((incident for incident in group if incident.said == next(iter(spoken), "")), group[0])
    shown = {"failed": example(first.failed)} | ({"said": " · ".join(list(reasons)[:_QUOTED])} if reasons else {})
    return replace(one, proposal=replace(one.proposal, evidence=replace(one.proposal.evidence, examples=shown)))


_EDITS = f"{REFUSED} | edits"


def _refusals(session: Session, turn: Turn, call: Call, following: Turn | None) -> Iterator[Incident]:
    reason = call.deny_reason or _typed_next(turn, call, following)
    if reason is None:
        return
    place = where(session, turn, call)
    target = call.args.get("file_path") or call.args.get("path") or ""
    failed = cut(call.command or f"{call.name} {target}".strip())
    for topic in sorted(topics(call)):
        yield Incident(place, topic, failed=failed, said=cut(reason), family=topic.split(" | ", 1)[1])


def topics(call: Call) -> set[str]:
    """Return what a refused call is about; nothing for one that no person refused."""
    if call.status is not CallStatus.DENIED or call.kind not in _COUNTED:
        return set()
    if call.kind in _CHANGING:
        return {_EDITS}
    return {f"{REFUSED} | {act}" for act in acts(call)}


def _typed_next(turn: Turn, call: Call, following: Turn | None) -> str | None:
    """What the person typed after a refusal without words: ``""`` for nothing, ``None`` where it was a slip."""
    if following is None or call is not turn.calls[-1]:
        return ""
    if consents(following.prompt) or following.prompt.strip().casefold() in ("continue", "sorry", "go"):
        return None
    return following.prompt if len(following.prompt) <= _SHORT else ""


def _of_act(topic: str, group: Sequence[Incident], history: History) -> Lesson | None:
    reason = _best_reason(group)
    if history.count(group) < _LEAST and not (_ORDER.search(reason) or _UNASKED.search(reason)):
        return None
    act = code(group[0].family)
    words = f"; the person refused it and said {said(reason)}" if reason else "; the person refused it each time"
    text = rule(f"Do not run {act} unless the person asked for it{words}.")
    certainty = 0.95 if reason else 0.7
    return Lesson(REFUSED, topic, f"Do not run {group[0].family} unless asked", text, certainty)


def _of_edits(topic: str, group: Sequence[Incident], history: History) -> Lesson | None:
    """Edits are refused for what is in them; what recurs is that the person wanted to be asked first."""
    spoken = [incident for incident in group if incident.said.strip()]
    if history.count(spoken) < _EDITS_LEAST:
        return None
    first, second = _two_reasons(spoken)
    text = rule(
        "Say what you are about to change and why, and settle open questions with the person, before editing:",
        f"edits were refused with {said(first, 70)}" + (f" and {said(second, 70)}." if second else "."),
    )
    return Lesson(REFUSED, topic, "Settle open questions before editing", text, certainty=0.6)


def _best_reason(group: Sequence[Incident]) -> str:
    """The reason that says most: one that states a rule, then the longest that fits in one line."""
    reasons = [incident.said.strip() for incident in group if len(incident.said.split()) > 2]
    strength = {text: (_ORDER.search(text) is None, _STANDING.search(text) is None) for text in reasons}
    return min(reasons, key=lambda text: (*strength[text], len(text) > _LINE, -len(text)), default="")


def _two_reasons(group: Sequence[Incident]) -> tuple[str, str]:
    """Two short reasons from two sessions."""
    ordered = sorted(group, key=lambda incident: (len(incident.said.split()) < 3, len(incident.said)))
    first = ordered[0]
    second = next((one.said for one in ordered if one.where.session != first.where.session), "")
    return first.said, second
