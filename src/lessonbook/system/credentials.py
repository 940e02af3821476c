"""Gets the token of a server: from the environment, or from a command that prints it. Only this process keeps it."""

from __future__ import annotations

import shlex

from lessonbook.core.errors import ModelError, SetupError
from lessonbook.system.server import Hindsight, hindsight_token
from lessonbook.system.settings import environment, places

SECONDS = 10.0
"""How long the command may take."""


class Token:
    """The token of one server, asked for when it is first needed; ``forget`` has it asked for again."""

    def __init__(self, told: Hindsight) -> None:
        self._told = told
        self._found: str | None = None

    def __call__(self) -> str:
        """Return the token, ``""`` where none is set up. Raises ``SetupError`` where the command does not give one."""
        if self._found is None:
            self._found = hindsight_token(self._told.token_env) or self._helped()
        return self._found

    def forget(self) -> None:
        """Ask anew with the next call: the server did not take it, and the command may know a newer one."""
        self._found = None

    def _helped(self) -> str:
        """What the command prints first. What it prints or complains is in no message: it may be the token."""
        from lessonbook.system import programs

        try:
            words = shlex.split(self._told.credential_helper)
        except ValueError as error:
            raise SetupError("hindsight.credential_helper is no command line that a shell would take.") from error
        if not words:
            return ""
        try:
            ended = programs.run(words, b"", timeout=SECONDS, folder=places().home, env=environment())
        except ModelError as error:
            raise SetupError(f"hindsight.credential_helper gave no token: {error}") from None
        lines = ended.out.decode("utf-8", "replace").strip().splitlines()
        if ended.code or not lines or not lines[0].isprintable():
            raise SetupError(f"hindsight.credential_helper gave no token; it ended with exit code {ended.code}.")
        return lines[0]
