"""Writes one session as a document other programs read, without the secrets that were said in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lessonbook.actions.sessions import Reading
from lessonbook.core.errors import InputError
from lessonbook.core.redact import redact
from lessonbook.core.screen import quoted
from lessonbook.core.session import Session
from lessonbook.system import files
from lessonbook.transcripts.atif_export import as_atif

_SHOWN = 5


def export(paths: Sequence[Path] | None, id: str, home: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """Return one session as an ATIF document; secrets are redacted in every text of it.

    ``id`` is the session's, or enough of its beginning; it may be empty where ``paths`` hold one session only. Parts of
    a session that lie in several files are put together. Raises ``InputError`` where none fits, or more than one.
    """
    found: dict[str, Session] = {}
    for session in Reading().sessions(paths, home, env):
        if session.id.startswith(id):
            known = found.get(session.id)
            found[session.id] = session if known is None else _joined(known, session)
    chosen = found.get(id) or (next(iter(found.values())) if len(found) == 1 else None)
    if chosen is None:
        raise InputError(_why_none(list(found), id))
    return as_atif(chosen, lambda text: redact(text).text)


def write(document: Mapping[str, Any], path: Path) -> None:
    """Write the document whole; only its owner may read it. Raises ``StoreError`` where it cannot be written."""
    data = f"{json.dumps(document, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")
    files.write_atomic(path, data, new_mode=0o600)


def _joined(first: Session, second: Session) -> Session:
    from dataclasses import replace

    more = tuple(replace(turn, n=len(first.turns) + at) for at, turn in enumerate(second.turns, 1))
    return replace(first, turns=first.turns + more, ended=second.ended or first.ended)


def _why_none(found: Sequence[str], id: str) -> str:
    if not found:
        return f"There is no session {quoted(id)} there." if id else "There is no session there."
    shown = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
    return f"{len(found):,} sessions fit: {shown}. Name one by its id, or enough of the beginning."
