"""Shows a change of an agent's file as a diff, without the secrets that stand beside it."""

from __future__ import annotations

import difflib

from lessonbook.actions.setup import Change
from lessonbook.core.redact import redact

_AROUND = 2
_WIDE = 300


def shown(change: Change) -> list[str]:
    """Return the lines of a unified diff; keys and other secrets of the lines around are taken out."""
    name = str(change.path)
    if change.now == change.then:
        return []
    old, new = (_lines(data) for data in (change.now, change.then))
    lines = difflib.unified_diff(
        old, new, name if change.now is not None else "/dev/null", name if change.then is not None else "/dev/null",
        lineterm="", n=_AROUND,
    )  # fmt: skip
    return _shortened(redact("\n".join(lines)).text.split("\n"))


def _shortened(lines: list[str]) -> list[str]:
    """Show of a very long line, as in files without line breaks, only where it differs from the one it replaces."""
    done: list[str] = []
    for line in lines:
        before = next((old for old in reversed(done) if old.startswith("-")), "") if line.startswith("+") else ""
        done.append(line)
        if len(line) > _WIDE and before:
            same = len(_common(before[1:], line[1:]))
            ends = len(_common(before[:same:-1], line[:same:-1]))
            done[-1] = f"+… {line[1 + same : len(line) - ends]} …"
    return [line if len(line) <= _WIDE or line.startswith("+…") else f"{line[:_WIDE]} …" for line in done]


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n") if data else []


def _common(one: str, other: str) -> str:
    """The start that both texts share."""
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:at]
