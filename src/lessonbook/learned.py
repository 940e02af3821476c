"""The review queue of a learned folder (a book): what was proposed waits until a person accepts or rejects it.

``diff``, ``accept`` and ``reject`` return dictionaries that a host can show as they are, and never raise for bad
input: ``{ok: False, id, error}``. Ids that are not of the form ``YYYYMMDD-HHMMSS-xxxxxx`` never reach git.

What decides on a candidate takes the ``commit`` that was shown (``pending``, ``review`` and ``diff`` give it; its first
7 digits or more are enough): where the candidate proposes anything else by then, it is refused and nothing changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

from lessonbook.book import (
    command,
    promoting,
    pulling,
    pushing,
    queue,
    rejecting,
    remembered,
    reviewing,
    switch,
    undoing,
    verifying,
)
from lessonbook.book.sentences import LEARNED, LEARNED_MAX, PENDING, SETTINGS, STALE
from lessonbook.core.errors import LessonbookError
from lessonbook.core.ports import Reply
from lessonbook.core.reviewer import Reviewer, parse
from lessonbook.system import settings
from lessonbook.system.settings import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "LEARNED",
    "LEARNED_MAX",
    "PENDING",
    "SETTINGS",
    "STALE",
    "accept",
    "accept_many",
    "compact",
    "diff",
    "edit",
    "enabled",
    "learned_cli",
    "learned_command",
    "learned_folder",
    "pending",
    "promote",
    "pull",
    "push",
    "reject",
    "rejected",
    "restack",
    "review",
    "set_enabled",
    "split",
    "undo",
    "unreject",
    "verify",
]

Folder = str | os.PathLike[str]


def pending(folder: Folder) -> list[dict[str, Any]]:
    """Return the rows that wait, oldest proposal first: ``{id, at, subject, files, stale, over, includes, commit}``.

    ``at`` is when it was proposed (epoch seconds), ``stale`` why it cannot be accepted or ``None``, ``over`` how many
    characters ``AGENTS.md`` would have where that is too many, ``commit`` its own; ``[]`` where there is no repository.
    Raises ``LessonbookError`` where git is missing or refuses the repository.
    """
    return queue.pending(Path(folder))


def diff(folder: Folder, id: str) -> dict[str, Any]:
    """Return what accepting candidate ``id`` would change: ``{ok, id, diff, commit}``. Works while a batch runs."""
    return queue.diff(Path(folder), id)


def accept(
    folder: Folder,
    id: str,
    files: Iterable[str] = (),
    reviewer: str | None = None,
    acknowledge: bool | Iterable[str] = False,
    commit: str | None = None,
) -> dict[str, Any]:
    """Move candidate ``id`` onto HEAD, then the others onto the new HEAD: ``{ok, id, commit, moved, stale}``.

    With ``files`` only its changes of those files; the others stay pending under the same id, and ``rest`` names them.
    ``reviewer``, such as ``Ana Lee <ana@example.org>``, is who accepts, named in the commit's trailer ``Accepted-by``;
    by default who ``LESSONBOOK_REVIEWER`` or ``[review]`` in ``config.toml`` says, else lessonbook itself.
    ``commit`` is what was shown. One with signs of poisoning (``review`` shows them) is refused unless a person has
    seen them in that ``commit``: ``acknowledge`` is ``True``, or the kinds they have seen. ``acknowledged`` then lists
    them.
    """
    only = [files] if isinstance(files, str) else list(files)
    return _by(reviewer, id, lambda by: queue.accept(Path(folder), id, int(time.time()), by, only, acknowledge, commit))


def accept_many(
    folder: Folder,
    ids: Iterable[str],
    reviewer: str | None = None,
    acknowledge: bool | Iterable[str] = False,
    commit: Mapping[str, str] | str | None = None,
) -> dict[str, Any]:
    """Accept candidates in one move, one commit each, in the given order: ``{ok, accepted, refused, moved, stale}``.

    ``accepted`` holds ``{id, commit}``, ``refused`` ``{id, error}``; one that is refused leaves the others, and ``ok``
    is whether none was. ``commit`` says by id which was shown; it and ``acknowledge`` are as for ``accept``.
    """
    from lessonbook.book import many

    asked = [ids] if isinstance(ids, str) else list(ids)
    act = partial(many.accept_many, Path(folder), asked, int(time.time()))
    told = _by(reviewer, "", lambda by: act(by, acknowledge, commit))
    if "accepted" in told:
        return told
    refused = [{"id": id, "error": told["error"]} for id in asked]
    return {"ok": False, "accepted": [], "refused": refused, "moved": [], "stale": []}


def edit(
    folder: Folder,
    id: str,
    files: Mapping[str, str | bytes | None],
    reviewer: str | None = None,
    commit: str | None = None,
) -> dict[str, Any]:
    """Replace files of candidate ``id`` before it is accepted: ``{ok, id, files, redacted, changed, commit}``.

    ``files`` maps a path to all of its new text, or to ``None`` where accepting shall leave no such file; its other
    files stay as proposed. The text is cleaned, and ``redacted`` says how many secrets were taken out. The proposer
    stays the author and the id the same; the reviewer is named in a trailer ``Edited-by``. The edit is laid on HEAD,
    so a stale candidate can be accepted after it.
    """
    from lessonbook.book import editing

    return _by(reviewer, id, lambda by: editing.edit(Path(folder), id, files, int(time.time()), by, commit))


def split(
    folder: Folder, id: str, by: str = "file", reviewer: str | None = None, commit: str | None = None
) -> dict[str, Any]:
    """Make several candidates of ``id``, by ``"file"`` or ``"paragraph"``: ``{ok, id, parts}``.

    ``parts`` are ``{id, files, commit}``.

    Each part has the author, date and evidence of the whole, and a trailer ``Split-from``. Accepting all of them in
    order comes to what accepting the whole would have.
    """
    from lessonbook.book import splitting

    return _by(reviewer, id, lambda who: splitting.split(Path(folder), id, by, int(time.time()), who, commit))


def reject(folder: Folder, id: str, reason: str | None = None, commit: str | None = None) -> dict[str, Any]:
    """Drop candidate ``id``: ``{ok, id}``. It is remembered with the reason, so that it is not proposed again."""
    return queue.reject(Path(folder), id, int(time.time()), reason, commit)


def undo(folder: Folder, id: str) -> dict[str, Any]:
    """Take accepted candidate ``id`` back: ``{ok, id, commit, pending, moved, stale}``; it waits for review again."""
    return undoing.undo(Path(folder), id, int(time.time()))


def unreject(folder: Folder, id: str) -> dict[str, Any]:
    """Put rejected candidate ``id`` back in the queue: ``{ok, id}``."""
    return rejecting.unreject(Path(folder), id)


def rejected(folder: Folder) -> list[dict[str, Any]]:
    """Return what was rejected, oldest proposal first: ``{id, at, rejected_at, subject, files, reason}``.

    Times are epoch seconds; ``rejected_at`` is 0 where it is not known. Raises ``LessonbookError`` as ``pending`` does.
    """
    return [asdict(row) | {"files": list(row.files)} for row in remembered.rejected(Path(folder))]


def review(folder: Folder) -> list[dict[str, Any]]:
    """Return the rows of ``pending`` with what to look at before deciding.

    ``signs`` of poisoning are ``{kind, path, line, excerpt, why}``; ``twins`` are other candidates that say nearly the
    same, ``{id, became, reason}``. Takes longer than ``pending``: every text is read. Raises as ``pending`` does.
    """
    return list(map(reviewing.row_dict, reviewing.reviewed(Path(folder))))


def verify(folder: Folder) -> dict[str, Any]:
    """Return the changes on HEAD that did not come through the queue: ``{ok, accepted, by_originals, changes}``.

    ``ok`` where there are none; a change is ``{commit, author, at, subject, files}``. Never raises: ``{ok: False,
    error}``.
    """
    return verifying.verified(Path(folder))


def restack(folder: Folder) -> tuple[list[str], list[str]]:
    """Move each candidate of an older HEAD onto HEAD where it picks cleanly: ``(moved, stale)`` ids.

    Raises ``LessonbookError``: ``BusyError`` while a batch runs.
    """
    return queue.restack(Path(folder), int(time.time()))


def compact(folder: Folder, id: str | None = None, chat: Callable[[str], Reply | str] | None = None) -> dict[str, Any]:
    """Ask for a shorter ``AGENTS.md`` as one more candidate: ``{ok, id, before, after}`` in characters.

    Folds in candidate ``id`` where it is given: accepting the compaction then accepts it too. ``chat`` takes a prompt
    and returns the reply; by default it is the editor model of this machine's ``config.toml`` (``[editor]``), and takes
    as long as that. What a person wrote comes back byte for byte. ``{ok: False, error}`` where it cannot be done.
    """
    return command.compact(Path(folder), id, chat)


def promote(folder: Folder, id: str, project: Folder) -> dict[str, Any]:
    """Make branch ``lessonbook/<id>`` of accepted candidate ``id`` in a project's own repository, for its people.

    ``{ok, id, branch, commit, files, project}``. A rule goes to the end of its ``AGENTS.md``, a skill into
    ``.agents/skills/``. The project's files, index, HEAD and other branches stay; nothing is pushed.
    """
    return promoting.promote(Path(folder), id, Path(project), int(time.time()))


def pull(folder: Folder, remote: str) -> dict[str, Any]:
    """Bring in a team's book: ``{ok, remote, commit, new, gone, moved, stale}``. Fast-forward only.

    ``remote`` is a folder, an ssh or https address, or the name of a remote of the book's repository. Uses the network
    where that is elsewhere. Never raises: ``{ok: False, remote, error}``.
    """
    return pulling.pull(Path(folder), remote, int(time.time()))


def push(folder: Folder, remote: str) -> dict[str, Any]:
    """Bring this book to a team's: ``{ok, remote, commit, new, gone, withheld}``; see ``pull``."""
    return pushing.push(Path(folder), remote)


