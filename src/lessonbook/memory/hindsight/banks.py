"""Which bank and tags a project's lessons have on a server, and which of them it recalls.

``per-project-tagged`` (the default) has one bank and tells projects apart by a tag, ``project:<name>-<digest>``:
two repositories of one name stay apart. ``project:<name>`` goes along for programs that know no digest.
"""

from __future__ import annotations

import hashlib
import re

from lessonbook.core.project import Project
from lessonbook.core.tidy import tidy
from lessonbook.core.value import Value

SHARED = "scope:global"
"""The tag of what every project recalls."""
_NAME_MAX = 150
"""Bytes of a bank's name; a server takes 192."""
_FOLDER_MAX = 255
"""Bytes of the name of a folder, which a project is called after."""
_OURS = ("project:", "scope:")


class Banks(Value):
    """Where a project's lessons go, and what it recalls: what has one of ``recalled``, and what has no tag at all."""

    bank: str
    written: tuple[str, ...]
    recalled: tuple[str, ...]
    scope: str
    """Names the project among those of the bank, in the outbox."""
    scopes: tuple[str, ...]
    """The scopes of the outbox that it recalls."""


def banks(name: str, project: Project, scoping: str) -> Banks:
    """Return what ``memory.scoping`` means for ``project``: the bank ``name`` or, per project, one called after it."""
    bank = bank_name(name)
    if scoping == "global":
        return Banks(bank, (SHARED,), (SHARED,), SHARED, (SHARED,))
    own = f"project:{project.slug}"
    if scoping == "per-project":
        return Banks(bank_name(f"{name}-{project.slug}"), (own,), (own,), own, (own,))
    named = tidy(project.name.lower(), _FOLDER_MAX).text
    written = (own, f"project:{named}") if named else (own,)
    return Banks(bank, written, (own, SHARED), own, (own, SHARED))


def bank_name(name: str) -> str:
    """Return a name that a server takes for a bank: no slash, no blank, of bounded length; another for another name."""
    plain = _plain(name) or "lessonbook"
    if plain == name and len(plain) <= _NAME_MAX:
        return plain
    return f"{plain[:_NAME_MAX]}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def own_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return a lesson's own tags, without any that would put it into another project."""
    return tuple(tag for tag in tags if not tag.lower().startswith(_OURS))


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
