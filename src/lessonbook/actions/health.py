"""Health: which defects of tools came again and again, how histories and our folders grow, whether fixes hold.

Of agents' histories only what is new since the last time is read. What was met is kept scrubbed, so that it still
counts when an agent has removed its sessions. Nothing is sent anywhere, and nothing that is not ours is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from lessonbook.actions import health_drafts
from lessonbook.actions.health_folder import HealthFolder
from lessonbook.actions.names import learn_names
from lessonbook.actions.night_folder import NIGHTS, WORK
from lessonbook.actions.sessions import Progress, Projects, Reading
from lessonbook.core.clean import bound, clean_line
from lessonbook.core.compaction import scrubbed
from lessonbook.core.defect import Defect, Sighting, Told, defect_of, said
from lessonbook.core.defects import Repeated, repeated
from lessonbook.core.growth import LEAST, Bounds, Measure, notices, per_day
from lessonbook.core.redact_names import Names
from lessonbook.core.session import Call, Session, Turn
from lessonbook.system.faults import point
from lessonbook.system.measuring import measured
from lessonbook.system.settings import Places
from lessonbook.system.sightings import Sightings, sightings
from lessonbook.transcripts.walk import default_roots

_SAID, _ASKED, _NAME = 1_200, 300, 100
_DAY = 86_400
_KEPT_DAYS = 365
"""For how long what was met counts."""


@dataclass(frozen=True, slots=True)
class Health:
    """What there is to say at one time."""

    at: float
    defects: tuple[Repeated, ...] = ()
    measure: Measure = field(default_factory=lambda: Measure(0.0))
    rates: Mapping[str, float] = field(default_factory=dict)
    """Bytes each agent adds in a day, where two measures tell."""
    notices: tuple[str, ...] = ()
    cleanable: Mapping[str, int] = field(default_factory=dict)
    """What of ours may go, with its bytes: the reason stands in the key."""
    sessions: int = 0
    """How many sessions held something that was not read before."""
    unread: Mapping[str, str] = field(default_factory=dict)


def look(
    paths: Sequence[Path] | None,
    places: Places,
    bounds: Bounds,
    *,
    env: Mapping[str, str],
    now: float,
    keep: bool = True,
    progress: Progress | None = None,
) -> Health:
    """Read what is new, and say how things stand. With ``paths`` these are read, whole, and nothing is kept of it.

    Without ``keep`` nothing is written: no draft, no measure, and the same is read again the next time. Raises
    ``InputError`` for a path that does not exist, ``BusyError`` where another reading goes on, and ``StoreError``.
    """
    folder = HealthFolder(places.state)
    keep = keep and paths is None
    with sightings(_kept_at(folder, keep, paths)) as store:
        new = _read(store, paths, places, env, progress)
        if paths is None:
            store.forget(now, _KEPT_DAYS * _DAY)
        point("health.read")
        if keep:
            store.cursors.commit()
            point("health.kept")
        told, met = store.told(), store.all()
    if paths is not None:
        defects = repeated(told, met, {}, {}, now, bounds.sessions)
        return replace(new, at=now, defects=defects)
    defects = repeated(told, met, folder.decisions(), folder.checked(), now, bounds.sessions)
    if keep:
        with folder.alone():
            health_drafts.write(folder, defects)
    return _measured(replace(new, at=now, defects=defects), folder, places, bounds, env, keep)


def known(places: Places, bounds: Bounds, now: float) -> tuple[Repeated, ...]:
    """Return the defects as they stand, without reading any session."""
    folder = HealthFolder(places.state)
    with sightings(folder.seen if folder.seen.exists() else None) as store:
        told, met = store.told(), store.all()
    return repeated(told, met, folder.decisions(), folder.checked(), now, bounds.sessions)


def _kept_at(folder: HealthFolder, keep: bool, paths: Sequence[Path] | None) -> Path | None:
    """The database to work on; none where nothing is known yet and nothing shall be written."""
    return folder.seen if paths is None and (keep or folder.seen.exists()) else None


def _read(
    store: Sightings,
    paths: Sequence[Path] | None,
    places: Places,
    env: Mapping[str, str],
    progress: Progress | None,
) -> Health:
    """Read what is new into the store, and return how much it was."""
    reading, projects, names = Reading(), Projects(), Names()
    new: dict[str, Told] = {}
    before = {one.id for one in store.told()}
    sessions = 0
    for session in reading.sessions(paths, places.home, env, progress, store.cursors):
        sessions += 1
        learn_names(session, names)
        for turn, place, call in _calls(session):
            if (defect := defect_of(call)) is None:
                continue
            store.see(_sighting(session, projects, turn, place, call, defect))
            if defect.id not in before and defect.id not in new:
                new[defect.id] = _told(defect, call)
    for one in new.values():  # now that all names are known
        store.tell(_nameless(one, names))
    return Health(0.0, sessions=sessions, unread=reading.unread)


def _calls(session: Session) -> Iterator[tuple[Turn, str, Call]]:
    """Every call with its turn, and what tells it from the session's other calls."""
    for turn in session.turns:
        for number, call in enumerate(turn.calls):
            yield turn, _digest(call.id or f"{turn.n}.{number}"), call


