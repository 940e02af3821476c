"""Defects that came again and again, what a person decided about each, and whether one came back after it was fixed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from lessonbook.core.defect import Proof, Sighting, Told

WINDOW = 14
"""Days: how often it came in the last so many is told beside the same number before, for the trend."""
_DAY = 86_400.0
_TWO = 2


class DecisionKind(StrEnum):
    """What a person said of a defect."""

    DISMISSED = "dismissed"
    FIXED = "fixed"


class DefectState(StrEnum):
    """Where a defect stands."""

    OPEN = "open"
    BACK = "came back"
    """It was fixed, and came again since, or its check failed."""
    FIXED = "fixed"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision, with what holds a fix to its word: a command, a day, a version of the agent."""

    kind: DecisionKind
    at: float
    note: str = ""
    since: float | None = None
    """Only what came after it counts against the fix; ``None``: ``at``, or with a version any time."""
    version: str = ""
    """Only what came with this version of the agent, or a later one, counts against it."""
    check: tuple[str, ...] = ()
    """A command that ends with 0 while the fix holds."""
    folder: str = ""
    """Where it is run."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the last run of a check came to: ``why`` is empty where the fix holds."""

    at: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Repeated:
    """One defect over all its sightings, and where it stands."""

    told: Told
    state: DefectState
    count: int
    sessions: tuple[str, ...]
    """One per root session that met it, the earliest first: ``agent/session``."""
    projects: int
    agents: Mapping[str, tuple[str, ...]]
    """Each agent's versions that met it."""
    models: tuple[str, ...]
    first: float | None
    last: float | None
    recent: int
    """How often in the last ``WINDOW`` days, and in as many before."""
    before: int
    since: int = 0
    """How often it came after it was said to be fixed."""
    decision: Decision | None = None
    checked: Checked | None = None

    @property
    def id(self) -> str:
        """The defect's id."""
        return self.told.id


def repeated(
    told: Iterable[Told],
    sightings: Iterable[Sighting],
    decided: Mapping[str, Sequence[Decision]],
    checked: Mapping[str, Checked],
    now: float,
    least: int = _TWO,
) -> tuple[Repeated, ...]:
    """Return the defects met in at least ``least`` sessions, and all that were decided about; those to act on first.

    What its proof needs must differ, too: two models, or two projects. A time that is yet to come is none: some clock
    was wrong.
    """
    met: dict[str, list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        to_come = sighting.at is not None and sighting.at > now + _DAY
        met[sighting.defect].append(replace(sighting, at=None) if to_come else sighting)
    found = []
    for one in told:
        decisions = decided.get(one.id, ())
        if met[one.id] and (decisions or _often(one, met[one.id], least)):
            last = decisions[-1] if decisions else None
            found.append(_counted(one, met[one.id], last, checked.get(one.id), now))
    order = (DefectState.BACK, DefectState.OPEN, DefectState.FIXED, DefectState.DISMISSED)
    return tuple(sorted(found, key=lambda one: (order.index(one.state), -one.recent, -one.count, one.id)))


def _often(told: Told, met: Sequence[Sighting], least: int) -> bool:
    if len({(one.agent, one.root) for one in met}) < least:
        return False
    if told.defect.proof is Proof.MODELS:
        return len({one.model for one in met if one.model}) >= _TWO
    return told.defect.proof is Proof.SESSIONS or len({one.project for one in met if one.project}) >= _TWO


def _counted(
    told: Told, met: Sequence[Sighting], decision: Decision | None, checked: Checked | None, now: float
) -> Repeated:
    ordered = sorted(met, key=lambda one: (one.at or 0.0, one.agent, one.root, one.place))
    times = [one.at for one in ordered if one.at is not None]
    versions: dict[str, set[str]] = defaultdict(set)
    for one in ordered:
        versions[one.agent] |= {one.version} if one.version else set()
    since = sum(against(decision, one) for one in ordered) if decision else 0
    return Repeated(
        told=told,
        state=_state(decision, since, checked),
        count=len(ordered),
        sessions=tuple(dict.fromkeys(f"{one.agent}/{one.root}" for one in ordered)),
        projects=len({one.project for one in ordered if one.project}),
        agents={name: tuple(sorted(versions[name], key=parts)) for name in sorted(versions)},
        models=tuple(sorted({one.model for one in ordered if one.model})),
        first=min(times, default=None),
        last=max(times, default=None),
        recent=sum(now - WINDOW * _DAY < at <= now for at in times),
        before=sum(now - 2 * WINDOW * _DAY < at <= now - WINDOW * _DAY for at in times),
        since=since,
        decision=decision,
        checked=checked if decision and decision.check else None,
    )


def _state(decision: Decision | None, since: int, checked: Checked | None) -> DefectState:
    if decision is None:
        return DefectState.OPEN
    if decision.kind is DecisionKind.DISMISSED:
        return DefectState.DISMISSED
    failed = bool(decision.check and checked and checked.why)
    return DefectState.BACK if since or failed else DefectState.FIXED


def against(decision: Decision, one: Sighting) -> bool:
    """Whether a sighting shows that a defect came again after it was said to be fixed."""
    if decision.kind is not DecisionKind.FIXED or one.at is None:
        return False
    if decision.version and one.version:
        return parts(one.version) >= parts(decision.version) and one.at > (decision.since or 0.0)
    return one.at > (decision.at if decision.since is None else decision.since)


def parts(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, in order, without zeros at the end: 2.10 comes after 2.9, and 3.0 is 3."""
    found = [int(number) for number in re.findall(r"\d{1,9}", version.partition("+")[0].partition("-")[0])]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def decisions_of(document: object) -> dict[str, tuple[Decision, ...]]:
    """Return what a file says was decided about each defect, the last decision last.

    Raises ``ValueError`` where any of it is not as ``as_document`` writes it: what is left out here would be lost when
    the next decision is written.
    """
    if not isinstance(document, dict) or not all(isinstance(rows, list) for rows in document.values()):
        raise ValueError("no decisions")
    try:
        return {str(id): tuple(map(_decision, rows)) for id, rows in document.items() if rows}
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError("no decisions") from error


def _decision(row: Any) -> Decision:
    since = None if row["since"] is None else float(row["since"])
    texts = (row["note"], row["version"], row["folder"], *row["check"])
    if not isinstance(row["check"], list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("no decision")
    note, version, folder, *check = texts
    return Decision(DecisionKind(row["kind"]), float(row["at"]), note, since, version, tuple(check), folder)


def as_document(decided: Mapping[str, Sequence[Decision]]) -> dict[str, Any]:
    """Return decisions as a file holds them."""
    return {id: [asdict(one) for one in rows] for id, rows in decided.items() if rows}
