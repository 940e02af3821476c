"""Schedules the night, says whether it is scheduled, and takes that back to what was there, byte for byte.

What stood in each place before is kept in ``schedule.json`` of the state folder, written before anything else is.
"""

from __future__ import annotations

import difflib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from lessonbook.core.errors import InputError, StoreError
from lessonbook.system import files
from lessonbook.system.locks import locked
from lessonbook.system.schedules.registry import timer
from lessonbook.system.schedules.timer import PASSED_ON, Spot, Timer, Wanted
from lessonbook.system.settings import Places

RECEIPT = "schedule.json"
AT = "03:30"
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\Z", re.ASCII)
_WAIT = 5.0


@dataclass(frozen=True, slots=True)
class Step:
    """One place and what becomes of it; ``None`` where nothing is, or is to be."""

    spot: Spot
    now: bytes | None
    then: bytes | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done. ``problems`` say what is left alone and why."""

    timer: Timer
    steps: tuple[Step, ...]
    at: str = ""
    problems: tuple[str, ...] = ()

    @property
    def diff(self) -> list[str]:
        """The steps as a unified diff."""
        return [line for step in self.steps for line in _diff(step)]


def wanted(words: tuple[str, ...], at: str, env: Mapping[str, str]) -> Wanted:
    """Return what is started every day at ``at`` (``HH:MM``). Raises ``InputError`` for a time there is not."""
    found = _TIME.match(at)
    if found is None:
        raise InputError(f"--at takes a time of the day such as {AT}, not {at!r}.")
    kept = {name: env[name] for name in PASSED_ON if env.get(name)}
    return Wanted((*words, "nightly"), int(found[1]), int(found[2]), kept)


def plan(places: Places, what: Wanted, kind: str = "") -> Plan:
    """Return what scheduling would write, by the timer ``kind``, else the one that was used, else what is here.

    Raises ``InputError`` where another kind is scheduled already, and as ``timer`` does.
    """
    receipt = _receipt(places)
    used = str(receipt.get("timer", ""))
    if used and kind and used != kind:
        raise InputError(f"the night is scheduled with {used}; `lessonbook schedule --remove` takes that back first.")
    one = timer(places, kind or used)
    steps = [Step(spot, now := spot.read(), spot.then(now)) for spot in one.spots(what)]
    at = f"{what.hour:02}:{what.minute:02}"
    return Plan(one, tuple(step for step in steps if step.now != step.then), at)


def carry_out(places: Places, made: Plan, what: Wanted) -> str | None:
    """Write a plan and tell the system; return what the system did not take. Raises ``StoreError``, ``BusyError``."""
    with locked(places.state / "schedule.lock", wait=_WAIT):
        receipt = _receipt(places)
        rows = dict(receipt.get("spots", {}))
        for spot in made.timer.spots(what):
            now = spot.read()
            then = spot.then(now)
            before = rows.get(spot.name, {}).get("before", _kept(now))
            rows[spot.name] = {"before": before, "written": _digest(then)}
        _keep(places, {"timer": made.timer.name, "at": made.at, "words": list(what.words), "spots": rows})
        for step in made.steps:
            step.spot.write(step.then)
        return made.timer.start()


def removal(places: Places) -> Plan | None:
    """Return what taking the schedule back would do; ``None`` where nothing is scheduled.

    A place that nobody touched goes back to its bytes; one that others write to as well loses our lines alone; one that
    is ours and was changed by hand stays, as a problem.
    """
    receipt = _receipt(places)
    if not receipt:
        return None
    one = timer(places, str(receipt["timer"]))
    steps, problems = list[Step](), list[str]()
    for spot in reversed(one.spots(_of(receipt))):
        row, now = receipt["spots"].get(spot.name), spot.read()
        if row is None or now is None:
            continue
        if _digest(now) == row["written"]:
            steps.append(Step(spot, now, _unkept(row["before"])))
        elif spot.without is not None:
            steps.append(Step(spot, now, spot.without(now)))
        else:
            problems.append(f"{spot.name} was changed by hand and stays; remove it yourself if it shall go")
    return Plan(one, tuple(step for step in steps if step.now != step.then), str(receipt["at"]), tuple(problems))


def take_back(places: Places, made: Plan) -> None:
    """Carry out a removal. Raises ``StoreError`` and ``BusyError``."""
    with locked(places.state / "schedule.lock", wait=_WAIT):
        made.timer.stop()
        for step in made.steps:
            step.spot.write(step.then)
        made.timer.stop()
        files.remove(places.state / RECEIPT)


def check(places: Places) -> tuple[str, list[str]]:
    """Return what is scheduled in a sentence (empty: nothing), and what is wrong with it."""
    receipt = _receipt(places)
    if not receipt:
        return "", []
    one, problems = timer(places, str(receipt["timer"])), list[str]()
    for spot in one.spots(_of(receipt)):
        now, row = spot.read(), receipt["spots"].get(spot.name, {})
        if now is None:
            problems.append(f"{spot.name} is gone")
        elif spot.without is not None:
            problems += [f"{spot.name} does not hold our lines any more"] if spot.without(now) == now else []
        elif _digest(now) != row.get("written"):
            problems.append(f"{spot.name} was changed by hand")
    program = Path(receipt["words"][0])
    if not program.exists():
        problems.append(f"{program} is not there any more; schedule it again")
    stopped = one.runs() if not problems else None
    return f"every day at {receipt['at']}, by {one.name}", [*problems, *([stopped] if stopped else [])]


def _of(receipt: Mapping[str, Any]) -> Wanted:
    """What was scheduled, as far as places and commands need it."""
    hour, _, minute = str(receipt["at"]).partition(":")
    return Wanted(tuple(receipt["words"]), int(hour), int(minute), {})


def _receipt(places: Places) -> dict[str, Any]:
    path = places.state / RECEIPT
    data = files.read_bytes(path)
    if data is None:
        return {}
    try:
        found = json.loads(data)
        if all(isinstance(found[name], kind) for name, kind in (("timer", str), ("at", str), ("spots", dict))):
            return {**found, "words": [str(word) for word in found["words"]] or ["?"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise StoreError(f"{path} is damaged: what was scheduled must be taken out by hand.")


def _keep(places: Places, receipt: Mapping[str, Any]) -> None:
    data = json.dumps(receipt, indent=1, ensure_ascii=False)
    files.write_atomic(places.state / RECEIPT, f"{data}\n".encode("utf-8", "replace"), new_mode=0o600)


def _kept(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _unkept(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _digest(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hexdigest()


def _diff(step: Step) -> list[str]:
    from lessonbook.core.redact import redact

    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (step.now, step.then))
    names = (step.spot.name if step.now is not None else "/dev/null", step.spot.name if step.then else "/dev/null")
    return redact("\n".join(difflib.unified_diff(old, new, *names, lineterm="", n=2))).text.split("\n")
