"""Calls that failed, and the calls that then worked: the richest source of lessons.

Answers (red tests, lint, types, builds, a search that finds nothing) are left out, and so is what a change in between
repaired. A trouble with the agent's own tools gives general advice; everything else says what fails and what works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lessonbook.core.effect import changes_state, command_changes
from lessonbook.core.failure import Failure, Trouble, read_failure
from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn
from lessonbook.core.shell import Command, simple_commands
from lessonbook.proposers.draft import Draft, Lesson, by_project, by_topic, draft, names_project
from lessonbook.proposers.fixed_rules import (
    FIXED,
    lesson_of_move,
    lesson_of_repetition,
    lesson_of_script,
    lesson_of_subject,
    lesson_of_tool,
)
from lessonbook.proposers.general import advice, by_habit, class_of, is_general, is_slip
from lessonbook.proposers.incident import History, Incident, cut, where
from lessonbook.proposers.moves import Move, move_between
from lessonbook.proposers.relaunch import as_launched, relaunched
from lessonbook.proposers.wording import shown

WINDOW = 10
"""How many calls after a failure the call that worked is looked for."""

_LEAST = 2
_OFTEN = 3
"""In how many sessions a failure without a way that works is worth telling."""


def incidents(session: Session) -> Iterator[Incident]:
    """Yield each mistaken call of a session, with the call that then worked where there is one."""
    calls = [(turn, call) for turn in session.turns for call in turn.calls]
    for at, (turn, call) in enumerate(calls):
        failure = read_failure(call)
        if failure is None or (failure.answer and not failure.unrun):
            continue
        after = calls[at + 1 : at + 1 + WINDOW]
        move, worked = _redone(call, failure, after)
        if failure.answer and move is None:
            continue
        yield Incident(
            where=where(session, turn, call),
            topic=topic_of(failure),
            failed=cut(call.command or _target(call)),
            error=cut(failure.error),
            worked=cut(shown(worked.words)) if worked and move else "",
            move=move,
            trouble=failure.trouble,
            subject=failure.subject,
            family=failure.family,
            command=_failed(failure),
            stuck=not any(_mended(call, failure, later) for _, later in after),
        )


def _mended(call: Call, failure: Failure, later: Call) -> bool:
    """Whether a later call did the same errand, whatever made it work: then the errand was right."""
    if later.kind is not CallKind.SHELL or later.command is None:
        return later.status is CallStatus.OK and _target(later) == _target(call)
    return _ran(later) and any(command.family == failure.family for command in simple_commands(later.command))


def topic_of(failure: Failure) -> str:
    """Return what a failure is about: its own key, or the trouble alone where one piece of advice serves every tool."""
    return str(failure.trouble) if is_general(failure) else failure.key


def drafts(found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """Yield a draft for each mistake seen in two sessions or more that teaches something."""
    for group in by_habit(by_topic(found)):
        for lesson, part in _lessons(group, history):
            yield draft(lesson, part, history, lesson.general)


def _lessons(group: list[Incident], history: History) -> Iterator[tuple[Lesson, list[Incident]]]:
    """Yield one lesson for all projects where it names none, else one for each project."""
    whole = _lesson(group, history)
    if whole is None:
        return
    parts = by_project(group)
    importing = whole.kind == FIXED and group[0].trouble is Trouble.NO_MODULE  # a module is one project's
    if whole.general or (len(parts) > 1 and not importing and not names_project(whole.rule) and _agreed(whole, parts)):
        yield _generally(whole), group
        return
    for part in parts:
        lesson = _lesson(part, history)
        if lesson is not None:
            yield lesson, part


def _agreed(whole: Lesson, parts: Sequence[list[Incident]]) -> bool:
    """Whether every project that found a way found the same: another project's way is wrong advice in this one."""
    ways = {move for part in parts if (move := _usual_move(part)[0]) is not None}
    return whole.kind != FIXED or len(ways) == 1


def _generally(lesson: Lesson) -> Lesson:
    return replace(lesson, general=True)


