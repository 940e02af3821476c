"""Health in words for a person, and as a document for programs: the same for the verb and for the night's note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lessonbook.actions.health import Health
from lessonbook.core.defect_draft import day, how_often
from lessonbook.core.defects import DecisionKind, DefectState, Repeated
from lessonbook.core.growth import told

_SHOWN = (DefectState.OPEN, DefectState.BACK)
_MOST = 5
"""Open defects that one note names."""


def standing(one: Repeated) -> str:
    """Return where a defect stands, in a few words."""
    if one.state is DefectState.BACK and not one.since:
        return "check failed"
    return str(one.state)


def why(one: Repeated) -> str:
    """Return what a decision about a defect came to; empty where nothing was decided."""
    made = one.decision
    if made is None:
        return ""
    said = f"{made.kind} on {day(made.at)}{f' ({made.note})' if made.note else ''}"
    if made.kind is DecisionKind.DISMISSED:
        return said
    said += f", in version {made.version}" if made.version else ""
    said += f"; came {one.since:,} times since" if one.since else "; it did not come since"
    if made.check and one.checked is None:
        return f"{said}; its check was not run yet"
    if one.checked is not None:
        said += f"; its check failed: {one.checked.why}" if one.checked.why else "; its check passed"
    return said


def defect_lines(one: Repeated) -> Iterator[str]:
    """Yield a defect in a few lines."""
    yield f"{one.id}  {standing(one)}: {one.told.title}"
    agents = ", ".join(f"{name} {'/'.join(versions)}".strip() for name, versions in one.agents.items())
    yield f"    {one.told.defect.kind}; {how_often(one)}; {agents}"
    if decided := why(one):
        yield f"    {decided}"


def lines(health: Health, every: bool = False) -> Iterator[str]:
    """Yield all there is to say; what was dismissed or holds as fixed only where ``every`` is asked for."""
    shown = [one for one in health.defects if every or one.state in _SHOWN]
    for one in shown:
        yield from defect_lines(one)
    if not shown:
        yield "no defect of a tool came again and again"
    if rest := len(health.defects) - len(shown):
        yield f"{rest:,} more {'is' if rest == 1 else 'are'} fixed or dismissed: --all"
    for agent, size in health.measure.agents.items():
        rate = health.rates.get(agent)
        yield f"{agent}: {told(size)} of sessions{'' if rate is None else f', {told(rate)} a day'}"
    for name, size in health.measure.ours.items():
        yield f"lessonbook, {name}: {told(size)}"
    for what, size in health.cleanable.items():
        yield f"can go: {told(size)}, {what}"
    for sentence in health.notices:
        yield f"notice: {sentence}"


def said(health: Health) -> Iterator[str]:
    """Yield what asks for a person, and nothing else: for the note of a night, and the page.

    What is open is told as long as it came in the last ``WINDOW`` days.
    """
    for one in health.defects:
        if one.state is DefectState.BACK:
            yield f"{standing(one)}: {one.told.title} ({why(one)}): lessonbook health show {one.id}"
    many = [one for one in health.defects if one.state is DefectState.OPEN and one.recent]
    for one in many[:_MOST]:
        yield f"a tool fails again and again: {one.told.title}, {how_often(one)}: lessonbook health show {one.id}"
    if len(many) > _MOST:
        yield f"and {len(many) - _MOST:,} more of them: lessonbook health"
    for sentence in health.notices:
        yield f"notice: {sentence}"


def document(health: Health) -> dict[str, Any]:
    """Return all of it for programs."""
    return {
        "said": list(said(health)),
        "defects": defects_document(health.defects),
        "sizes": {"agents": dict(health.measure.agents), "lessonbook": dict(health.measure.ours)},
        "per_day": {agent: round(rate) for agent, rate in health.rates.items()},
        "notices": list(health.notices),
        "can_go": [{"what": what, "bytes": size} for what, size in health.cleanable.items()],
        "sessions_read": health.sessions,
        "unread": dict(health.unread),
    }


def defects_document(defects: Iterable[Repeated]) -> list[dict[str, Any]]:
    """Return defects for programs."""
    return [_defect(one) for one in defects]


def _defect(one: Repeated) -> dict[str, Any]:
    return {
        "id": one.id,
        "state": str(one.state),
        "kind": str(one.told.defect.kind),
        "tool": one.told.defect.tool,
        "error": one.told.defect.error,
        "count": one.count,
        "sessions": list(one.sessions),
        "projects": one.projects,
        "agents": {name: list(versions) for name, versions in one.agents.items()},
        "models": list(one.models),
        "first": one.first,
        "last": one.last,
        "last_14_days": one.recent,
        "14_days_before": one.before,
        "since_fixed": one.since,
        "why": why(one),
        "check_failed": one.checked.why if one.checked else None,
    }
