"""What one night did, as it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lessonbook.actions.health import Health
from lessonbook.actions.propose import Report as Proposed
from lessonbook.actions.watch import Watch
from lessonbook.core.errors import LessonbookError
from lessonbook.core.night import Played


@dataclass(slots=True)
class Night:
    """What one night did. ``note`` says why nothing was done, where nothing was."""

    note: str = ""
    name: str = ""
    dry_run: bool = False
    began: float = 0.0
    ended: float = 0.0
    cut_off: list[str] = field(default_factory=list)
    """Nights before it that never ended."""
    expired: dict[str, dict[str, Any]] = field(default_factory=dict)
    compacted: dict[str, dict[str, Any]] = field(default_factory=dict)
    proposed: Proposed | None = None
    watched: Watch | None = None
    health: Health | None = None
    replays: str = ""
    """Why nothing was replayed, where nothing could be."""
    rounds: list[Played] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    """The sessions a dry run would try, and those another night may."""
    refused: list[Played] = field(default_factory=list)
    spent: float = 0.0
    most: float = 0.0
    cleaned: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    exit_code: int = 0

    def fail(self, what: str, error: LessonbookError) -> None:
        """Note that a part failed; the first one's exit code is the night's."""
        self.failed.append(f"{what}: {error}")
        self.exit_code = self.exit_code or error.exit_code
