"""What a person decides about a defect, taken back as easily; and the checks that hold a fix to its word."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lessonbook.actions import health_drafts
from lessonbook.actions.health import known
from lessonbook.actions.health_folder import HealthFolder
from lessonbook.core.clean import clean_line
from lessonbook.core.compaction import scrubbed
from lessonbook.core.defects import Checked, Decision, DecisionKind, DefectState, Repeated
from lessonbook.core.errorline import error_line
from lessonbook.core.errors import InputError, ModelError, SetupError
from lessonbook.core.growth import Bounds
from lessonbook.core.redact import redact
from lessonbook.core.redact_names import Names
from lessonbook.core.screen import quoted
from lessonbook.system.programs import run
from lessonbook.system.settings import Places

CHECK_SECONDS = 60.0
"""How long one check may take."""
_SHORTEST = 3


def found(places: Places, bounds: Bounds, now: float, name: str) -> Repeated:
    """Return the defect whose id is or begins with ``name``. Raises ``InputError`` where there is none, or several."""
    every = known(places, bounds, now)
    fits = [one for one in every if one.id.startswith(name.lower())] if len(name) >= _SHORTEST else []
    if len(fits) != 1:
        why = f"there are {len(fits)} whose id begins so" if fits else "`lessonbook health` lists them"
        raise InputError(f"There is no one defect {quoted(name)}; {why}.")
    return fits[0]


def words(check: str) -> tuple[str, ...]:
    """Return the words of a check as a shell reads them. Raises ``InputError`` for none, and for one with a secret."""
    try:
        found = tuple(shlex.split(check))
    except ValueError as error:
        raise InputError(f"The check cannot be read as a command: {str(error).lower()}.") from error
    if not found or "\0" in check:
        raise InputError("The check is no command; give one that ends with 0 while the fix holds.")
    if redact(check).text != check:
        raise InputError("The check holds what looks like a secret; have it read that from a file or a variable.")
    return found


def decide(places: Places, bounds: Bounds, now: float, name: str, decision: Decision) -> Repeated:
    """Keep a decision about one defect and return how it stands then. Raises what ``found`` raises."""
    folder = HealthFolder(places.state)
    one = found(places, bounds, now, name)
    plain = replace(decision, note=redact(clean_line(decision.note)).text)
    with folder.alone():
        decided = folder.decisions()
        _keep(folder, one.id, {**decided, one.id: (*decided.get(one.id, ()), plain)})
    return _redrafted(places, bounds, now, one)


def undo(places: Places, bounds: Bounds, now: float, name: str) -> tuple[Decision, Repeated]:
    """Take back the last decision about one defect; return it, and how the defect stands then.

    Raises ``InputError`` where nothing was decided.
    """
    folder = HealthFolder(places.state)
    one = found(places, bounds, now, name)
    with folder.alone():
        decided = folder.decisions()
        rows = decided.get(one.id, ())
        if not rows:
            raise InputError(f"Nothing was decided about {one.id}.")
        _keep(folder, one.id, {**decided, one.id: rows[:-1]})
    return rows[-1], _redrafted(places, bounds, now, one)


def _keep(folder: HealthFolder, id: str, decided: Mapping[str, Sequence[Decision]]) -> None:
    """Keep decisions of which one about the defect ``id`` is other than before: what its check said is over."""
    folder.keep_decisions(decided)
    checked = folder.checked()
    if checked.pop(id, None) is not None:
        folder.keep_checked(checked)


def _redrafted(places: Places, bounds: Bounds, now: float, before: Repeated) -> Repeated:
    """How a defect stands after a decision, its draft written or taken away. Without any it may be below the bounds."""
    undecided = replace(before, state=DefectState.OPEN, decision=None, since=0)
    one = next((one for one in known(places, bounds, now) if one.id == before.id), undecided)
    folder = HealthFolder(places.state)
    with folder.alone():
        health_drafts.write(folder, [one])
    return one


def check(places: Places, bounds: Bounds, now: float, env: Mapping[str, str], name: str = "") -> tuple[Repeated, ...]:
    """Run the checks of all that was said to be fixed, or of one defect, and return how those stand then.

    Only commands that a person gave are run, as they gave them, in the folder they gave them in. Raises what ``found``
    raises, and ``InputError`` for a defect without a check.
    """
    folder = HealthFolder(places.state)
    one = found(places, bounds, now, name) if name else None
    fixed = [one] if one else list(known(places, bounds, now))
    last = {each.id: each.decision for each in fixed if each.decision and _has_check(each.decision)}
    if one and not last:
        raise InputError(f"{one.id} has no check; `lessonbook health fixed {one.id} --check CMD` gives it one.")
    told = {id: Checked(now, failure(decision, env)) for id, decision in last.items()}
    if told:
        with folder.alone():
            decided = folder.decisions()  # some may be decided otherwise meanwhile
            held = {id: one for id, one in told.items() if decided.get(id, ())[-1:] == (last[id],)}
            folder.keep_checked({**folder.checked(), **held})
    return tuple(each for each in known(places, bounds, now) if each.id in told)


def _has_check(decision: Decision) -> bool:
    return decision.kind is DecisionKind.FIXED and bool(decision.check)


def failure(decision: Decision, env: Mapping[str, str]) -> str:
    """Run a check and return why it failed, in a few words; empty where the fix holds."""
    if not Path(decision.folder).is_dir():
        return f"its folder {decision.folder} is not there any more"
    try:
        ended = run(decision.check, b"", timeout=CHECK_SECONDS, folder=Path(decision.folder), env=env)
    except (SetupError, ModelError) as error:
        return str(error).rstrip(".")
    if ended.code == 0:
        return ""
    said = error_line((ended.err or ended.out).decode("utf-8", "replace"))
    plain = Names().without(scrubbed(clean_line(said)), guess=True)
    return f"exit code {ended.code}{f': {plain}' if plain else ''}"
