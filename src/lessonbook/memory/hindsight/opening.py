"""Opens the ``hindsight`` backend by the settings; touches no file, no network and no token before the first use."""

from __future__ import annotations

import os
from collections.abc import Callable

from lessonbook.core.project import Project
from lessonbook.memory.hindsight.backend import HindsightMemory, Limits
from lessonbook.memory.hindsight.banks import banks
from lessonbook.memory.hindsight.client import Client
from lessonbook.memory.off import OffMemory
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Outbox
from lessonbook.system import http
from lessonbook.system.credentials import Token
from lessonbook.system.settings import Settings

NOT_READY = "Hindsight backend is not initialised for this session."
"""What is said where no server is configured: the seed's own sentence."""


def open_hindsight(settings: Settings, project: Project, now: Callable[[], float]) -> HindsightMemory | OffMemory:
    """Return the memory of ``project`` on the server of ``hindsight.url``.

    Where no server is configured, every call of it raises ``SetupError``; an address that cannot be asked raises it at
    once.
    """
    if not settings.hindsight_url:
        return OffMemory("hindsight", NOT_READY)
    import random

    http.check_address(settings.hindsight_url, "hindsight.url")
    told = settings.hindsight
    client = Client(settings.hindsight_url, Token(told), now, allow_http=told.allow_http)
    limits = Limits(told.recall_seconds, told.retain_seconds, told.reflect_seconds, told.list_seconds)
    missions = {"retain_mission": told.retain_mission, "reflect_mission": told.reflect_mission}
    return HindsightMemory(
        Outbox(settings.agent_dir / OUTBOX_FILE),
        client,
        banks(told.bank, project, settings.memory_scoping),
        now,
        f"{os.getpid()}-{os.urandom(4).hex()}",
        random.random,
        limits,
        {name: mission for name, mission in missions.items() if mission},
    )
