"""Sequences of commands that worked in several sessions: how something is done here, and so a skill.

A run of commands is taken between changes of another kind (an edit, a command that failed); reading in between is
left out. What is the same in most sessions is told as it is, what differs is left open.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lessonbook.core.checks import is_check
from lessonbook.core.effect import changes_state, command_changes
from lessonbook.core.session import CallKind, CallStatus, Session
from lessonbook.core.shell import Command, simple_commands
from lessonbook.core.skill import Skill, SkillDraft, prepare
from lessonbook.proposers.draft import Draft, Lesson, draft
from lessonbook.proposers.incident import History, Incident, where
from lessonbook.proposers.mining import Mined
from lessonbook.proposers.moves import head, overrides
from lessonbook.proposers.wording import code, safe, shown

PROCEDURE = "procedure"

_LEAST = 3
"""In how many sessions of a project the same sequence makes a procedure."""
_SHORTEST, _LONGEST = 3, 6
_OWN_LEAST = 2
"""How many of its steps must be more than git's own, which every agent knows."""
_RUN_MOST = 40
_CHANCE = 0.6
_SHOWN = 120
_COMMON = frozenset({"cp", "mv", "rm", "mkdir", "touch", "chmod", "kill", "pkill", "cd", "export", "xargs", "tee"})
"""Programs whose words are files: what they do differs each time."""
_PLAIN = re.compile(r"[A-Za-z][\w:.-]{0,30}\Z")
_SEP = " → "
_WORDS = "\x1f"
"""Between the words of a command that is kept, as no word holds it."""

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """One command that worked: what it is by, and how it was typed."""

    key: str
    command: Command


class Procedures(Mined):
    """Finds how things are done here, step by step."""

    def __init__(self) -> None:
        super().__init__(PROCEDURE + "s", ((incidents, drafts),))


def incidents(session: Session) -> Iterator[Incident]:
    """Yield every short sequence of commands that worked in the session, each once."""
    told: set[Key] = set()
    for at, steps in _runs(session):
        for size in range(_SHORTEST, _LONGEST + 1):
            for start in range(len(steps) - size + 1):
                part = steps[start : start + size]
                key = tuple(step.key for step in part)
                if key in told or not _own(key):
                    continue
                told.add(key)
                typed = "\n".join(_WORDS.join(_typed_word(word) for word in step.command.words) for step in part)
                turn = session.turns[at]
                yield Incident(where(session, turn), f"{PROCEDURE} | {_SEP.join(key)}", worked=typed, family=key[-1])


