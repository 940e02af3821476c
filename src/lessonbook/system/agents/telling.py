"""What every agent's output is read with: its JSON, line by line, and sentences about what went wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lessonbook.core.agent_run import Ran

_SAID = 300


def records(text: str) -> Iterator[dict[str, Any]]:
    """Yield each line of ``text`` that is a JSON object; agents print warnings between them."""
    for line in text.splitlines():
        found = document(line)
        if found:
            yield found


def document(text: str) -> dict[str, Any]:
    """Return ``text`` as the JSON object it is; ``{}`` for anything else."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def table(value: object) -> Mapping[str, Any]:
    """Return ``value`` where it is a table; else an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """Return ``value`` where it is text; else nothing."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """Return ``value`` where it is a number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def money(value: object) -> float | None:
    """Return ``value`` where it is an amount of dollars."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        return None
    return float(value)


def summed(values: Iterator[Any]) -> Any:
    """Return the sum of those that are there; ``None`` where none is."""
    there = [value for value in values if value is not None]
    return sum(there) if there else None


def failed(agent: str, code: int, said: str, **known: Any) -> Ran:
    """Return a run that did not deliver: by what the agent said, else by its exit code."""
    why = short(said)
    how = f"{agent} ended with exit code {code}" if code else f"{agent} did not finish"
    return Ran(problem=f"{how}{': ' + why if why else ''}.", **known)


def short(said: str) -> str:
    """Return the last line of what was said, without secrets and short enough for a sentence."""
    from lessonbook.core.clean import bound, clean_line
    from lessonbook.core.compaction import scrubbed

    lines = [line for line in said.strip().splitlines() if line.strip()]
    return bound(scrubbed(clean_line(lines[-1])), _SAID)[0].rstrip(".") if lines else ""
