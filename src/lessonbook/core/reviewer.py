"""Who decides on a candidate: the name an accepted or edited commit carries, never read from git's own settings."""

from __future__ import annotations

import re

from lessonbook.core.value import Value

_ADDRESS = re.compile(r"(?P<name>[^<>]*)<(?P<email>[^<>]*)>\s*\Z")


class Reviewer(Value):
    """A person's name and e-mail address, one line each, without angle brackets; ``email`` may be empty."""

    name: str
    email: str = ""

    @property
    def signature(self) -> str:
        """What a trailer says: ``Ana Lee <ana@example.org>``, or the name alone."""
        return f"{self.name} <{self.email}>" if self.email else self.name

    @property
    def ident(self) -> bytes:
        """What a commit's committer line says before the time."""
        return f"{self.name} <{self.email}>".encode()


TOOL = Reviewer("lessonbook", "lessonbook@localhost")
"""Our own identity, where nobody said who reviews."""


def reviewer(name: str, email: str = "") -> Reviewer | None:
    """Return the reviewer of that name, made safe for a commit's header; ``None`` where nothing is left of it."""
    name, email = _one_line(name), _one_line(email)
    return Reviewer(name or email, email) if name or email else None


def parse(text: str) -> Reviewer | None:
    """Return who ``Ana Lee <ana@example.org>``, ``Ana Lee`` or ``ana@example.org`` is; ``None`` for no one."""
    match = _ADDRESS.match(text.strip())
    if match:
        return reviewer(match["name"], match["email"])
    return reviewer(text, text if "@" in text and " " not in text.strip() else "")


def _one_line(text: str) -> str:
    plain = "".join(char if char.isprintable() and char not in "<>" else " " for char in text)
    return " ".join(plain.split())
