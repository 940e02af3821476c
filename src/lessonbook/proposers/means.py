"""What a proposer may be given besides sessions: a model to ask, and the folders it would change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lessonbook.core.candidate import Proposal
from lessonbook.core.ports import Chat
from lessonbook.core.redact_names import Names


def _no_files(_: Proposal) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Means:
    """``chat`` is the editor model, ``None`` where there is none; ``names`` are those of
    people that the sessions gave away.

    ``files`` returns the accepted texts of the book a proposal belongs to: ``AGENTS.md`` and ``skills/*/SKILL.md``.
    """

    chat: Chat | None = None
    names: Names = field(default_factory=Names)
    files: Callable[[Proposal], Mapping[str, str]] = _no_files
