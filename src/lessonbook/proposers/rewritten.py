"""What an accepted lesson should say instead: another way that works, seen in sessions since it was accepted.

Two kinds of sessions show one: those where its mistake came again although it was read, and those where what it tells
to run works no more. A lesson that names the very way that works is left alone, however little it is heeded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from lessonbook.core.candidate import Proposal
from lessonbook.core.cited import told
from lessonbook.core.session import CallKind, CallStatus, Session
from lessonbook.core.shell import Command, simple_commands
from lessonbook.proposers import blocked, fixed, prepared, procedures, refused
from lessonbook.proposers.blocked import BLOCKED
from lessonbook.proposers.draft import Draft, comparable_key, names_project
from lessonbook.proposers.fixed_rules import FIXED
from lessonbook.proposers.incident import History, Incident, moved
from lessonbook.proposers.matching import triggers
from lessonbook.proposers.merged import either, merged
from lessonbook.proposers.prepared import PREPARED
from lessonbook.proposers.procedures import PROCEDURE
from lessonbook.proposers.refused import REFUSED
from lessonbook.proposers.skill_edit import corrected, corrected_text
from lessonbook.proposers.wording import RULE_LIMIT, flat, title

REWRITE = "rewrite"
"""The kind of a candidate that changes what an accepted lesson says."""

_WORKS = (FIXED, PREPARED)
"""Kinds of evidence that name a way that works."""
_BOTH_MOST = 500
"""Characters of an old rule and what is added to it."""
_SOURCES = (fixed, prepared, refused, blocked)
_KINDS = {PREPARED: prepared, REFUSED: refused, BLOCKED: blocked}
"""How the topics of a source's incidents begin; those of ``fixed`` begin with a program."""
_CODE = re.compile(r"`([^`]+)`")
_ERROR = re.compile(r"fails with `[^`]*`")
_FAILING = re.compile(r"`([^`]+)` fails with `")
_USE = re.compile(
    r"\AUse (?P<good>`[^`]+`)(?P<link> here, not | instead of |, not )(?P<bad>`[^`]+`(?:(?:, | or )`[^`]+`)*)"
    r"(?P<why>, which fails with .*)\Z"
)
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What one session shows to every lesson: what went wrong in it, which commands worked and when, and its steps."""

    incidents: tuple[Incident, ...]
    worked: tuple[tuple[Command, float], ...]
    steps: tuple[Incident, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Another text for a lesson: ``proposal`` with its evidence and the new rule, and the new texts of its skills."""

    proposal: Proposal
    known_as: str = ""
    """The key under which a proposer would offer the same as a lesson of its own."""
    files: Mapping[str, str] = field(default_factory=dict)


def shown(session: Session, steps: bool = True) -> Shown:
    """Return what a session shows; sequences of commands that worked only where ``steps`` are asked for."""
    found = [incident for source in _SOURCES for incident in source.incidents(session)]
    taken = tuple(procedures.incidents(session)) if steps else ()
    return Shown(tuple(found), tuple(dict.fromkeys(_worked(session))), taken)


def _worked(session: Session) -> Iterator[tuple[Command, float]]:
    for turn in session.turns:
        for call in turn.calls:
            if call.kind is CallKind.SHELL and call.status is CallStatus.OK:
                at = call.at or turn.started or session.started or 0.0
                yield from ((command, at) for command in simple_commands(call.command or ""))


