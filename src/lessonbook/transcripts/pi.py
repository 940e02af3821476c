"""pi and oh-my-pi: one JSON Lines file per session, whose entries form a tree.

Going back to an earlier message starts another branch in the same file. Only the branch in force is read: the path
from the last entry that carries talk up to the root. The oldest files have no ids; they are read in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.lines import Skip, head_objects, opened, read_objects
from lessonbook.transcripts.pi_talk import PiTalk
from lessonbook.transcripts.pi_tree import Tree
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import text

COPY = "copy of a record already read"
LEFT = "record on a branch the person left"
_ENTRIES = {"message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom_message"}
_ENTRIES |= {"session_info", "label", "custom", "session_init", "title_change", "mode_change", "service_tier_change"}
_OMP_ONLY = {"title", "session_init", "title_change", "mode_change", "service_tier_change", "reset_boundary"}
_OMP_ONLY |= {"ttsr_injection", "credential_pin"}
_ROLES = {"user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage"}
_STEM = re.compile(r"\d{4}-\d\d-\d\dT[\d-]+Z?_(?P<id>.+)")


class PiReader:
    """Reads ``~/.pi/agent/sessions/**/*.jsonl``."""

    agent = "pi"

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a session of pi; those that only oh-my-pi writes do not."""
        found = head_objects(head)
        return any(map(_is_own, found)) and not _is_omp(path, found)

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folder of the sessions, under ``PI_CODING_AGENT_DIR`` where set."""
        return [f"{env.get('PI_CODING_AGENT_DIR') or f'{home}/.pi/agent'}/sessions"]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the file's session, then one report. Never raises for what is in it.

        With ``seen``, what a forked session repeats of the one it came from is left out and counted.
        """
        tally = Tally(path, self.agent)
        talk = PiTalk(self.agent, seen if seen is not None else Seen(), path, _parent(path))
        try:
            tree = _survey(path, tally)
            with opened(path) as file:
                for n, item in enumerate(islice(_objects(file), tree.records)):
                    if not tree.in_force(n):
                        tally.skipped[LEFT] += item.get("type") == "message"
                    elif not talk.take(item):
                        tally.skipped[COPY] += 1
        except LessonbookError as error:
            tally.problem = str(error)
        if talk.talk.turns:
            yield tally.add(talk.freeze(_id(path)))
        yield tally.report()


class OmpReader(PiReader):
    """Reads ``~/.omp/agent/sessions/**/*.jsonl``, of profiles too."""

    agent = "omp"

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a session of oh-my-pi: by where it lies, or by what pi never writes."""
        found = head_objects(head)
        return any(map(_is_own, found)) and _is_omp(path, found)

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folder of the sessions, also under ``PI_CODING_AGENT_DIR`` where set, and that of the profiles."""
        own = [f"{env['PI_CODING_AGENT_DIR']}/sessions"] if env.get("PI_CODING_AGENT_DIR") else []
        return [*own, f"{home}/.omp/agent/sessions", f"{home}/.omp/profiles"]


def _survey(path: str, tally: Tally) -> Tree:
    """Read the file once for its tree alone, counting what is in it and what cannot be read."""
    tree = Tree()
    with opened(path) as file:
        for item in read_objects(file):
            if isinstance(item, Skip):
                tally.skipped[item.reason] += 1
            else:
                tally.types[text(item.get("type")) or "none"] += 1
                tree.add(item)
    tree.settle(tally.skipped)
    return tree


def _objects(file: Any) -> Iterator[dict[str, Any]]:
    return (item for item in read_objects(file) if not isinstance(item, Skip))


def _is_own(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "session":
        return "cwd" in item and "id" in item and "timestamp" in item
    if kind == "message":
        message = item.get("message")
        return isinstance(message, dict) and message.get("role") in _ROLES and "timestamp" in item
    return kind in _ENTRIES and "parentId" in item and "id" in item


def _is_omp(path: str, found: list[dict[str, Any]]) -> bool:
    where = path.replace("\\", "/")
    return "/.omp/" in where or any(isinstance(one.get("type"), str) and one["type"] in _OMP_ONLY for one in found)


def _id(path: str) -> str:
    stem = PurePath(path).name.removesuffix(".jsonl")
    named = _STEM.fullmatch(stem)
    return named["id"] if named else stem


def _parent(path: str) -> str | None:
    """Return the session a sub-agent belongs to: its file lies in a folder named as that session's file is."""
    named = _STEM.fullmatch(PurePath(path).parent.name)
    return named["id"] if named else None
