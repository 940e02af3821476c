"""Files that are no session of ours: one sentence each on what they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from lessonbook.transcripts.lines import head_objects

_START = 8 * 1024


class Alien(NamedTuple):
    """What a file is, and the agent it belongs to where it belongs to one."""

    agent: str | None
    problem: str


class _File(NamedTuple):
    place: str
    start: bytes
    objects: list[dict[str, Any]]


_SIDE = "A side file of "
READ_ALONG = "Part of a session that is read from another file."
_PARTS = re.compile(r"/part/(?:[^/]+/){0,2}prt[_-][^/]*\.json\Z")


def side_file(path: str) -> Alien | None:
    """Return what a file is whose name alone tells: opencode keeps a file for each part of each message."""
    return Alien("opencode", READ_ALONG) if _PARTS.search(path.replace("\\", "/")) else None


def _side(agent: str, label: str) -> Alien:
    return Alien(agent, f"{_SIDE}{label}, not a session.")


def is_beside(problem: str) -> bool:
    """Whether this says that the file belongs to an agent's sessions without being one: nothing of them is lost."""
    return problem == READ_ALONG or problem.startswith(_SIDE)


def _named(pattern: str) -> Callable[[_File], bool]:
    compiled = re.compile(pattern)
    return lambda file: compiled.search(file.place) is not None


def _starts(pattern: bytes) -> Callable[[_File], bool]:
    compiled = re.compile(pattern)
    return lambda file: compiled.search(file.start) is not None


def _holds(*keys: str) -> Callable[[_File], bool]:
    """Whether one of the first lines is an object with all these keys."""
    return lambda file: any(all(key in one for key in keys) for one in file.objects)


def _typed(*types: str) -> Callable[[_File], bool]:
    """Whether one of the first lines is an object of one of these types."""
    return lambda file: any(one.get("type") in types for one in file.objects)


def _both(*tests: Callable[[_File], bool]) -> Callable[[_File], bool]:
    return lambda file: all(test(file) for test in tests)


_EMPTY = Alien(None, "The file is empty.")
_UNKNOWN = Alien(None, "Not a session of an agent we know.")
_SQLITE = _starts(rb"\ASQLite format 3\x00")
_RULES: tuple[tuple[Alien, Callable[[_File], bool]], ...] = (
    (Alien(None, "An SQLite database of no agent we know."), _SQLITE),
    (_side("claude", "Claude Code"), _named(r"/tool-results/|/subagents/.*\.meta\.json\Z")),
    (_side("claude", "Claude Code"), _holds("display", "project", "timestamp")),
    (_side("claude", "Claude Code"), _both(_named(r"(?:\A|/)journal\.jsonl\Z"), _typed("started", "result"))),
    (_side("codex", "Codex"), _both(_named(r"(?:\A|/)history\.jsonl\Z"), _holds("session_id", "text", "ts"))),
    (_side("codex", "Codex"), _named(r"(?:\A|/)session_index\.jsonl\Z")),
    (
        Alien("codex", "This is what codex exec --json prints, not a session file."),
        _typed("thread.started", "turn.started", "item.started", "item.completed"),
    ),
    (
        Alien("claude", "This is what claude -p --output-format stream-json prints, not a session file."),
        _both(_holds("session_id", "type"), _typed("system", "assistant", "user", "result")),
    ),
    (
        _side("gemini", "Gemini CLI"),
        _both(_named(r"(?:\A|/)logs\.json\Z"), _starts(rb'"sessionId"\s*:'), _starts(rb'"messageId"\s*:')),
    ),
    (_side("gemini", "Gemini CLI"), _named(r"/\.gemini/tmp/[^/]+/(?:checkpoints/|checkpoint[^/]*\.json\Z|logs/)")),
    (_side("ramabana", "Ramabana"), _holds("turn_id", "details")),
    (
        _side("ramabana", "Ramabana"),
        _named(r"(?:\A|/)(?:agent-(?:sessions|branches)\.json|runs/[^/]+/(?:start|turn|owner)\.json)\Z"),
    ),
    (
        Alien("opencode", READ_ALONG),
        _both(_named(r"/message/[^/]+/[^/]+\.json\Z"), _starts(rb'"sessionID"\s*:'), _starts(rb'"role"\s*:')),
    ),
    (_side("opencode", "opencode"), _named(r"storage/(?:project|todo|session_diff|session_share|migration)\b")),
)


def name_alien(path: str, head: bytes) -> Alien:
    """Return what a file that no reader claims is, judged by its path and its first bytes."""
    if not head:
        return _EMPTY
    file = _File(path.replace("\\", "/"), head[:_START], head_objects(head))
    return next((alien for alien, test in _RULES if test(file)), _UNKNOWN)
