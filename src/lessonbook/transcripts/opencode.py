"""opencode: a database since early 2026, a tree of small JSON files before, and what ``opencode export`` writes.

The tree stays behind when its sessions move into the database; messages are known by their ids, so each counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.system.sqlite_rows import MAGIC
from lessonbook.transcripts.documents import END, START, head_elements, head_root, read_document
from lessonbook.transcripts.lines import HEAD_BYTES, Skip, opened
from lessonbook.transcripts.opencode_db import read_database
from lessonbook.transcripts.opencode_talk import AGENT, COPY, TAKEN_BACK, OpencodeTalk
from lessonbook.transcripts.opencode_tree import is_first_of_orphans, read_tree
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import mapping, text

_DATABASE = re.compile(r"opencode[^/]*\.db\Z")
_TABLES = re.compile(rb"CREATE TABLE [`\"']?part[`\"']?\s*\((?s:.){0,4000}?message_id")
_SESSION_FILE = re.compile(r"/session/[^/]+/[^/]+\.json\Z")
_MESSAGE_FILE = re.compile(r"/message/[^/]+/[^/]+\.json\Z")


class OpencodeReader:
    """Reads ``~/.local/share/opencode``: ``opencode.db`` and ``storage/``."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file is a session of the tree, the database, or an export; other files of the tree are not."""
        if head.startswith(MAGIC):
            return bool(_DATABASE.search(path.replace("\\", "/")) or _TABLES.search(head))
        root = head_root(head)
        if _is_session(path, root) or any(map(_is_exported, head_elements(head, "messages"))):
            return True
        return bool(_MESSAGE_FILE.search(path.replace("\\", "/"))) and _is_message(root) and is_first_of_orphans(path)

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the database and the trees, under ``XDG_DATA_HOME`` where set, and what ``OPENCODE_DB`` names."""
        data = env.get("OPENCODE_DATA_DIR") or f"{env.get('XDG_DATA_HOME') or f'{home}/.local/share'}/opencode"
        named = [env["OPENCODE_DB"]] if env.get("OPENCODE_DB") else []
        return [f"{data}/opencode.db", f"{data}/storage", f"{data}/project", *named]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the sessions of the file, then one report. Never raises for what is in it.

        With ``seen``, messages another file already gave are left out and counted.
        """
        tally = Tally(path, AGENT)
        try:
            with opened(path) as file:
                head = file.read(HEAD_BYTES)
            for talk in _talks(path, head, seen if seen is not None else Seen(), tally):
                tally.skipped[COPY] += talk.copied
                tally.skipped[TAKEN_BACK] += talk.taken_back
                session = talk.freeze()
                if session.turns:
                    yield tally.add(session)
        except LessonbookError as error:
            tally.problem = str(error)
        yield tally.report()


def _talks(path: str, head: bytes, seen: Seen, tally: Tally) -> Iterator[OpencodeTalk]:
    if head.startswith(MAGIC):
        return read_database(path, seen, tally)
    root = head_root(head)
    if _is_session(path, root) or _is_message(root):
        return read_tree(path, seen, tally)
    return iter((_export(path, seen, tally),))


def _export(path: str, seen: Seen, tally: Tally) -> OpencodeTalk:
    talk = OpencodeTalk(seen, path)
    with opened(path) as file:
        for item in read_document(file, frozenset(("messages",)), _is_exported):
            if isinstance(item, Skip):
                tally.skipped[item.reason] += 1
            elif item.path == "info":
                talk.info(mapping(item.value))
            elif item.path == "messages[]":
                info, parts = mapping(item.value.get("info")), item.value.get("parts")
                tally.types[text(info.get("role")) or "none"] += 1
                talk.message(info, [mapping(part) for part in parts] if isinstance(parts, list) else [])
            elif item.value not in (START, END):
                tally.types[item.path] += 1
    return talk


def _is_session(path: str, root: dict[str, Any]) -> bool:
    named = bool(_SESSION_FILE.search(path.replace("\\", "/")))
    known = "id" in root and "time" in root and ("directory" in root or "projectID" in root or "title" in root)
    own = text(root.get("id")).startswith("ses_") and "version" in root and "role" not in root
    return known and "sessionID" not in root and (named or own)


def _is_message(root: dict[str, Any]) -> bool:
    return "id" in root and "sessionID" in root and root.get("role") in ("user", "assistant")


def _is_exported(item: dict[str, Any]) -> bool:
    info = mapping(item.get("info"))
    return info.get("role") in ("user", "assistant") and isinstance(item.get("parts"), list)
