"""What agents write where a call was refused or stopped: by a person, by a rule, or because somebody cancelled it.

Matched at the beginning of a result, so that a text which merely quotes one is not mistaken for it.
"""

from __future__ import annotations

import re

from lessonbook.core.session import CallStatus
from lessonbook.transcripts.building import Outcome

_START = r"\A\s*(?:\[?(?:error|blocked|denied|tool (?:call|execution|use))\]?[:\s]+)*"
_PERSON = re.compile(
    _START
    + r"(?:(?:the )?(?:user|human(?: operator)?|operator) (?:has )?(?:rejected|denied|declined|refused|did not allow)"
    r"|(?:(?:was|is) )?(?:action |call |tool (?:call|use|execution) |request )?(?:was )?"
    r"(?:denied|rejected|declined|refused) by (?:the )?(?:user|human))",
    re.IGNORECASE,
)
_RULE = re.compile(
    _START + r"(?:(?:tool |command |action )?(?:execution |call |use )?(?:was |is )?"
    r"(?:blocked|denied|forbidden|rejected) by (?:the |a |your )?(?:\w+ )?"
    r"(?:policy|rule|hook|sandbox|settings|guardrail)"
    r"|tool execution was blocked|\(hardline\))",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    _START
    + r"(?:(?:the )?(?:command|operation|request|tool execution|tool call)(?: was)? (?:aborted|cancelled|canceled"
    r"|interrupted)|(?:aborted|cancelled|canceled|interrupted) by (?:the )?user"
    r"|skipped due to queued (?:user )?message)",
    re.IGNORECASE,
)
_REASON = re.compile(r"(?:with feedback|reason given|user feedback|feedback|reason|the user said|they said):\s*", re.I)


def refusal(said: str) -> Outcome | None:
    """Return how a call that did not run ended, read from its result; ``None`` where the text says no such thing."""
    head = said[:2_000]
    if _PERSON.match(head):
        return Outcome(CallStatus.DENIED, deny_reason=reason_given(head))
    if _RULE.match(head):
        return Outcome(CallStatus.BLOCKED)
    return Outcome(CallStatus.CANCELLED) if _STOPPED.match(head) else None


def reason_given(said: str) -> str | None:
    """Return the person's own words in a refusal, where it says that these follow."""
    found = _REASON.search(said, 0, 1_000)
    return (said[found.end() :].strip()[:2_000] or None) if found else None
