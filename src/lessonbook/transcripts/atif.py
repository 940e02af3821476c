"""ATIF, the interchange format of agents' trajectories: one document of steps, sub-agents' documents inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.atif_talk import AGENT, COPY, AtifTalk
from lessonbook.transcripts.documents import END, START, Member, head_elements, head_root, read_document
from lessonbook.transcripts.lines import Skip, opened
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import text

_SUB = "subagent_trajectories[]"
_ENTER = frozenset(("steps", "subagent_trajectories", _SUB, f"{_SUB}.steps"))
_SOURCES = frozenset(("system", "user", "agent"))


class AtifReader:
    """Reads a trajectory in ATIF, of any agent; it is written where somebody asked for it."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the document says that it is ATIF."""
        if text(head_root(head).get("schema_version")).startswith("ATIF"):
            return True
        return any(map(_is_step, head_elements(head, "steps")))

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return nothing: no agent keeps its sessions so."""
        return []

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the trajectory and those of its sub-agents, then one report. Never raises for what is in it.

        With ``seen``, steps another file already gave are left out and counted.
        """
        tally = Tally(path, AGENT)
        known = seen if seen is not None else Seen()
        try:
            for talk in _talks(path, known, tally):
                tally.skipped[COPY] += talk.copied
                session = talk.freeze(PurePath(path).name.partition(".")[0])
                if session.turns:
                    yield tally.add(session)
        except LessonbookError as error:
            tally.problem = str(error)
        yield tally.report()


def _talks(path: str, seen: Seen, tally: Tally) -> Iterator[AtifTalk]:
    main = AtifTalk(seen, path)
    subs: list[AtifTalk] = []
    with opened(path) as file:
        for item in read_document(file, _ENTER, _is_step):
            if isinstance(item, Skip):
                tally.skipped[item.reason] += 1
            elif item.path == _SUB and item.value is START:
                subs.append(AtifTalk(seen, path, main))
            elif item.path.startswith(_SUB):
                _take(subs[-1], item, item.path[len(_SUB) + 1 :], tally)
            else:
                _take(main, item, item.path, tally)
    yield main
    yield from subs


def _take(talk: AtifTalk, item: Member, name: str, tally: Tally) -> None:
    if name == "steps[]":
        tally.types[f"step/{text(item.value.get('source'))}"] += 1
        talk.step(item.value)
    elif item.value not in (START, END):
        talk.fact(name, item.value)


def _is_step(item: dict[str, Any]) -> bool:
    source = item.get("source")
    return isinstance(source, str) and source in _SOURCES and "step_id" in item
