"""The review queue of a learned folder (a book): what was proposed waits until a person accepts or rejects it.

``diff``, ``accept`` and ``reject`` return dictionaries that a host can show as they are, and never raise for bad
input: ``{ok: False, id, error}``. Ids that are not of the form ``YYYYMMDD-HHMMSS-xxxxxx`` never reach git.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lessonbook.book import command, queue, switch
from lessonbook.book.sentences import LEARNED, LEARNED_MAX, PENDING, SETTINGS, STALE
from lessonbook.core.ports import Reply
from lessonbook.system.settings import places

__all__ = [
    "LEARNED",
    "LEARNED_MAX",
    "PENDING",
    "SETTINGS",
    "STALE",
    "accept",
    "compact",
    "diff",
    "enabled",
    "learned_cli",
    "learned_command",
    "learned_folder",
    "pending",
    "reject",
    "restack",
    "set_enabled",
]

Folder = str | os.PathLike[str]


def pending(folder: Folder) -> list[dict[str, Any]]:
    """Return the rows that wait, oldest proposal first: ``{id, at, subject, files, stale, includes}``.

    ``at`` is when it was proposed (epoch seconds), ``stale`` why it cannot be accepted or ``None``; ``[]`` where there
    is no repository. Raises ``LessonbookError`` where git is missing or refuses the repository.
    """
    return queue.pending(Path(folder))


def diff(folder: Folder, id: str) -> dict[str, Any]:
    """Return what accepting candidate ``id`` would change: ``{ok, id, diff}``. Works while a batch runs."""
    return queue.diff(Path(folder), id)


def accept(folder: Folder, id: str) -> dict[str, Any]:
    """Move candidate ``id`` onto HEAD, then the others onto the new HEAD: ``{ok, id, commit, moved, stale}``."""
    return queue.accept(Path(folder), id, int(time.time()))


def reject(folder: Folder, id: str) -> dict[str, Any]:
    """Drop candidate ``id``: ``{ok, id}``. Its commit is remembered, so that it is not proposed again."""
    return queue.reject(Path(folder), id)


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


def _cfg(cfg: Folder | None) -> Path:
    return places().config if cfg is None else Path(cfg).expanduser()
