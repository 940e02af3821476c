"""Rules of a person about the way to go: when a request is about this, that has to come first.

Such rules are set in ``config.toml``; without any there are no findings of this kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lessonbook.core.session import Call, CallKind, Turn

_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Route:
    """Where a prompt matches ``when``, the first call of ``kinds`` has to match ``first``, or be of that tool."""

    when: re.Pattern[str]
    first: re.Pattern[str]
    kinds: frozenset[CallKind] = frozenset({CallKind.SHELL, CallKind.WEB, CallKind.SEARCH, CallKind.MCP})


def off_route(turn: Turn, routes: Sequence[Route]) -> Iterator[tuple[Route, Call]]:
    """Yield each rule the turn went past, with the call that came in the place of what should have been first."""
    for route in routes:
        if not route.when.search(turn.prompt[:_TEXT]):
            continue
        first = next((call for call in turn.calls if call.kind in route.kinds), None)
        if first is not None and not any(route.first.search(text) for text in _texts(first)):
            yield route, first


def _texts(call: Call) -> Iterator[str]:
    yield call.name
    yield (call.command or "")[:_TEXT]
    for value in call.args.values():
        if isinstance(value, str):
            yield value[:_TEXT]
