"""Tells what a person or agent said from what was only shown to them: our own lessons must not be learned again.

Nothing here looks for a heading or a label: text that stood in the session before, in a result or a prompt, is an echo.
"""

from __future__ import annotations

from lessonbook.core.session import Session
from lessonbook.proposers.wording import flat

_LEAST = 12


def echoed(text: str, session: Session, until: int) -> bool:
    """Whether ``text`` was already shown in the session, up to turn ``until``: a recall, a briefing, a file."""
    wanted = flat(text)
    if len(wanted) < _LEAST:
        return False
    for turn in session.turns:
        if turn.n > until:
            return False
        longer = len(turn.prompt) > len(text) and wanted in flat(turn.prompt)
        if longer or any(wanted in flat(call.result) for call in turn.calls):
            return True
    return False
