"""What is configured of a Hindsight server, and the variables that may hold its token."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lessonbook.core.value import Value

HINDSIGHT_TOKENS = ("LESSONBOOK_HINDSIGHT_TOKEN", "HINDSIGHT_API_TOKEN")
"""The environment variables that hold the token of a Hindsight server; the second is oh-my-pi's."""


class Hindsight(Value):
    """How a Hindsight server is used. Times are seconds one request may take."""

    bank: str = "lessonbook"
    token_env: str = ""
    """The environment variable that holds the token; empty for the usual ones."""
    credential_helper: str = ""
    """A command that prints the token, for where no variable holds it."""
    allow_http: bool = False
    """Whether the token may go to another machine unencrypted."""
    retain_mission: str = ""
    reflect_mission: str = ""
    recall_seconds: int = 10
    retain_seconds: int = 10
    reflect_seconds: int = 120
    list_seconds: int = 1
    """For the newest lessons, which the start of a session waits for."""
    retain_sessions: bool = False
    """Whether what is said in sessions is kept there too."""


def hindsight_token(named: str, env: Mapping[str, str] | None = None) -> str:
    """Return the token for a Hindsight server: of the variable that is ``named``, else of the usual ones; or ``""``."""
    env = os.environ if env is None else env
    names = (named,) if named else HINDSIGHT_TOKENS
    return next(filter(None, (env.get(name, "").strip() for name in names)), "")