def _lesson(group: list[Incident], history: History) -> Lesson | None:
    if history.count(group) < _LEAST:
        return None
    if class_of(group[0]):
        return advice(group) if not is_slip(group[0]) or history.count(group) >= _OFTEN else None
    move, moved = _usual_move(group)
    if move is not None and history.count(moved) >= _LEAST:
        lesson = lesson_of_move(move, moved, share=len(moved) / len(group))
        if lesson is not None:
            return lesson
    stuck = [incident for incident in group if incident.stuck]
    often = history.count(group) >= _OFTEN
    known = lesson_of_subject(group) or ((lesson_of_script(group) or lesson_of_tool(group)) if often else None)
    return known or (lesson_of_repetition(stuck) if history.count(stuck) >= _OFTEN else None)


def _usual_move(group: list[Incident]) -> tuple[Move | None, list[Incident]]:
    times = Counter(incident.move for incident in group if incident.move is not None)
    if not times:
        return None, []
    usual = max(times, key=lambda move: (times[move], str(move)))
    return usual, [incident for incident in group if incident.move == usual]


def _redone(call: Call, failure: Failure, after: Sequence[tuple[Turn, Call]]) -> tuple[Move | None, Command | None]:
    """The first later call that did the same errand another way, and what was changed for it."""
    importing = failure.trouble is Trouble.NO_MODULE
    for _, later in after:
        if later.kind is CallKind.SHELL and later.command is not None and _ran(later):
            found = _found(call, failure, simple_commands(later.command))
            if found[1] is not None:
                return found
        if importing and changes_state(later):  # what it could not import may be there now
            break
    return None, None


def _found(call: Call, failure: Failure, commands: Sequence[Command]) -> tuple[Move | None, Command | None]:
    failed = _failed(failure)
    if failed is None:
        return _by_name(failure, commands)
    if failure.trouble is Trouble.NO_MODULE:
        return relaunched(failure, failed, commands)
    if failure.trouble is Trouble.NOT_INSTALLED:
        commands = [as_launched(command) for command in commands]
    return _by_words(call, failure, failed, commands)


def _failed(failure: Failure) -> Command | None:
    """The command that failed, with what it looks for programs and modules by where one was not found."""
    launched = failure.trouble in (Trouble.NO_MODULE, Trouble.NOT_INSTALLED)
    return as_launched(failure.command) if launched and failure.command is not None else failure.command


def _by_words(
    call: Call, failure: Failure, failed: Command, commands: Sequence[Command]
) -> tuple[Move | None, Command | None]:
    feed = _feed(simple_commands(call.command or ""), failed)
    for command in commands:
        if command.words == failed.words and command.place == failed.place:
            return None, command
        fed_alike = bool(feed) and _feed(commands, command) == feed
        move = move_between(failed, command, failure.trouble, fed_alike)
        if move is not None:
            return move, command
    return None, None


def _by_name(failure: Failure, commands: Sequence[Command]) -> tuple[Move | None, Command | None]:
    """A tool or skill that is not there, done by a command of that name: ``commit`` by ``git commit``."""
    if failure.trouble is not Trouble.NO_TOOL or not failure.subject:
        return None, None
    for command in commands:
        if failure.subject in command.words[:3] and command_changes(command):
            return Move((failure.subject,), command.words[: command.words.index(failure.subject) + 1]), command
    return None, None


def _feed(commands: Sequence[Command], stage: Command) -> tuple[str, ...]:
    """What a stage of a pipe is fed by; nothing for a command that is none."""
    at = next((n for n, command in enumerate(commands) if command is stage or command == stage), 0)
    return commands[at - 1].words if at and stage.joined == "|" else ()


def _ran(call: Call) -> bool:
    """Whether a call did its work: a red test ran, too."""
    if call.status is CallStatus.OK:
        return True
    failure = read_failure(call)
    return failure is not None and failure.answer and not failure.unrun


def _target(call: Call) -> str:
    for name in ("file_path", "path", "skill", "subagent_type", "pattern", "url"):
        value = call.args.get(name)
        if isinstance(value, str):
            return f"{call.name} {value}"
    return call.name
