"""Writes the drafts of issues, and never one that a person edited."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lessonbook.actions.health_folder import HealthFolder
from lessonbook.core.defect_draft import draft_of, is_ours
from lessonbook.core.defects import DefectState, Repeated
from lessonbook.system import files

_WORTH = (DefectState.OPEN, DefectState.BACK)
_MOST = 200
"""Drafts that are written anew: a tool that says something else each time could fill a disk with them."""


def write(folder: HealthFolder, defects: Iterable[Repeated]) -> None:
    """Write the draft of each defect that is open or came back, those to act on first; take away those of the others.

    Only of the first ``_MOST``: ``shown`` tells the others as they would be written. What a person edited stays as it
    is. Call it with the folder's lock held. Raises ``StoreError``.
    """
    left = _MOST
    for one in defects:
        path, text = folder.draft(one.id), draft_of(one)
        there = _text(path)
        if there is not None and not is_ours(there):
            continue
        if one.state not in _WORTH:
            files.remove(path)
        elif there != text and (left > 0 or there is not None):
            files.make_folder(folder.drafts)
            files.remove_leftovers(path)
            files.write_atomic(path, text.encode("utf-8", "replace"), new_mode=0o600)
        left -= one.state in _WORTH


def there(folder: HealthFolder, one: Repeated) -> Path | None:
    """Return where a defect's draft lies; ``None`` where there is none."""
    path = folder.draft(one.id)
    return path if path.exists() else None


def shown(folder: HealthFolder, one: Repeated) -> str:
    """Return a defect's draft as a person left it; where there is none, as it would be written."""
    return _text(folder.draft(one.id)) or draft_of(one)


def edited(folder: HealthFolder, one: Repeated) -> bool:
    """Whether a person edited the draft."""
    text = _text(folder.draft(one.id))
    return text is not None and not is_ours(text)


def _text(path: Path) -> str | None:
    data = files.read_bytes(path)
    return None if data is None else data.decode("utf-8", "replace")
