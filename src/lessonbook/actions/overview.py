"""What past sessions come to, read once for a page that shows it in many ways: accounts, and what lessons did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lessonbook.actions.findings import Account, Seen, Which, account
from lessonbook.actions.night_folder import last_record, records
from lessonbook.actions.watch import Watch, watch
from lessonbook.core.value import Value
from lessonbook.proposers.wording import example
from lessonbook.system.settings import Places, Settings

_NIGHTS = 60
"""Nights that are told of, the newest."""


class Overview(Value):
    """All sessions of this machine's agents as of ``at`` (epoch seconds), and what became of every accepted lesson."""

    account: Account
    watch: Watch
    at: float


def overview(places: Places, settings: Settings, env: Mapping[str, str], now: float) -> Overview:
    """Read every agent's own sessions: takes as long as they are large. Raises ``SetupError`` without git."""
    found = account(None, places, settings, Which(), env=env)
    return Overview(found, watch(None, places, settings, env=env), now)


def narrowed(found: Account, which: Which) -> Account:
    """Return the account of those sessions that count, without reading any again."""
    return Account([seen for seen in found.sessions if _counts(seen, which)], found.reading)


def nights(places: Places) -> list[dict[str, Any]]:
    """Return the last nights, newest first: ``{night, began, spent, most, offered, rounds, note}``. Never raises."""
    return [
        {
            "night": str(one.get("night", "")),
            "began": one["began"] if isinstance(one.get("began"), int) else 0,
            "spent": _dollars(one.get("spent")),
            "most": _dollars(one.get("most")),
            "offered": _count(one.get("offered")),
            "rounds": _count(one.get("rounds")),
            "note": "; ".join(str(said) for said in (one.get("note"), one.get("failed")) if said),
        }
        for one in records(places.state, _NIGHTS)
    ]


def asks(places: Places) -> list[str]:
    """Return what the health of the last night asks of a person, in sentences. Never raises."""
    health = (last_record(places.state) or {}).get("health")
    said = health.get("said") if isinstance(health, dict) else None
    return [str(sentence) for sentence in said] if isinstance(said, list) else []


def _count(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def _dollars(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def told(seen: Seen) -> list[dict[str, Any]]:
    """Return the findings of one session to be shown: what is text of the transcript is cleaned and redacted."""
    return [
        {
            "kind": str(one.kind),
            "turn": one.turn,
            "tool": one.tool or "",
            "what": one.what,
            "detail": example(one.detail),
        }
        for one in seen.findings
    ]


def _counts(seen: Seen, which: Which) -> bool:
    if which.agent and seen.agent.casefold() != which.agent.casefold():
        return False
    if which.since is not None and (seen.started or 0.0) < which.since:
        return False
    return not which.project or seen.project.casefold() == which.project.casefold()
