"""Starts another lessonbook that goes on by itself when this one has ended: for work nobody shall wait for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from lessonbook.system.settings import environment

DELIVER = ("outbox", "flush", "--quiet", "--seconds", "20")
"""What delivers what a command queued, when the command itself has answered and ended."""


def start(words: Sequence[str]) -> bool:
    """Start ``lessonbook WORDS`` apart from this process; say whether it started. Never raises.

    It holds nothing of ours open, so that whoever waits for our output does not wait for it.
    """
    command = [sys.executable, "-m", "lessonbook", *words]
    nothing = subprocess.DEVNULL
    try:
        subprocess.Popen(
            command, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/", env=environment(), start_new_session=True
        )
    except (OSError, ValueError):  # no memory, no program: what waits is taken on by whoever comes next
        return False
    return True
