"""Answers that were cut short, and the calls that had to be made again for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lessonbook.core.effect import changes_state
from lessonbook.core.session import Call, CallKind, CallStatus
from lessonbook.core.shell import simple_commands

_CUT = re.compile(
    r"[\[<(…][^\n\[\]<>]{0,80}\b(?:truncated|omitted)\b|\btruncated (?:to|after|at) \d|\boutput (?:is )?too large\b"
    r"|\btokens truncated\b|\bfull output (?:was )?saved to\b",
    re.IGNORECASE,
)
_SIGNS = ("runcated", "mitted", "oo large", "saved to")
"""One of these is in every answer that says so, and in few others."""
_LEAST = 1_000
"""Shorter answers are whole; what they say of truncation is their own subject."""


def made_again(calls: Sequence[Call]) -> Iterator[Call]:
    """Yield each call that repeats one whose answer was cut, with nothing changed in between."""
    errands = [_errand(call) for call in calls]
    left = Counter(errands)
    if left.total() == len(left):  # nothing was asked twice: no answer needs to be looked at
        return
    cut: set[tuple[str, ...]] = set()
    for call, errand in zip(calls, errands, strict=True):
        left[errand] -= 1
        if cut and changes_state(call):
            cut.clear()
        if errand in cut:
            cut.discard(errand)
            yield call
        if errand and left[errand] and call.status is CallStatus.OK and was_cut(call.result):
            cut.add(errand)


def was_cut(result: str) -> bool:
    """Whether the answer says that something of it was left out."""
    if len(result) < _LEAST or not any(sign in result for sign in _SIGNS):
        return False
    return _CUT.search(result) is not None


def _errand(call: Call) -> tuple[str, ...]:
    """What a call asks: its first command whatever it is piped to, or the tool with its own arguments."""
    if call.kind is CallKind.SHELL:
        first = next(iter(simple_commands(call.command or "")), None)
        return first.words if first is not None else ()
    if call.kind not in (CallKind.READ, CallKind.SEARCH, CallKind.LIST, CallKind.WEB):
        return ()
    return (call.name, *sorted([f"{name}={value}" for name, value in call.args.items() if isinstance(value, str)]))
