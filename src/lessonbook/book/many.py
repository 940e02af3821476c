"""Accepts many candidates in one move: one commit each on one line of history, one restack of the rest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lessonbook.book import queue
from lessonbook.book.signs import Acknowledged
from lessonbook.core.pending import is_candidate_id
from lessonbook.core.reviewer import TOOL, Reviewer


def accept_many(
    folder: Path, ids: Iterable[str], now: int, by: Reviewer = TOOL, acknowledged: Acknowledged = False
) -> dict[str, Any]:
    """Accept the candidates in the given order: ``{ok, accepted, refused, moved, stale}``; never raises.

    ``accepted`` holds ``{id, commit}`` and ``refused`` ``{id, error}``; ``ok`` is whether all were accepted. One that
    is refused leaves the others. They move together: where that cannot be done, each is refused with the reason and
    nothing is changed. The number of git processes does not depend on how many there are.
    """
    from lessonbook.book import accepting

    asked = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
    good = [id for id in asked if is_candidate_id(id)]
    answer: dict[str, Any] = {"accepted": [], "refused": [], "moved": [], "stale": []}
    if good:
        answer = queue.told(
            folder, good[0], lambda book, _: accepting.accept_many(book, good, now, by, acknowledged), lock=True
        )
    if "error" in answer:  # the whole move failed
        answer = {"accepted": [], "refused": [{"id": id, "error": answer["error"]} for id in good]}
    bad = [{"id": id, "error": queue.NO_ID.format(id=id)} for id in asked if not is_candidate_id(id)]
    refused = [*answer["refused"], *bad]
    return {
        "ok": not refused,
        "accepted": answer["accepted"],
        "refused": refused,
        "moved": answer.get("moved", []),
        "stale": answer.get("stale", []),
    }
