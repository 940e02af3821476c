"""Which files a candidate may touch: the expected names, as regular files. Everything else is refused by name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from lessonbook.core.screen import PATH_MOST, quoted
from lessonbook.system.gitbatch import Change

AGENTS = b"AGENTS.md"
DATED = re.compile(rb"[a-z][a-z0-9]*-\d{4}-\d{2}-\d{2}\.md\Z")
_SKILL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_RESERVED = frozenset('\\:*?"<>|')
_KINDS = {
    "120000": "a symbolic link",
    "160000": "a submodule",
    "100755": "an executable file",
}


def shown(path: bytes) -> str:
    """Return a path for people: what is not UTF-8 is written out, so that no name can crash or hide."""
    return path.decode("utf-8", "backslashreplace")


def refusal(changes: Iterable[Change]) -> str | None:
    """Return why a candidate with these changes may not be accepted, naming the first file at fault; or ``None``."""
    for change in changes:
        for entry in (change.new, change.old):
            # An executable that HEAD already holds may be removed, never written.
            if entry and entry.mode != "100644" and not (change.new is None and entry.mode == "100755"):
                kind = _KINDS.get(entry.mode, f"a file of mode {entry.mode}")
                return f"{shown(change.path)} is {kind}; only regular files are accepted"
        if not expected(change.path):
            return (
                f"{quoted(shown(change.path), PATH_MOST)} is not a file a book holds "
                "(AGENTS.md, skills/<name>/…, or a dated file such as dhrona-2026-01-31.md)"
            )
    return None


def expected(path: bytes) -> bool:
    """Whether a book may hold a file of this name."""
    if path == AGENTS or DATED.match(path):
        return True
    try:
        parts = path.decode("utf-8").split("/")
    except UnicodeDecodeError:
        return False
    return len(parts) > 2 and parts[0] == "skills" and _SKILL.match(parts[1]) is not None and all(map(_plain, parts))


@lru_cache(maxsize=64)  # most names of a thousand candidates are the same two
def _plain(part: str) -> bool:
    # Leading dots cover ``.git``, ``.gitattributes`` and ``..``; ``git~1`` is how Windows also spells ``.git``.
    # Hidden and control characters (categories C*) could make one name look like, or be taken for, another.
    if part.isascii():
        hidden = not part.isprintable()
    else:
        hidden = any(unicodedata.category(char)[0] in "CZ" and char != " " for char in part)
    return not (
        hidden
        or part == ""
        or part[0] in ".-~ "
        or part[-1] in ". "
        or part.lower().startswith("git~")
        or len(part.encode("utf-8")) > 255
        or not _RESERVED.isdisjoint(part)
    )
