"""A launchd agent: one property list in ``~/Library/LaunchAgents`` (macOS)."""

from __future__ import annotations

import plistlib
import sys
from pathlib import Path

from lessonbook.system.schedules.timer import Spot, Wanted, file_spot, said

LABEL = "org.lessonbook.nightly"


class Launchd:
    """It makes up for a night in which the machine slept."""

    name = "launchd"

    def __init__(self, home: Path, uid: int) -> None:
        """``uid`` is the person's."""
        self._home, self._uid = home, uid
        self._path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def is_here(self) -> bool:
        """Whether this is macOS."""
        return sys.platform == "darwin"

    def spots(self, wanted: Wanted) -> list[Spot]:
        """Return the property list."""
        document = {
            "Label": LABEL,
            "ProgramArguments": list(wanted.words),
            "EnvironmentVariables": dict(sorted(wanted.env.items())),
            "StartCalendarInterval": {"Hour": wanted.hour, "Minute": wanted.minute},
            "ProcessType": "Background",
            "StandardOutPath": "/dev/null",
            "StandardErrorPath": "/dev/null",
        }
        return [file_spot(self._path, plistlib.dumps(document), self._home)]

    def start(self) -> str | None:
        """Load it."""
        self.stop()
        code, _, err = said("launchctl", "bootstrap", f"gui/{self._uid}", str(self._path))
        return f"launchd could not be told ({err or code}); it loads the agent at your next login" if code else None

    def stop(self) -> str | None:
        """Unload it."""
        said("launchctl", "bootout", f"gui/{self._uid}/{LABEL}")
        return None

    def runs(self) -> str | None:
        """Ask whether it is loaded."""
        code, _, _ = said("launchctl", "print", f"gui/{self._uid}/{LABEL}")
        return "launchd has not loaded it" if code else None
