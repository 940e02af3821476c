"""Where this program itself is, so that another one can start it wherever its search path leads."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

NAME = "lessonbook"


def found(program: str) -> str | None:
    """Return the absolute path of a program on the search path."""
    path = shutil.which(program)
    return str(Path(path).absolute()) if path else None


def own_command() -> tuple[str, ...]:
    """Return the words that start this very lessonbook, the first an absolute path.

    The link that a tool installer keeps on the search path comes first, as it survives an update; then the script
    beside this Python; then this Python itself with the module.
    """
    beside = Path(sys.executable).absolute().with_name(NAME)
    named = found(NAME)
    if named and beside.exists() and Path(named).resolve() == beside.resolve():
        return (named,)
    if os.access(beside, os.X_OK):
        return (str(beside),)
    return (str(Path(sys.executable).absolute()), "-m", NAME)
