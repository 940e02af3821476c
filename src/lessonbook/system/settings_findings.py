"""The part of the configuration that tells what counts as a finding: ``[[findings.route]]``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lessonbook.core.errors import SetupError
from lessonbook.core.route import Route
from lessonbook.core.session import CallKind

_KINDS = tuple(kind.value for kind in CallKind)
_EXAMPLE = '[[findings.route]] with when = "release" and first = "make changelog"'


def routes(table: Mapping[str, Any]) -> tuple[Route, ...]:
    """Return the rules of the way in the table ``findings``. Raises ``SetupError`` for what is none."""
    found = table.get("route", [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise SetupError(f"findings.route must be tables in the configuration: {_EXAMPLE}.")
    return tuple(map(_route, found))


def _route(table: Mapping[str, Any]) -> Route:
    kinds = table.get("kinds")
    if kinds is None:
        return Route(_pattern(table, "when"), _pattern(table, "first"))
    if not isinstance(kinds, list) or not kinds or not all(kind in _KINDS for kind in kinds):
        raise SetupError(f"findings.route: kinds is a list of {', '.join(_KINDS)}, not {kinds!r}.")
    return Route(_pattern(table, "when"), _pattern(table, "first"), frozenset(map(CallKind, kinds)))


def _pattern(table: Mapping[str, Any], name: str) -> re.Pattern[str]:
    text = table.get(name)
    if not isinstance(text, str) or not text:
        raise SetupError(f"findings.route needs {name}, a pattern: {_EXAMPLE}.")
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise SetupError(f"findings.route: {name} is no pattern: {text!r}: {error}.") from error