@dataclass(slots=True)
class Since:
    """What sessions since a lesson was accepted showed of what it is about, and of what it tells to run."""

    id: str
    keys: frozenset[str]
    """What it is about, as its proposer put it."""
    about: frozenset[str]
    """The keys of the calls that it is about."""
    rule: str
    skills: Mapping[str, str]
    """Its skills' files by path."""
    everywhere: bool = False
    """Whether it holds in every project."""
    history: History = field(default_factory=History)
    again: list[Incident] = field(default_factory=list)
    astray: list[Incident] = field(default_factory=list)
    """Where what it tells to run failed."""
    steps: list[Incident] = field(default_factory=list)
    worked: dict[Words, float] = field(default_factory=dict)
    """When each command that it tells to run worked last."""
    _runs: tuple[Words, ...] | None = None

    @property
    def runs(self) -> tuple[Words, ...]:
        """The commands that it tells to run."""
        if self._runs is None:
            self._runs = _commands((self.rule, *self.skills.values()))
        return self._runs

    @property
    def ends(self) -> frozenset[str]:
        """The last steps of the procedures that it tells."""
        return frozenset(key.rsplit(" → ", 1)[-1] for key in self._procedures()) if self.skills else frozenset()

    def see(self, session: Session, one: Shown) -> None:
        """Keep of what a session shows what is about this lesson. Its turns are not needed any more."""
        self.history.add(session)
        for incident in moved(one.incidents, session):
            if comparable_key(incident.about or incident.topic) in self.about:
                self.again.append(incident)
            elif self._told(incident.command):
                self.astray.append(incident)
        for command, at in one.worked:
            for words in self._told(command):
                self.worked[words] = max(at, self.worked.get(words, 0.0))
        if self.ends:
            self.steps += [incident for incident in moved(one.steps, session) if incident.family in self.ends]

    def better(self, fails: bool, clean: Callable[[Proposal], Proposal]) -> Rewrite | None:
        """Return what it should say, the way seen in most sessions; ``None`` where nothing better was seen.

        ``fails``: whether it did not help. ``clean`` takes people's names out of a proposal.
        """
        astray = [one for one in _drafts(self._gone_astray(), self.history) if self._replaces(one.proposal)]
        again = _drafts(self.again, self.history) if fails else []
        ways = {_way(one.proposal) for one in (*astray, *again)}
        for one in sorted((*astray, *again), key=lambda draft: -draft.sessions):
            if self.everywhere and (len(ways) > 1 or names_project(one.proposal.rule or "")):
                continue
            made = self._made(clean(one.proposal), more=one in astray)
            if made is not None:
                return made
        return self._other_steps(clean)

    def evidence(self) -> list[Proposal]:
        """Return all that the sessions showed of it, for a model to read, most sessions first."""
        parts = (self.again, self._gone_astray())
        found = [draft for part in parts for source in _SOURCES for draft in _drafted(source, part, self.history)]
        return [draft.proposal for draft in sorted(merged(found), key=lambda draft: -draft.sessions)]

    def key(self, way: str) -> str:
        """Return the key of a candidate that makes it say ``way``."""
        return comparable_key(f"{REWRITE} | {self.id} | {way}".casefold())

    def _told(self, command: Command | None) -> list[Words]:
        return [words for words in self.runs if command is not None and command.words[: len(words)] == words]

    def _gone_astray(self) -> list[Incident]:
        """Where what it tells to run failed after the last time that it worked."""
        return [one for one in self.astray if any(self._stopped(words, one) for words in self._told(one.command))]

    def _stopped(self, words: Words, one: Incident) -> bool:
        return words not in self.worked or (one.where.at or 0.0) > self.worked[words]

    def _replaces(self, found: Proposal) -> bool:
        """Whether what a proposal warns of is as much as this tells to run, not one case of it."""
        match = _USE.match(found.rule or "")
        spans = _CODE.findall(match["bad"] if match else found.rule or "")
        named = [tuple(_head(span).split()) for span in spans]
        least = 1 if match else 2
        return any(words[: len(one)] == one for words in self.runs if len(words) >= least for one in named if one)

    def _made(self, found: Proposal, more: bool) -> Rewrite | None:
        """The lesson with the way that was found; nothing where it says so already.

        ``more``: the way is one of going about what it tells to run, so that both are told where they are two things.
        """
        way = _way(found)
        if not way or self._says(way):
            return None
        files = corrected(self.skills, found, add=not self.rule)
        composed = _composed(self.rule, found, more) if self.rule else found
        if composed is None or not (self.rule or files):
            return None
        found = composed
        known_as, about = found.key, tuple(sorted(self.about | triggers(found)))
        rule = found.rule if self.rule else None
        named = {f"skills/{found.skill_name}/SKILL.md": found.skill_text or ""} if found.skill_name else {}
        one = replace(
            found, title=title(f"Rewrite: {found.title}"), key=self.key(" ".join(way)), about=about, rule=rule
        )
        return Rewrite(one, known_as, named | files)

    def _says(self, way: Words) -> bool:
        """Whether it tells to go this way already."""
        if len(way) == 1 and self.runs:
            wanted = tuple(_head(way[0]).split())
            return any(_alike(words, wanted) for words in self.runs)
        text = f" {flat(_ERROR.sub('', ' '.join((self.rule, *self.skills.values()))))} "
        return all(f" {flat(_head(part))} " in text for part in way)

    def _procedures(self) -> list[str]:
        return [key for key in self.keys if key.startswith(f"{PROCEDURE} | ")]

    def _other_steps(self, clean: Callable[[Proposal], Proposal]) -> Rewrite | None:
        """The steps that lead to the same end now, where nobody took the old ones any more."""
        topics = set(map(comparable_key, (one.topic for one in self.steps)))
        if not self.steps or not topics.isdisjoint(self._procedures()):
            return None
        for one in procedures.drafts(self.steps, self.history):
            found = clean(one.proposal)
            path = f"skills/{found.skill_name}/SKILL.md"
            if found.skill_text and path in self.skills and found.skill_text != self.skills[path]:
                key = self.key(found.key)
                told_so = replace(found, title=title(f"Rewrite: {found.title}"), key=key, skill_name=None)
                return Rewrite(told_so, found.key, {path: found.skill_text})
        return None