def _sighting(session: Session, projects: Projects, turn: Turn, place: str, call: Call, defect: Defect) -> Sighting:
    project = projects.of(session.cwd, session.repo)
    return Sighting(
        defect=defect.id,
        agent=session.agent,
        session=_named(session.id),
        place=place,
        root=_named(session.parent_id or session.id),
        version=_named(session.agent_version or ""),
        model=_named(session.model or ""),
        project=_digest(project.identity) if project else "",
        at=call.at or turn.started or session.started,
    )


def _named(text: str) -> str:
    """A name of a session, version or model as it is; where it holds what may not be kept, a digest tells it apart."""
    return text if len(text) <= _NAME and scrubbed(clean_line(text)) == text else _digest(text)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _told(defect: Defect, call: Call) -> Told:
    """What the first sighting said, and the names and types of what it was asked."""
    asked = ", ".join(f"{name}: {_type(value)}" for name, value in call.args.items())
    return Told(defect.id, defect, said(call), scrubbed(clean_line(asked)))


def _type(value: object) -> str:
    kinds = ((bool, "true or false"), (str, "text"), (int | float, "number"), (list, "list"), (dict, "object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "nothing")


def _nameless(one: Told, names: Names) -> Told:
    def without(text: str, most: int) -> str:
        return bound(names.without(text, guess=True), most)[0]

    defect = one.defect
    plain = Defect(defect.kind, names.without(defect.tool), without(defect.error, _ASKED), defect.proof)
    return Told(one.id, plain, without(one.said, _SAID), without(one.asked, _ASKED))


def _measured(
    health: Health, folder: HealthFolder, places: Places, bounds: Bounds, env: Mapping[str, str], keep: bool
) -> Health:
    """The same with sizes; they are kept where the last ones are old enough to tell a day's growth by."""
    agents: dict[str, list[Path]] = {}
    for agent, root in default_roots(str(places.home), env):
        agents.setdefault(agent, []).append(Path(root))
    sizes = {agent: measured(roots) for agent, roots in agents.items()}
    work = places.state / NIGHTS / WORK
    ours = {
        "books": measured([places.config]).bytes,
        "memory and skills": measured([places.data]).bytes,
        "notes and logs": measured([places.state], [work]).bytes,
        "work of the nights": measured([work]).bytes,
    }
    largest = {agent: (size.largest, size.largest_bytes) for agent, size in sizes.items()}
    now = Measure(health.at, {agent: size.bytes for agent, size in sizes.items()}, ours, largest)
    earlier = folder.measures(health.at)
    if keep and all(now.at - one.at >= LEAST * _DAY for one in earlier[-1:]):
        with folder.alone():
            folder.keep_measures([*earlier, now])
    rates = per_day(now, earlier)
    told = tuple(notices(now, rates, bounds))
    cleanable = dict(_cleanable(places, ours["work of the nights"]))
    return replace(health, measure=now, rates=rates, notices=told, cleanable=cleanable)


def _cleanable(places: Places, work: int) -> Iterator[tuple[str, int]]:
    if work:
        yield "work folders of nights: the night removes them (nightly.keep_days)", work
    for top in (places.data, places.state):
        for path in sorted([*top.glob("*.damaged*"), *top.glob("*/*.damaged*")]):
            yield f"{path}: set aside, remove it when you need it no more", measured([path]).bytes
