"""Commands that work only after others: ``npm test`` fails, ``npm install`` is run, ``npm test`` works.

Where nothing but commands lay between, and the same ones in several sessions, they are what has to be done first: a
rule for one or two of them, a skill for a procedure of more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lessonbook.core.checks import is_check
from lessonbook.core.effect import changes_state, command_changes
from lessonbook.core.failure import Failure, read_failure
from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn
from lessonbook.core.shell import Command, simple_commands
from lessonbook.core.skill import Skill, SkillDraft, prepare
from lessonbook.proposers.draft import Draft, Lesson, by_project, by_topic, comparable_key, draft
from lessonbook.proposers.incident import History, Incident, cut, where
from lessonbook.proposers.moves import overrides
from lessonbook.proposers.wording import code, rule, safe, shown

PREPARED = "prepared-then-worked"

WINDOW = 10
_LEAST = 2
_STEPS_MOST = 5
_PROCEDURE = 3
"""From how many commands on they are a procedure, and so a skill."""

_MENDS = frozenset({"git checkout", "git restore", "git reset", "git apply", "git commit", "git revert"})
_PREPARES_NOTHING = frozenset({"git add", "mkdir", "touch", "echo", "git stash", "cp", "rm", "mv", "cat", "chmod"})


def incidents(session: Session) -> Iterator[Incident]:
    """Yield each command of the session that worked only after other commands."""
    calls = [(turn, call) for turn in session.turns for call in turn.calls]
    for at, (turn, call) in enumerate(calls):
        failure = read_failure(call)
        if failure is None or failure.command is None:
            continue
        steps = _steps(failure, failure.command, calls[at + 1 : at + 1 + WINDOW])
        if steps:
            topic = f"{PREPARED} | {failure.family} | {' && '.join(steps)}"
            yield Incident(
                where(session, turn, call),
                topic,
                failed=cut(call.command or ""),
                error=cut(failure.error),
                worked=cut(" && ".join(steps)),
                family=failure.family,
                command=failure.command,
                about=failure.key,
            )


def _steps(failure: Failure, failed: Command, after: Sequence[tuple[Turn, Call]]) -> list[str]:
    """The commands between a failure and the same command's success; none where anything else changed something."""
    steps: list[str] = []
    for _, call in after:
        if call.kind is not CallKind.SHELL:
            if changes_state(call):
                return []
            continue
        commands = simple_commands(call.command or "")
        if call.status is CallStatus.OK and any(_again(failed, command) for command in commands):
            return steps if len(steps) <= _STEPS_MOST else []
        if call.status is CallStatus.OK:
            changing = [command for command in commands if _prepares(command)]
            if not all(map(_is_step, changing)):
                return []
            steps += [shown(command.words) for command in changing]
    return []


def _again(failed: Command, command: Command) -> bool:
    return command.words == failed.words or (command.program == "git" and command.family == failed.family)


def _prepares(command: Command) -> bool:
    return command_changes(command) and not is_check(command) and command.family not in _PREPARES_NOTHING


def _is_step(command: Command) -> bool:
    """Whether a command prepares the ground, as an install does, rather than mends a file or tries something out."""
    plain = command.verb is not None and command.writes is None and command.family not in _MENDS
    return plain and not any(map(overrides, command.words))


def drafts(found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """Yield a draft for each command that needed the same others first in two sessions or more of one project."""
    for topic, group in by_topic(found).items():
        for part in by_project(group):
            if history.count(part) >= _LEAST:
                yield _draft(topic, part, history)


def _draft(topic: str, group: Sequence[Incident], history: History) -> Draft:
    shown_ = group[0]
    steps, command, error = shown_.worked.split(" && "), shown_.family, code(shown_.error, 90)
    subject = f"Run {steps[0]} before {command}" if len(steps) < _PROCEDURE else f"How to get {command} to work"
    text = rule(f"Run {code(' && '.join(steps), 120)} before {code(command)} where it fails with {error}.")
    one = draft(Lesson(PREPARED, topic, subject, text, certainty=0.85), group, history, general=False)
    keys = tuple(dict.fromkeys(comparable_key(incident.about) for incident in group))
    one = replace(one, proposal=replace(one.proposal, about=keys))
    if len(steps) < _PROCEDURE:
        return one
    skill = _skill(command, steps, error)
    return replace(one, proposal=replace(one.proposal, rule=None, skill_name=skill.name, skill_text=skill.text))


def _skill(command: str, steps: Sequence[str], error: str) -> Skill:
    """The procedure as a skill: what it is for, then its commands in order."""
    name = re.sub(r"[^a-z0-9]+", "-", f"prepare {command}".lower()).strip("-")[:64].rstrip("-")
    when = f"Use when {safe(command, 60)} fails with {error.strip('`')}: the commands that made it work before."
    lines = [f"{n}. Run {code(step)}." for n, step in enumerate([*steps, command], 1)]
    body = f"{code(command)} fails with {error} until these were run, in this order:\n\n" + "\n".join(lines)
    return prepare(SkillDraft("create", name, when, body), {"source": "lessonbook"})
