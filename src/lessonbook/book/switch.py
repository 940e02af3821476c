"""The switch: whether learning is on, one setting per machine in ``config.toml`` (contract §2.6)."""

from __future__ import annotations

import json
from pathlib import Path

from lessonbook.book.sentences import SETTINGS
from lessonbook.core.errors import StoreError
from lessonbook.system.config_edit import ConfigError, read_value, set_value
from lessonbook.system.files import read_bytes

_KEY = "learning"


def enabled(cfg: Path, config_file: Path) -> bool:
    """Return whether learning is on: on unless ``config_file`` sets it off.

    Where only ``<cfg>/settings.json`` holds the choice, it moves into ``config_file``; ``settings.json`` is never
    written. Raises ``ConfigError`` (a ``ValueError``) where ``config_file`` is not valid TOML or sets no true or false.
    """
    value = read_value(config_file, _KEY)
    if isinstance(value, bool):
        return value
    if value is not None:
        raise ConfigError(f"{_KEY} must be true or false in {config_file}, not {value!r}.")
    old = _legacy(cfg / SETTINGS)
    if old is None:
        return True
    try:
        set_value(config_file, _KEY, old)
    except StoreError:  # a read-only home: the old file keeps answering
        pass
    return old


def set_enabled(config_file: Path, on: bool) -> bool:
    """Turn learning on or off in ``config_file`` and return it; comments and all other lines stay as they are.

    Raises ``ConfigError`` (a ``ValueError``) for a file that is not valid TOML, which is never rewritten.
    """
    set_value(config_file, _KEY, on)
    return on


def _legacy(path: Path) -> bool | None:
    """What the original's version 0.2.44 kept: ``"off"``, or anything else for on; ``None`` where it says nothing."""
    try:
        told = json.loads(read_bytes(path) or b"{}")
    except (ValueError, StoreError):  # not ours to report on: it is an embedding program's file
        return None
    value = told.get(_KEY) if isinstance(told, dict) else None
    return None if value is None else value not in ("off", False)
