"""Refusals and consent: whether a call is what a person refused before, and whether the person has allowed it since."""

from __future__ import annotations

import re

from lessonbook.core.effect import command_changes
from lessonbook.core.session import Call, CallKind
from lessonbook.core.shell import simple_commands

_CONSENT = re.compile(
    r"\b(?:yes|yeah|yep|ok|okay|sure|go on|go ahead|continue|proceed|do it|fine|allowed?|please do|retry|try again)\b"
    r"|\b(?:commit|push|run|install|delete|merge|deploy) (?:it|this|that|them|now|again|then)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(r"\b(?:no|not|don'?t|do not|never|stop|wait)\b", re.IGNORECASE)
_PREPARES = frozenset({"git add", "mkdir", "touch", "git fetch"})


def consents(prompt: str) -> bool:
    """Whether a person's words allow what was refused: yes, go on, commit it."""
    return _CONSENT.search(prompt) is not None and _REFUSAL.search(prompt[:200]) is None


def acts(call: Call) -> frozenset[str]:
    """Return what a call does: program and verb of what changes something in it, else the name of its tool."""
    if call.kind is not CallKind.SHELL or call.command is None:
        return frozenset({call.name})
    commands = simple_commands(call.command)
    changing = [command.family for command in commands if command_changes(command)]
    return frozenset(changing) - _PREPARES or frozenset(command.family for command in commands)


def refused_again(call: Call, refused: Call) -> bool:
    """Whether ``call`` is what a person refused.

    Loosely for the shell (``git push`` is ``git push --force``), else exactly: an edit that follows a refused edit
    of the same file with other text is obedience, not a retry.
    """
    if call.kind is CallKind.SHELL and refused.kind is CallKind.SHELL:
        return not acts(call).isdisjoint(acts(refused))
    return call.name == refused.name and dict(call.args) == dict(refused.args)
