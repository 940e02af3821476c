"""Commands that a rule, a hook or a policy stopped again and again: the agent should know before it tries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lessonbook.core.consent import acts
from lessonbook.core.errorline import error_line
from lessonbook.core.session import Call, CallKind, CallStatus, Session
from lessonbook.proposers.draft import Draft, Lesson, by_project, by_topic, draft
from lessonbook.proposers.incident import History, Incident, cut, where
from lessonbook.proposers.wording import code, rule

BLOCKED = "blocked"

_LEAST = 2
_BY_RULE = re.compile(
    r"\bhooks?\b|\bblocked\b|\bden(?:y|ied)\b|\bpolicy\b|\bnot allowed\b|\bforbidden\b", re.IGNORECASE
)
_BY_MACHINE = re.compile(r"sandbox|requested permissions|haven't granted", re.IGNORECASE)
"""A sandbox, and a question nobody was there to answer, are no rules about the command."""

_WRAPPING = re.compile(r"\A(?:PreToolUse:\w+ hook (?:error|blocking error)[^:]*: *)?(?:\[[^\]]{0,200}\]: *)?")


def topics(call: Call) -> set[str]:
    """Return what a blocked command is about; nothing for a call that no rule stopped."""
    if call.status is not CallStatus.BLOCKED or call.kind is not CallKind.SHELL:
        return set()
    told = call.result[:2_000]
    by_rule = _BY_RULE.search(told) and not _BY_MACHINE.search(told)
    return {f"{BLOCKED} | {act}" for act in acts(call)} if by_rule else set()


def incidents(session: Session) -> Iterator[Incident]:
    """Yield each command of the session that a rule stopped."""
    for turn in session.turns:
        for call in turn.calls:
            for topic in sorted(topics(call)):
                told = _WRAPPING.sub("", error_line(call.result))
                family = topic.split(" | ", 1)[1]
                yield Incident(
                    where(session, turn, call), topic, failed=cut(call.command or ""), error=told, family=family
                )


def drafts(found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """Yield a draft for each act that a rule stopped in two sessions or more of one project."""
    for topic, group in by_topic(found).items():
        for part in by_project(group):
            if history.count(part) >= _LEAST:
                yield draft(_lesson(topic, part), part, history, general=False)


def _lesson(topic: str, group: Sequence[Incident]) -> Lesson:
    act = group[0].family
    told = Counter(incident.error for incident in group).most_common(1)[0][0]
    text = rule(f"Do not run {code(act)} as it stands: a rule or hook stops it here with {code(told, 140)}.")
    return Lesson(BLOCKED, topic, f"Do not run {act} as it stands", text, certainty=0.8)
