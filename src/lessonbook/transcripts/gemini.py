"""Gemini CLI: one file per session, a JSON document until April 2026 (0.39), an append log of JSON Lines since.

In the log a message is written again when it has grown (the last one counts, in the first one's place), a ``$set``
record changes the session's facts or replaces all messages, and ``$rewindTo`` takes messages back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.documents import END, START, head_elements, head_keys, head_root, read_document
from lessonbook.transcripts.gemini_talk import AGENT, COPY, REWOUND, GeminiTalk
from lessonbook.transcripts.lines import HEAD_BYTES, Skip, head_objects, opened, read_objects
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import mapping, text

_TYPES = frozenset(("user", "gemini", "info", "warning", "error"))
_FACTS = frozenset(("sessionId", "projectHash"))
_SMALL = 1024 * 1024


class GeminiReader:
    """Reads ``~/.gemini/tmp/*/chats/**/session-*.json`` and ``.jsonl``."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a session of Gemini CLI, of either form."""
        if any(map(_is_message, head_elements(head, "messages"))) or head_keys(head) >= {*_FACTS, "messages"}:
            return True
        found = [*head_objects(head), head_root(head)]
        return any(_is_message(one) or _is_facts(one) for one in found)

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folder that holds one folder for each project."""
        return [f"{env.get('GEMINI_CLI_HOME') or home}/.gemini/tmp"]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the file's session, then one report. Never raises for what is in it.

        With ``seen``, messages another file already gave are left out and counted.
        """
        tally = Tally(path, AGENT)
        talk = GeminiTalk(seen if seen is not None else Seen(), path)
        try:
            with opened(path) as file:
                head = file.read(HEAD_BYTES)
                file.seek(0)
                items = _lines(file, talk) if _is_log(path, head) else _document(file, talk)
                for kind in items:
                    if isinstance(kind, Skip):
                        tally.skipped[kind.reason] += 1
                    else:
                        tally.types[kind] += 1
        except LessonbookError as error:
            tally.problem = str(error)
        talk.note_place(*_place(path, talk.project))
        session = talk.freeze(PurePath(path).name.partition(".")[0])
        tally.skipped[COPY], tally.skipped[REWOUND] = talk.copied, talk.rewound
        if session.turns:
            yield tally.add(session)
        yield tally.report()


def _is_log(path: str, head: bytes) -> bool:
    """Whether the file is JSON Lines: its first lines are whole records rather than one document or a part of one."""
    found = head_objects(head)
    if not found:
        return path.endswith(".jsonl")
    return not any(isinstance(one.get("messages"), list) for one in found)


def _document(file: Any, talk: GeminiTalk) -> Iterator[str | Skip]:
    root: dict[str, Any] = {}
    for item in read_document(file, frozenset(("messages",)), _is_message):
        if isinstance(item, Skip):
            yield item
        elif item.path == "messages[]":
            yield text(item.value.get("type")) or "none"
            talk.message(item.value)
        elif item.value not in (START, END):
            root[item.path] = item.value
            talk.fact(item.path, item.value)
    if _is_message(root):  # one message by itself, as a person may have saved it
        yield text(root["type"])
        talk.message(root)


def _lines(file: Any, talk: GeminiTalk) -> Iterator[str | Skip]:
    for item in read_objects(file):
        if isinstance(item, Skip):
            yield item
        elif isinstance(item.get("$set"), dict):
            yield "$set"
            for key, value in item["$set"].items():
                if key == "messages" and isinstance(value, list):
                    talk.replace([one for one in value if isinstance(one, dict)])
                else:
                    talk.fact(key, value)
        elif "$rewindTo" in item:
            yield "$rewindTo"
            talk.rewind(text(item.get("$rewindTo")))
        elif item.get("type") is None and not _FACTS.isdisjoint(item):
            yield "session"
            for key, value in item.items():
                talk.fact(key, value)
        else:
            yield text(item.get("type")) or "none"
            talk.message(item)


def _is_message(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    known = isinstance(kind, str) and kind in _TYPES and "id" in item and "timestamp" in item
    return known and ("content" in item or "toolCalls" in item) and "sessionId" not in item and "uuid" not in item


def _is_facts(item: dict[str, Any]) -> bool:
    return (item.keys() >= _FACTS and "type" not in item) or isinstance(item.get("$set"), dict)


def _place(path: str, project: str) -> tuple[str | None, str | None]:
    """Return the project's folder, noted beside the chats or known by its digest, and the session of a sub-agent."""
    parts = PurePath(path).parts
    chats = len(parts) - 1 - parts[::-1].index("chats") if "chats" in parts else 0
    if not chats:
        return None, None
    parent = parts[chats + 1] if chats + 2 < len(parts) else None
    base = Path(*parts[:chats])
    noted = _read(base / ".project_root").strip()
    return noted or _known_by_digest(base.parent.parent / "projects.json", project or base.name), parent


def _known_by_digest(register: Path, digest: str) -> str | None:
    try:
        known = mapping(json.loads(_read(register) or "{}")).get("projects")
    except (ValueError, RecursionError):
        return None
    folders = [one for one in mapping(known) if isinstance(one, str)]
    return next((one for one in folders if hashlib.sha256(one.encode("utf-8", "replace")).hexdigest() == digest), None)


def _read(path: Path) -> str:
    """Return a small file's text; nothing where there is none."""
    try:
        with path.open("rb") as file:
            return file.read(_SMALL).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
