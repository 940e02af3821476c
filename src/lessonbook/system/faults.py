"""Named points where a test can kill this process, so that every crash between two steps can be tried for real.

Nothing arms a point but a test, in a process of its own; unarmed, a point costs one comparison.
"""

from __future__ import annotations

import os
import signal

_armed: str | None = None
_left = 1
_log: list[str] | None = None


def point(name: str) -> None:
    """Mark a step named ``name``. Kills this process here with SIGKILL where a test armed it."""
    if _log is not None:
        _log.append(name)
    if _armed == name:
        _countdown()


def arm(name: str, passes: int = 1) -> None:
    """Let the next pass through the point ``name``, or the ``passes``-th from now, kill this process."""
    global _armed, _left
    _armed, _left = name, passes


def _countdown() -> None:
    global _left
    _left -= 1
    if _left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def record() -> list[str]:
    """Start listing the points passed, and return the list that grows: how a test learns which points there are."""
    global _log
    _log = []
    return _log
