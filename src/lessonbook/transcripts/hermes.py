"""Hermes: a database of sessions and messages; before 0.15, and as exports, files with the same messages as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.system.sqlite_rows import MAGIC
from lessonbook.transcripts.documents import END, START, head_elements, head_root, read_document
from lessonbook.transcripts.hermes_db import read_database
from lessonbook.transcripts.hermes_talk import AGENT, COPY, TAKEN_BACK, HermesTalk
from lessonbook.transcripts.lines import HEAD_BYTES, Skip, head_objects, opened, read_objects
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import text

_DATABASE = re.compile(r"(?:\A|/)\.hermes/(?:.*/)?state\.db\Z")
_TABLES = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[`\"']?messages[`\"']?\s*\((?s:.){0,4000}?tool_call_id")
_ROLES = frozenset(("user", "assistant", "tool", "system", "session_meta"))
_ABOUT = frozenset(("platform", "base_url", "session_start", "source", "system_prompt", "started_at", "last_updated"))


class HermesReader:
    """Reads ``~/.hermes/state.db`` and ``~/.hermes/sessions``."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file is the database, a snapshot, an export, or a gateway's log."""
        where = path.replace("\\", "/")
        if head.startswith(MAGIC):
            return bool(_DATABASE.search(where) or _TABLES.search(head))
        root, messages = head_root(head), head_elements(head, "messages")
        named = "session_id" in root or "id" in root
        if named and not _ABOUT.isdisjoint(root) and any(map(_is_message, messages)):
            return True
        lines = head_objects(head)
        return ("/.hermes/" in where or any(one.get("role") == "session_meta" for one in lines)) and any(
            _is_message(one) for one in lines
        )

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the database, the snapshots and the profiles, under ``HERMES_HOME`` where set."""
        base = env.get("HERMES_HOME") or f"{home}/.hermes"
        return [f"{base}/state.db", f"{base}/sessions", f"{base}/profiles"]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the sessions of the file, then one report. Never raises for what is in it.

        With ``seen``, messages another file already gave are left out and counted.
        """
        tally = Tally(path, AGENT)
        try:
            for talk in _talks(path, seen if seen is not None else Seen(), tally):
                tally.skipped[COPY] += talk.copied
                tally.skipped[TAKEN_BACK] += talk.taken_back
                session = talk.freeze()
                if session.turns:
                    yield tally.add(session)
        except LessonbookError as error:
            tally.problem = str(error)
        yield tally.report()


def _talks(path: str, seen: Seen, tally: Tally) -> Iterator[HermesTalk]:
    with opened(path) as file:
        head = file.read(HEAD_BYTES)
        if head.startswith(MAGIC):
            yield from read_database(path, seen, tally)
            return
        file.seek(0)
        is_log = any(map(_is_message, head_objects(head))) or (path.endswith(".jsonl") and not head_root(head))
        yield from _log(path, file, seen, tally) if is_log else _documents(path, file, seen, tally)


def _log(path: str, file: BinaryIO, seen: Seen, tally: Tally) -> Iterator[HermesTalk]:
    talk = HermesTalk(seen, path, _stem(path))
    for item in read_objects(file):
        if isinstance(item, Skip):
            tally.skipped[item.reason] += 1
        else:
            tally.types[text(item.get("role")) or "none"] += 1
            talk.message(item)
    yield talk


def _documents(path: str, file: BinaryIO, seen: Seen, tally: Tally) -> Iterator[HermesTalk]:
    """Yield the sessions of a snapshot, or of an export, which may be one document behind another."""
    talk = HermesTalk(seen, path, _stem(path))
    for item in read_document(file, frozenset(("messages",)), _is_message):
        if isinstance(item, Skip):
            tally.skipped[item.reason] += 1
        elif item.path == "" and item.value is END:
            yield talk
            talk = HermesTalk(seen, path, _stem(path))
        elif item.path == "messages[]":
            tally.types[text(item.value.get("role")) or "none"] += 1
            talk.message(item.value)
        elif item.value not in (START, END):
            talk.fact(item.path, item.value)
    yield talk


def _is_message(item: dict[str, Any]) -> bool:
    role = item.get("role")
    if not isinstance(role, str) or role not in _ROLES or "type" in item or "uuid" in item:
        return False
    return role == "session_meta" or "content" in item or "tool_calls" in item


def _stem(path: str) -> str:
    return PurePath(path).name.partition(".")[0].removeprefix("session_")