def drafts(found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """Yield a draft for each sequence that is long enough, seen often enough, and no part of a longer one told."""
    groups: dict[tuple[str, str], list[Incident]] = defaultdict(list)
    for incident in found:
        groups[incident.where.project, incident.topic].append(incident)
    often = [(group, history.count(group)) for group in groups.values()]
    often = [(group, count) for group, count in often if count >= _LEAST and history.chance(group) >= _CHANCE]
    told: list[tuple[str, Key]] = []
    names: set[tuple[str, str]] = set()
    for group, count in sorted(often, key=lambda item: (-item[1] * len(_key(item[0][0])), item[0][0].topic)):
        key, project = _key(group[0]), group[0].where.project
        if any(project == other and _overlap(key, known) for other, known in told):
            continue
        told.append((project, key))
        skill = _skill(group, count)
        if (project, skill.name) not in names:
            names.add((project, skill.name))
            yield _draft(group, skill, history)


def _runs(session: Session) -> Iterator[tuple[int, list[_Step]]]:
    """The place of a turn, and the commands that worked one after the other from there on."""
    run: list[_Step] = []
    started = 0
    for at, turn in enumerate(session.turns):
        for call in turn.calls:
            if call.kind is not CallKind.SHELL:
                broken = changes_state(call)
            else:
                broken = call.status is not CallStatus.OK
            if broken or len(run) >= _RUN_MOST:
                yield started, run
                run = []
            if call.kind is CallKind.SHELL and call.status is CallStatus.OK:
                started = started if run else at
                run += [step for step in _steps(call.command or "") if not run or run[-1].key != step.key]
    yield started, run


@lru_cache(maxsize=1_024)
def _steps(script: str) -> tuple[_Step, ...]:
    """The steps of a script that worked; none after ``||``, which may not have run."""
    found: list[_Step] = []
    for command in simple_commands(script):
        if command.joined == "||" or any(map(overrides, command.words)):
            return ()
        if command.joined == "|" or command.plain_utility or command.program in _COMMON:
            continue
        done = _within(command)
        if (command_changes(done) or is_check(done)) and "$" not in command.program:
            step = _Step(_named(command), command)
            if not found or found[-1].key != step.key:
                found.append(step)
    return tuple(found)


def _within(command: Command) -> Command:
    """What a wrapper runs, where that is git: ``git add`` of ``proxy git add``."""
    return replace(command, words=command.words[1:]) if command.words[1:2] == ("git",) else command


def _named(command: Command) -> str:
    """Program, verb and the script or target it names: ``npm run build``, ``make test``, ``git commit``."""
    words = [command.program]
    for word in command.words[1:3]:
        if not _PLAIN.match(word) or "git" in words[:-1]:
            break
        words.append(word)
    return " ".join(words)


@lru_cache(maxsize=4_096)
def _own(key: Key) -> bool:
    """Whether enough of the steps are more than git's, and no two of them the same."""
    own = {step for step in key if "git" not in step.split()[:2]}
    return len(own) >= _OWN_LEAST and len(set(key)) == len(key)


def _key(incident: Incident) -> Key:
    return tuple(incident.topic.split(" | ", 1)[1].split(_SEP))


def _overlap(key: Key, known: Key) -> bool:
    """Whether half of a sequence or more stands in one that is told already."""
    return len(set(key) & set(known)) * 2 >= len(key)


def _draft(group: Sequence[Incident], skill: Skill, history: History) -> Draft:
    topic = group[0].topic
    one = draft(Lesson(PROCEDURE, topic, f"Steps: {' → '.join(_key(group[0]))}", "", 0.5), group, history, False)
    proposal = replace(one.proposal, rule=None, skill_name=skill.name, skill_text=skill.text)
    return replace(one, proposal=proposal)


def _skill(group: Sequence[Incident], count: int) -> Skill:
    """The procedure: what it leads to, and its commands in order."""
    key = _key(group[0])
    name = re.sub(r"[^a-z0-9]+", "-", f"steps to {key[-1]}".lower()).strip("-")[:64].rstrip("-")
    when = f"Use before {safe(key[-1], 60)} here: the commands that led to it in {count} sessions, in order."
    lines = [f"{n}. Run {code(step, _SHOWN)}." for n, step in enumerate(_typed(group), 1)]
    body = f"These commands were run one after the other, and worked, in {count} sessions:\n\n" + "\n".join(lines)
    return prepare(SkillDraft("create", name, when, body), {"source": "lessonbook"})


def _typed(group: Iterable[Incident]) -> list[str]:
    """How each step is typed: as in most sessions, else as far as all of them agree."""
    sessions = [incident.worked.split("\n") for incident in group]
    told: list[str] = []
    for lines in zip(*sessions, strict=False):
        usual, times = Counter(lines).most_common(1)[0]
        agreed = "" if times * 2 > len(sessions) else head([tuple(line.split(_WORDS)) for line in lines])
        told.append(agreed or usual.replace(_WORDS, " "))
    return told


def _typed_word(word: str) -> str:
    """A word as it can be typed again; long ones, substitutions and several lines are left open."""
    kept = shown((word,))
    return kept if kept in ("…", "''") or not re.search(r"[\s\"'\\$|&;<>()]", kept) else shlex.quote(kept)
