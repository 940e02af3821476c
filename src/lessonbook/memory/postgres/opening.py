"""Opens the ``postgres`` backend by the settings; touches no file and no network before the first use."""

from __future__ import annotations

import os
from collections.abc import Callable

from lessonbook.core.project import Project
from lessonbook.memory.off import OffMemory
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Outbox
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.queueing import QueueingPostgres
from lessonbook.memory.vectors.registry import open_embedder
from lessonbook.system.settings import Settings

NOT_READY = "No PostgreSQL server is configured: `lessonbook config set postgres.url postgresql://HOST/DATABASE`."


def open_postgres(settings: Settings, project: Project, now: Callable[[], float]) -> QueueingPostgres | OffMemory:
    """Return the memory of ``project`` in the team's schema on the server of ``postgres.url``.

    Where no server is configured, every call of it raises ``SetupError``; an address with a password in it, and a
    team's name that cannot be one, raise it at once.
    """
    if not settings.postgres_url:
        return OffMemory("postgres", NOT_READY)
    import random

    return QueueingPostgres(
        Connection(settings.postgres_url, settings.postgres_team),
        project.slug,
        now,
        Outbox(settings.agent_dir / OUTBOX_FILE),
        f"{os.getpid()}-{os.urandom(4).hex()}",
        random.random,
        embedder=open_embedder(),
        scoping=settings.memory_scoping,
        branch=project.branch,
    )
