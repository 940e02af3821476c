"""What lies beside a Ramabana history: long results in full, titles, and the repository as a session began."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.transcripts.lines import opened, read_objects
from lessonbook.transcripts.values import RESULT_MAX, TEXT_MAX, clip, mapping, text

_SMALL = 4 * 1024 * 1024


class Beside:
    """The files beside one history; each is read when it is first asked for. Nothing raises: they may be missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sessions: dict[str, Any] | None = None
        self._details: tuple[str, dict[str, dict[str, Any]]] = ("", {})

    def details(self, reference: str, turn: str) -> dict[str, Any]:
        """Return the full texts of a turn: ``details`` by the id of the action, and the ``prompt``.

        A reference that leads out of the folder is not followed.
        """
        path = Path(reference)
        if path.is_absolute() or ".." in path.parts or "\0" in reference or "\\" in reference:
            return {}
        if self._details[0] != reference:
            self._details = (reference, self._load(self._folder / path))
        return self._details[1].get(turn, {})

    def session(self, id: str) -> dict[str, Any]:
        """Return what is noted of a session: its ``title`` and ``roots``."""
        if self._sessions is None:
            self._sessions = mapping(mapping(_json(self._folder / "agent-sessions.json")).get("sessions"))
        return mapping(self._sessions.get(id))

    def start(self, id: str) -> dict[str, Any]:
        """Return the first folder as it was before the session's first turn: ``folder``, ``head``, ``branch``."""
        if not id or "/" in id or "\\" in id or "\0" in id or id in (".", ".."):
            return {}
        found = _json(self._folder / "runs" / id / "start.json")
        return mapping(found[0] if isinstance(found, list) and found else found)

    def _load(self, path: Path) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        try:
            with opened(str(path)) as file:
                for item in read_objects(file):
                    if isinstance(item, dict):
                        texts = mapping(item.get("details"))
                        kept = {id: clip(text(full), RESULT_MAX, errors=True) for id, full in texts.items()}
                        found[text(item.get("turn_id"))] = {
                            "details": kept,
                            "prompt": clip(text(item.get("prompt")), TEXT_MAX),
                        }
        except LessonbookError:
            pass
        return found


def _json(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return json.loads(file.read(_SMALL).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return None
