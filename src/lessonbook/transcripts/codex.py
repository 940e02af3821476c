"""Codex (command line, desktop, editors): one rollout file per session, in the three forms it has had.

Until September 2025 lines were bare items; since then they are ``{timestamp, type, payload}``, with more types from
2026 on. Newer versions compress old files (``.jsonl.zst``).
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
from lessonbook.transcripts.building import resume_of
from lessonbook.transcripts.codex_talk import AGENT, CodexTalk
from lessonbook.transcripts.lines import (
    HEAD_BYTES,
    Marked,
    Skip,
    head_objects,
    is_compressed,
    opened,
    read_objects,
)
from lessonbook.transcripts.reports import report
from lessonbook.transcripts.values import epoch, text

COPY = "copy of a record already read"
ROLLED_BACK = "turn the person took back"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_LINE_TYPES = {"session_meta", "response_item", "turn_context", "event_msg", "compacted", "world_state"}
_BARE_TYPES = {"message", "reasoning", "function_call", "function_call_output", "local_shell_call"}
_BARE_TYPES |= {"custom_tool_call", "custom_tool_call_output", "web_search_call"}
_CUT = re.compile(rb'^\s*\{(?=[^\n]{0,300}"type"\s*:\s*"(?:session_meta|response_item|event_msg|compacted)")')


class CodexReader:
    """Reads ``~/.codex/sessions/**/rollout-*.jsonl`` and ``.jsonl.zst``."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a Codex rollout; the output of ``codex exec --json`` does not."""
        if is_compressed(path, head):
            return path.endswith(".jsonl.zst")
        found = head_objects(head)
        if any(_is_own(one) for one in found):
            return True
        return not found and _CUT.match(head.removeprefix(b"\xef\xbb\xbf")) is not None

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folders Codex keeps sessions in, under ``CODEX_HOME`` where set."""
        base = env.get("CODEX_HOME") or f"{home}/.codex"
        return [f"{base}/sessions", f"{base}/archived_sessions"]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the file's session, then one report. Never raises for what is in it.

        With ``seen``, what a fork or a sub-agent repeats of a session read before is left out and counted.
        """
        return self.resume(path, Resume(), seen)

    def resume(self, path: str, at: Resume, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield what ``read`` does, from ``at`` on; the session's facts come from its first records all the same."""
        reading = CodexTalk(seen if seen is not None else Seen(), path)
        skipped: Counter[str] = Counter()
        types: Counter[str] = Counter()
        problem = None
        try:
            with opened(path) as file:
                if at.offset:
                    reading.learn(lambda talk: _take_all(talk, head_objects(file.read(HEAD_BYTES))), at.note)
                marked = Marked(file, at.offset)
                for item in read_objects(marked):
                    reading.talk.position = marked.start
                    if isinstance(item, Skip):
                        skipped[item.reason] += 1
                    else:
                        _take(reading, item, types)
        except LessonbookError as error:
            problem = str(error)
        reading.settle()
        session = _session(reading, path)
        sessions = [session] if session.turns else []
        skipped[COPY] += reading.copied
        skipped[ROLLED_BACK] += reading.rolled_back
        yield from sessions
        on = None if path.endswith(".zst") else resume_of(reading.talk.turns, session.id, at)
        yield report(path, AGENT, sessions, skipped, types, problem, on)


def _take_all(reading: CodexTalk, items: list[dict[str, Any]]) -> None:
    for item in items:
        _take(reading, item, Counter())


def _is_own(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if isinstance(item.get("payload"), dict):
        return isinstance(kind, str) and kind in _LINE_TYPES
    if kind is None:
        return "record_type" in item or (
            "id" in item and "timestamp" in item and ("instructions" in item or "git" in item)
        )
    return isinstance(kind, str) and kind in _BARE_TYPES and ("role" in item or "call_id" in item or "summary" in item)


def _take(reading: CodexTalk, item: dict[str, Any], types: Counter[str]) -> None:
    payload = item.get("payload")
    kind = text(item.get("type"))
    if isinstance(payload, dict):
        types[f"{kind}/{text(payload.get('type'))}".rstrip("/")] += 1
        reading.take(kind, payload, epoch(item.get("timestamp")))
    elif kind in _BARE_TYPES:
        types[kind] += 1
        reading.take("response_item", item, epoch(item.get("timestamp")))
    else:
        types[kind or "none"] += 1
        if not kind and "id" in item and "timestamp" in item:  # the first line of the bare form
            reading.take("session_meta", item, None)


def _session(reading: CodexTalk, path: str) -> Session:
    name = PurePath(path).name
    found = _UUID.findall(name)
    id = reading.id or (found[-1] if found else name.partition(".")[0])
    parent = reading.parent if reading.talk.by_subagent else None
    return reading.talk.freeze(id=id, path=path, parent_id=parent or None)
