"""The review queue of a learned folder (a book): what was proposed waits until a person accepts or rejects it.

``diff``, ``accept`` and ``reject`` return dictionaries that a host can show as they are, and never raise for bad
input: ``{ok: False, id, error}``. Ids that are not of the form ``YYYYMMDD-HHMMSS-xxxxxx`` never reach git.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lessonbook.book import command, queue, switch
from lessonbook.book.sentences import LEARNED, LEARNED_MAX, PENDING, SETTINGS, STALE
from lessonbook.core.errors import LessonbookError
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
    "reject",
    "restack",
    "set_enabled",
    "split",
]

Folder = str | os.PathLike[str]


def pending(folder: Folder) -> list[dict[str, Any]]:
    """Return the rows that wait, oldest proposal first: ``{id, at, subject, files, stale, over, includes}``.

    ``at`` is when it was proposed (epoch seconds), ``stale`` why it cannot be accepted or ``None``, ``over`` how many
    characters ``AGENTS.md`` would have where that is too many; ``[]`` where there is no repository. Raises
    ``LessonbookError`` where git is missing or refuses the repository.
    """
    return queue.pending(Path(folder))


def diff(folder: Folder, id: str) -> dict[str, Any]:
    """Return what accepting candidate ``id`` would change: ``{ok, id, diff}``. Works while a batch runs."""
    return queue.diff(Path(folder), id)


def accept(folder: Folder, id: str, files: Iterable[str] = (), reviewer: str | None = None) -> dict[str, Any]:
    """Move candidate ``id`` onto HEAD, then the others onto the new HEAD: ``{ok, id, commit, moved, stale}``.

    With ``files`` only its changes of those files; the others stay pending under the same id, and ``rest`` names them.
    ``reviewer``, such as ``Ana Lee <ana@example.org>``, is who accepts, named in the commit's trailer ``Accepted-by``;
    by default who ``LESSONBOOK_REVIEWER`` or ``[review]`` in ``config.toml`` says, else lessonbook itself.
    """
    only = [files] if isinstance(files, str) else list(files)
    return _by(reviewer, id, lambda by: queue.accept(Path(folder), id, int(time.time()), by, only))


def accept_many(folder: Folder, ids: Iterable[str], reviewer: str | None = None) -> dict[str, Any]:
    """Accept candidates in one move, one commit each, in the given order: ``{ok, accepted, refused, moved, stale}``.

    ``accepted`` holds ``{id, commit}``, ``refused`` ``{id, error}``; one that is refused leaves the others, and ``ok``
    is whether none was.
    """
    from lessonbook.book import many

    asked = [ids] if isinstance(ids, str) else list(ids)
    told = _by(reviewer, "", lambda by: many.accept_many(Path(folder), asked, int(time.time()), by))
    if "accepted" in told:
        return told
    refused = [{"id": id, "error": told["error"]} for id in asked]
    return {"ok": False, "accepted": [], "refused": refused, "moved": [], "stale": []}


def edit(
    folder: Folder, id: str, files: Mapping[str, str | bytes | None], reviewer: str | None = None
) -> dict[str, Any]:
    """Replace files of candidate ``id`` before it is accepted: ``{ok, id, files, redacted, changed}``.

    ``files`` maps a path to all of its new text, or to ``None`` where accepting shall leave no such file; its other
    files stay as proposed. The text is cleaned, and ``redacted`` says how many secrets were taken out. The proposer
    stays the author and the id the same; the reviewer is named in a trailer ``Edited-by``. The edit is laid on HEAD,
    so a stale candidate can be accepted after it.
    """
    from lessonbook.book import editing

    return _by(reviewer, id, lambda by: editing.edit(Path(folder), id, files, int(time.time()), by))


def split(folder: Folder, id: str, by: str = "file", reviewer: str | None = None) -> dict[str, Any]:
    """Make several candidates of ``id``, by ``"file"`` or ``"paragraph"``: ``{ok, id, parts}``, each ``{id, files}``.

    Each part has the author, date and evidence of the whole, and a trailer ``Split-from``. Accepting all of them in
    order comes to what accepting the whole would have.
    """
    from lessonbook.book import splitting

    return _by(reviewer, id, lambda who: splitting.split(Path(folder), id, by, int(time.time()), who))


def reject(folder: Folder, id: str) -> dict[str, Any]:
    """Drop candidate ``id``: ``{ok, id}``. Its commit is remembered, so that it is not proposed again."""
    return queue.reject(Path(folder), id)


def restack(folder: Folder) -> tuple[list[str], list[str]]:
    """Move each candidate of an older HEAD onto HEAD where it picks cleanly: ``(moved, stale)`` ids.

    Raises ``LessonbookError``: ``BusyError`` while a batch runs.
    """
    return queue.restack(Path(folder), int(time.time()))


def compact(folder: Folder, id: str | None = None, chat: Callable[[str], str] | None = None) -> dict[str, Any]:
    """Say what a shorter ``AGENTS.md`` needs, an editor model this version cannot run yet: ``{ok: False, error}``."""
    return command.compact(Path(folder), id)


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
