"""The ``hindsight`` backend: says that no server is connected, in the seed's own words, until it can talk to one."""

from __future__ import annotations

from lessonbook.memory.off import OffMemory

NOT_READY = "Hindsight backend is not initialised for this session."


def open_hindsight() -> OffMemory:
    """Return a memory named ``hindsight`` whose every call raises ``SetupError`` with ``NOT_READY``."""
    return OffMemory("hindsight", NOT_READY)
