"""Claude Code: one JSON Lines file per session, sub-agents inside it or in files of their own.

A session's records form a tree (going back starts another branch); one model message is written as several records;
resumed sessions repeat the records of the one they continue. See ``claude_records`` for what each record means.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from lessonbook.core.cursor import Resume
from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.building import OpenTurn, Talk, resume_of
from lessonbook.transcripts.claude_talk import Known, Record, live_turns, relayed_record, take
from lessonbook.transcripts.lines import HEAD_BYTES, Marked, Skip, head_objects, opened, read_objects
from lessonbook.transcripts.reports import report
from lessonbook.transcripts.values import text

AGENT = "claude"
COPY = "copy of a record already read"
ABANDONED = "turn the person went back on"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_OWN_TYPES = {"summary", "file-history-snapshot", "queue-operation", "permission-mode", "last-prompt", "custom-title"}
_OWN_TYPES |= {"ai-title", "mode"}
_TALK_TYPES = frozenset(("user", "assistant", "system", "attachment", "progress"))
_CUT = re.compile(rb'^\s*\{(?=[^\n]{0,2000}"(?:parentUuid|isSidechain)"\s*:)')


class ClaudeReader:
    """Reads ``~/.claude/projects/**/*.jsonl``."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a Claude Code session; the print mode's output stream does not."""
        found = head_objects(head)
        if any("session_id" in one and "sessionId" not in one and "parentUuid" not in one for one in found):
            return False
        if any(_is_own(one) for one in found):
            return True
        return not found and _CUT.match(head.removeprefix(b"\xef\xbb\xbf")) is not None

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folders Claude Code keeps projects in: ``CLAUDE_CONFIG_DIR`` where set, else both defaults."""
        named = env.get("CLAUDE_CONFIG_DIR")
        bases = [named] if named else [f"{home}/.claude", f"{home}/.config/claude"]
        return [f"{base}/projects" for base in bases]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the file's session and those of its sub-agents, then one report. Never raises for what is in it.

        With ``seen``, records another file already gave are left out and counted.
        """
        return self.resume(path, Resume(), seen)

    def resume(self, path: str, at: Resume, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield what ``read`` does, from ``at`` on; the session's facts come from its first records all the same."""
        reading = _Reading(path, seen if seen is not None else Seen())
        problem = None
        try:
            with opened(path) as file:
                if at.offset:
                    reading.learn(head_objects(file.read(HEAD_BYTES)))
                marked = Marked(file, at.offset)
                for item in read_objects(marked):
                    reading.main.position = marked.start
                    reading.take(item)
        except LessonbookError as error:
            problem = str(error)
        sessions = list(reading.sessions())
        yield from sessions
        on = resume_of(reading.live, reading.own_id(), at)
        yield report(path, AGENT, sessions, reading.skipped, reading.types, problem, on)


def _is_own(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if kind in _OWN_TYPES if isinstance(kind, str) else False:
        return True
    if kind in _TALK_TYPES if isinstance(kind, str) else False:
        return "sessionId" in record or "parentUuid" in record or isinstance(record.get("message"), dict)
    return kind is None and "sessionId" in record and isinstance(record.get("message"), dict)


class _Reading:
    """One file while it is read: its own talk, one per sub-agent inside it, and what was left out."""

    def __init__(self, path: str, seen: Seen) -> None:
        self.path = path
        self.known = Known(seen, path)
        self.stem = PurePath(path).name.removesuffix(".jsonl")
        self.is_agent = self.stem.startswith("agent-")
        self.main = Talk(AGENT, by_subagent=self.is_agent)
        self.sides: dict[str, Talk] = {}
        self.roots: dict[str, str] = {}
        """For inline sub-agents without an id: a record's uuid → the uuid its chain began with."""
        self.parents: dict[str, str | None] = {}
        self.summaries: list[tuple[str, str]] = []
        self.live: list[OpenTurn] = []
        """The turns in force, once ``sessions`` was asked for them."""
        self.said_id = ""
        self.skipped: Counter[str] = Counter()
        self.types: Counter[str] = Counter()

    def learn(self, items: list[dict[str, Any]]) -> None:
        """Take the facts of the session from its first records, and nothing else."""
        known, self.known = self.known, Known(Seen(), self.path)
        for item in items:
            self.take(item)
        self.known = known
        self.main.facts.pop("command", None)
        for kept in (self.main.turns, self.main.calls, self.main.queue, self.sides, self.skipped, self.types):
            kept.clear()

    def take(self, item: dict[str, Any] | Skip) -> None:
        if isinstance(item, Skip):
            self.skipped[item.reason] += 1
            return
        record = Record.of(item)
        self.types[record.type or "none"] += 1
        if record.type == "summary":
            self.summaries.append((text(item.get("leafUuid")), text(item.get("summary"))))
        said = text(item.get("sessionId"))
        if said and said != self.stem:
            self.said_id = self.said_id or said
        self._take(record)
        relayed = relayed_record(record)
        if relayed is not None:
            self._take(relayed)

    def _take(self, record: Record) -> None:
        if record.uuid and not self.known.first_record(record):
            self.skipped[COPY] += 1
            return
        if record.uuid:
            self.parents[record.uuid] = record.parent
        take(self._talk(record), record, self.known)

    def _talk(self, record: Record) -> Talk:
        if self.is_agent or not record.sidechain:
            return self.main
        key = text(record.item.get("agentId")) or self._root(record)
        if key not in self.sides:
            self.sides[key] = Talk(AGENT, by_subagent=True)
        return self.sides[key]

    def _root(self, record: Record) -> str:
        root = self.roots.get(record.parent or "", record.uuid or "sidechain")
        if record.uuid:
            self.roots[record.uuid] = root
        return root

    def sessions(self) -> Iterator[Session]:
        own = self.own_id()
        parent = self._parent_id(own)
        for leaf, title in self.summaries:
            if leaf in self.parents:  # a summary is often of another session
                self.main.note("title", title)
        self.live = turns = live_turns(self.main, self.parents)
        self.skipped[ABANDONED] += len(self.main.turns) - len(turns)
        if turns:
            yield self.main.freeze(id=own, path=self.path, parent_id=parent, turns=turns)
        for key, talk in self.sides.items():
            if talk.turns:
                yield talk.freeze(id=f"agent-{key}", path=self.path, parent_id=own)

    def own_id(self) -> str:
        if self.is_agent or _UUID.fullmatch(self.stem) or not self.said_id:
            return self.stem
        return self.said_id

    def _parent_id(self, own: str) -> str | None:
        if not self.is_agent:
            return None
        parts = PurePath(self.path).parts
        if "subagents" in parts[1:-1]:
            return parts[len(parts) - parts[::-1].index("subagents") - 2]
        return self.said_id if self.said_id and self.said_id != own else None