def learned_command(folder: Folder, arg: str = "") -> str:
    """Return the text a terminal shows: ``list`` by default, ``diff|accept|reject ID``, ``compact [ID]``, the switch.

    Never raises for what is in the folder, the configuration or ``arg``.
    """
    return command.answer(Path(folder), arg, places().config_file, int(time.time()))


def learned_cli(cmd: str = "list", id: str = "", cfg: Folder | None = None) -> None:
    """Print what ``learned_command`` says for the learned folder of ``cfg`` (this machine's by default)."""
    print(learned_command(learned_folder(cfg), f"{cmd} {id}".strip()))


def learned_folder(cfg: Folder | None = None) -> Path:
    """Return ``<cfg>/learned``, whether or not it exists; ``cfg`` is this machine's configuration folder by default."""
    return _cfg(cfg) / LEARNED


def enabled(cfg: Folder | None = None) -> bool:
    """Return whether learning is on: on unless this machine's ``config.toml`` sets it off.

    A choice that only ``<cfg>/settings.json`` holds moves there first. Raises ``ValueError`` where it is not TOML.
    """
    return switch.enabled(_cfg(cfg), places().config_file)


def set_enabled(cfg: Folder | None = None, on: bool = True) -> bool:
    """Turn learning on or off in this machine's ``config.toml``, its comments kept, and return ``on``.

    Raises ``ValueError`` that says *not valid TOML* for a file that is not, and leaves it as it was.
    """
    return switch.set_enabled(places().config_file, bool(on))


def _by(reviewer: str | None, id: str, act: Callable[[Reviewer], dict[str, Any]]) -> dict[str, Any]:
    """Do ``act`` as the reviewer named, or as this machine's; a broken configuration is a refusal like any other."""
    try:
        who = parse(reviewer) if reviewer else None
        return act(who or settings.reviewer(places().config_file))
    except LessonbookError as error:
        return {"ok": False, "id": id, "error": str(error)}


def _cfg(cfg: Folder | None) -> Path:
    return places().config if cfg is None else Path(cfg).expanduser()