def _alike(one: Words, other: Words) -> bool:
    """Whether one of two commands begins with the other."""
    return all(first == second for first, second in zip(one, other, strict=False)) and bool(one and other)


def _commands(texts: Iterable[str]) -> tuple[Words, ...]:
    spans = (_head(span) for text in texts for span in told(text))
    return tuple(dict.fromkeys(command.words for span in spans for command in simple_commands(span)))


def _drafts(found: Sequence[Incident], history: History) -> list[Draft]:
    every = merged([*_drafted(fixed, found, history), *_drafted(prepared, found, history)])
    return [one for one in every if one.proposal.evidence.kind in _WORKS]


def _drafted(source: ModuleType, found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """The drafts of one source, of the incidents that are its own."""
    own = [one for one in found if _KINDS.get(one.topic.split(" | ", 1)[0], fixed) is source]
    yield from source.drafts(own, history) if own else ()


def _way(found: Proposal) -> Words:
    """What a proposal tells to do, in code: what stands for it, without what it warns of where that is told apart."""
    if found.skill_name:
        return (found.skill_name,)
    match = _USE.match(found.rule or "")
    return (match["good"].strip("`"),) if match else tuple(_CODE.findall(_ERROR.sub("", found.rule or "")))


def _head(span: str) -> str:
    return span.replace("…", "").strip()


def _composed(old_rule: str, found: Proposal, more: bool) -> Proposal | None:
    """The proposal, warning also of what the old rule warned of, and of what that told to use.

    In a rule that says other things, too, the command is replaced where it stands; nothing where that cannot be done.
    """
    new, bad = _USE.match(found.rule or ""), _warned(old_rule)
    several = "\n" in old_rule
    if several or (new and not bad):
        text = corrected_text(old_rule, found)
        return replace(found, rule=text) if text != old_rule else None if several else found
    if new is None and more and found.rule:
        both = f"{old_rule} {found.rule}"
        return replace(found, rule=both) if len(both) <= _BOTH_MOST else found
    if new is None or not bad:
        return found
    told = _CODE.findall(new["bad"])
    every = dict.fromkeys((*told, *(one for one in bad if not any(_covers(wide, one) for wide in told))))
    names = either([f"`{one}`" for one in every if f"`{one}`" != new["good"]])
    text = f"Use {new['good']}{new['link']}{names}{new['why']}"
    if len(text) > RULE_LIMIT:
        return found
    return replace(found, rule=text, title=title(f"Use {new['good']}, not {names}".replace("`", "")))


def _warned(rule: str) -> list[str]:
    """What a rule of a proposer says fails."""
    match = _USE.match(rule)
    return _CODE.findall(match["bad"]) if match else _FAILING.findall(rule)


def _covers(wide: str, one: str) -> bool:
    """Whether ``npm …`` stands for ``npm test``, too."""
    return wide.endswith(" …") and f"{_head(one)} ".startswith(f"{_head(wide)} ")
