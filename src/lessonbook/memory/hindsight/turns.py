"""Turns what was said in sessions into what a Hindsight server is sent: one document for each turn, or part of one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from lessonbook.core.clean import clean_body
from lessonbook.core.redact import redact, scrub_identity
from lessonbook.core.session import Session, Turn
from lessonbook.memory.hindsight.banks import Banks
from lessonbook.memory.outbox.items import TRANSCRIPT, Item, document_id

PART = 40_000
"""Characters of one document; a longer turn becomes several, cut between paragraphs, lines or words if it has any."""


def turn_items(session: Session, banks: Banks, destination: str, now: float) -> Iterator[Item]:
    """Yield what was said in each turn of a session, without secrets and without what identifies a person.

    The ids come from the session and the turn's number, so that a turn that went on takes the place of what it was.
    """
    for turn in session.turns:
        for number, part in enumerate(_parts(_said(turn))):
            at = turn.started or session.started
            payload = {
                "content": part,
                "context": f"a session of {session.agent}",
                "timestamp": datetime.fromtimestamp(now if at is None else at, UTC).isoformat(),
                "tags": [*banks.written, "kind:session"],
                "metadata": {"kind": TRANSCRIPT, "agent": session.agent, "session_id": session.id, "turn": str(turn.n)},
            }
            id = document_id(banks.bank, banks.scope, "turn", session.agent, session.id, str(turn.n), str(number))
            yield Item(destination, banks.bank, id, payload, TRANSCRIPT, banks.scope)


def _said(turn: Turn) -> str:
    """What the person and the agent said, in order; nothing for a turn in which nobody said anything."""
    told = [("Person", turn.prompt), *(("Person", text) for text in turn.steered), ("Agent", turn.reply)]
    return "\n\n".join(f"{who}: {safe}" for who, text in told if (safe := _safe(text)))


def _safe(text: str) -> str:
    return clean_body(scrub_identity(redact(clean_body(text)).text).text)


def _parts(text: str) -> Iterator[str]:
    while len(text) > PART:
        ends = (text.rfind(mark, PART // 2, PART) for mark in ("\n\n", "\n", " "))
        cut = next((end for end in ends if end > 0), PART)
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text
