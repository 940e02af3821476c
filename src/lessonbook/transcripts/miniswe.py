"""mini-swe-agent: one ``.traj.json`` document per run: a list of messages, since version 1.1 with facts around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.documents import END, START, head_elements, head_root, read_document
from lessonbook.transcripts.lines import Skip, opened
from lessonbook.transcripts.miniswe_talk import AGENT, MiniTalk, commands
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import mapping, text

COPY = "copy of a record already read"
_ROLES = frozenset(("system", "user", "assistant", "tool", "exit"))
_FORMAT = re.compile(r"mini-swe-agent")


class MiniSweAgentReader:
    """Reads ``*.traj.json``; its own folder holds the last run only."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a run of mini-swe-agent, of either form."""
        root = head_root(head)
        if _FORMAT.match(text(root.get("trajectory_format"))) or "mini_version" in mapping(root.get("info")):
            return True
        listed = [one for one in head_elements(head, "") if _is_message(one)]
        inner = [one for one in head_elements(head, "messages") if _is_message(one)] if "info" in root else []
        found = [*listed, *inner]
        if path.endswith(".traj.json") and found:
            return True
        return any(one["role"] == "assistant" and commands(one) for one in found)

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the configuration folder, which keeps the last run."""
        base = env.get("MSWEA_GLOBAL_CONFIG_DIR")
        return [base or f"{env.get('XDG_CONFIG_HOME') or f'{home}/.config'}/mini-swe-agent"]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the file's session, then one report. Never raises for what is in it.

        With ``seen``, a run another file already gave is left out and counted.
        """
        tally = Tally(path, AGENT)
        talk = MiniTalk()
        try:
            with opened(path) as file:
                for item in read_document(file, frozenset(("messages",)), _is_message):
                    if isinstance(item, Skip):
                        tally.skipped[item.reason] += 1
                    elif item.path in ("[]", "messages[]"):
                        tally.types[text(item.value.get("role")) or "none"] += 1
                        talk.message(item.value)
                    elif item.path == "info":
                        talk.info(mapping(item.value))
                    elif item.value not in (START, END):
                        tally.types[item.path] += 1
        except LessonbookError as error:
            tally.problem = str(error)
        session = talk.freeze(PurePath(path).name.partition(".")[0], path)
        calls = [call for turn in session.turns for call in turn.calls]
        if seen is not None and calls and not seen.first("mini-swe-agent run", f"{session.id}\0{calls!r}"):
            tally.skipped[COPY] += len(calls)
        elif session.turns:
            yield tally.add(session)
        yield tally.report()


def _is_message(item: dict[str, Any]) -> bool:
    role = item.get("role")
    known = isinstance(role, str) and role in _ROLES and "content" in item
    return known and "agent" not in item and "message_type" not in item and "type" not in item
