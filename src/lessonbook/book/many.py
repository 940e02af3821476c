"""Accepts many candidates in one move: one commit each on one line of history, one restack of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lessonbook.book import queue
from lessonbook.book.signs import Acknowledged, Seen
from lessonbook.core.pending import is_candidate_id
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.core.screen import quoted


def accept_many(
    folder: Path,
    ids: Iterable[str],
    now: int,
    by: Reviewer = TOOL,
    acknowledged: Acknowledged = False,
    commits: Mapping[str, str] | str | None = None,
) -> dict[str, Any]:
    """Accept the candidates in the given order: ``{ok, accepted, refused, moved, stale}``; never raises.

    ``accepted`` holds ``{id, commit}`` and ``refused`` ``{id, error}``; ``ok`` is whether all were accepted. One that
    is refused leaves the others. They move together: where that cannot be done, each is refused with the reason and
    nothing is changed. The number of git processes does not depend on how many there are. ``commits`` says by id which
    commit was shown, or is that of the only candidate; it and ``acknowledged`` are as for ``queue.accept``.
    """
    from lessonbook.book import accepting

    asked = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
    good = [id for id in asked if is_candidate_id(id)]
    answer: dict[str, Any] = {"accepted": [], "refused": [], "moved": [], "stale": []}
    if commits is not None and not isinstance(commits, Mapping):
        commits = dict.fromkeys(asked, commits)
    seen = Seen(commits or {}, acknowledged)
    if good:
        answer = queue.told(
            folder, good[0], lambda book, _: accepting.accept_many(book, good, now, by, seen), lock=True
        )
    if "error" in answer:  # the whole move failed
        answer = {"accepted": [], "refused": [{"id": id, "error": answer["error"]} for id in good]}
    bad = [{"id": id, "error": queue.NO_ID.format(id=quoted(id))} for id in asked if not is_candidate_id(id)]
    refused = [*answer["refused"], *bad]
    return {
        "ok": not refused,
        "accepted": answer["accepted"],
        "refused": refused,
        "moved": answer.get("moved", []),
        "stale": answer.get("stale", []),
    }
