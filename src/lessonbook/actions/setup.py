"""Connects coding agents to lessonbook by entries in their own files, and takes exactly those out again.

A plan says what each file would be; nothing is written before it is carried out. What a person wrote, also by hand
in our name, stays. A file that cannot be changed safely is left, with what to add by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from lessonbook.actions import setup_receipts
from lessonbook.actions.setup_entries import Agent, Entry, Wanted, Where
from lessonbook.actions.setup_receipts import Written, digest
from lessonbook.actions.setup_text import find, made_by, prune, put, take
from lessonbook.core.errors import StoreError
from lessonbook.core.value import Value
from lessonbook.system import config_text, files
from lessonbook.system.config_text import ConfigTextError
from lessonbook.system.links import remove_empty
from lessonbook.system.locks import locked

_UNKNOWN = "unknown"
_WAIT = 5.0


class Change(Value):
    """One file: its bytes now and afterwards (``None``: no file), and what the receipt will say of it."""

    path: Path
    now: bytes | None
    then: bytes | None
    row: Written
    forget: bool = False
    """Whether it goes back to what it was, so that nothing of ours is in it any more."""


class Plan(Value):
    """What would be done for one agent. ``notes`` say what is left alone and why; ``by_hand`` what a person can do."""

    agent: str
    title: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()


def present(agents: Iterable[Agent], where: Where) -> list[Agent]:
    """Return the agents found on this machine: their folder is there, or their program on the search path."""
    return [agent for agent in agents if is_present(agent, where)]


def is_present(agent: Agent, where: Where) -> bool:
    """Whether this agent is on this machine."""
    return agent.folder(where).is_dir() or any(where.search(program) for program in agent.programs)


def plan(agent: Agent, where: Where, wanted: Wanted, state: Path) -> Plan:
    """Return what setting ``agent`` up would change; no change where all is as it shall be.

    Raises ``StoreError`` where the receipt of an earlier set-up cannot be read.
    """
    earlier = setup_receipts.read(state, agent.name)
    by_file: dict[Path, list[Entry]] = {}
    for entry in agent.entries(where, wanted):
        by_file.setdefault(entry.path, []).append(entry)
    found = Plan(agent.name, agent.title, ())
    for path, entries in by_file.items():
        found = _planned(found, path, entries, earlier.get(path))
    for path, row in earlier.items():
        if path not in by_file:  # a newer version has it elsewhere, or the agent's folder moved
            found = _unplanned(found, row)
    return found


def removal(agent: Agent, where: Where, wanted: Wanted, state: Path) -> Plan:
    """Return what taking an agent's set-up back would change. Raises ``StoreError`` as ``plan`` does.

    Where no receipt is left, what bears our mark is ours; tables that only held it stay, empty.
    """
    found = Plan(agent.name, agent.title, ())
    rows = list(setup_receipts.read(state, agent.name).values())
    for row in rows or _unreceipted(agent.entries(where, wanted.but(prompt=True))):
        found = _unplanned(found, row)
    return found


def _unreceipted(entries: Iterable[Entry]) -> list[Written]:
    by_file: dict[Path, list[Entry]] = {}
    for entry in entries:
        by_file.setdefault(entry.path, []).append(entry)
    return [
        Written(path, _UNKNOWN, b"", tuple(ours), (), _top(path)) for path, ours in by_file.items() if path.exists()
    ]


def carry_out(made: Plan, state: Path) -> None:
    """Write what ``made`` says, whole or not at all: where a file cannot be written, those before it go back.

    Raises ``StoreError`` that names the file, also for one that changed since the plan was made, and ``BusyError``
    while another set-up runs.
    """
    with locked(state / "setup.lock", wait=_WAIT):
        _carry_out(made, state)


def _carry_out(made: Plan, state: Path) -> None:
    rows = setup_receipts.read(state, made.agent)
    after = dict(rows)
    for change in made.changes:
        after[change.path] = change.row
    # Known before it is done: were we killed in between, what was written could still be taken back.
    setup_receipts.write(state, made.agent, after)
    done: list[Change] = []
    try:
        for change in made.changes:
            _write(change)
            done.append(change)
    except StoreError:
        for change in reversed(done):
            _write(change.but(now=change.then, then=change.now))
        setup_receipts.write(state, made.agent, rows)
        raise
    for change in made.changes:
        if change.forget:
            del after[change.path]
    setup_receipts.write(state, made.agent, after)


def tidy(made: Plan) -> None:
    """Remove the folders a removal would have, had nothing else of ours, taken out since, been in them still."""
    for change in made.changes:
        if change.forget and change.then is None and change.row.top is not None:
            remove_empty(change.path.parent, up_to=change.row.top)


def _write(change: Change) -> None:
    def changed() -> bool:
        return files.read_bytes(change.path) != change.now

    sentence = f"{change.path} was changed by another program just now; nothing was written, try again."
    if change.now == change.then:
        return
    if changed():
        raise StoreError(sentence)
    if change.then is None:
        files.remove(change.path, up_to=change.row.top)
    elif not files.write_atomic(change.path, change.then, new_mode=0o600, unless=changed):
        raise StoreError(sentence)


def _planned(so_far: Plan, path: Path, entries: Sequence[Entry], row: Written | None) -> Plan:
    try:
        change, notes = _changed(path, entries, row)
    except (ConfigTextError, StoreError) as error:
        said = str(error) if isinstance(error, StoreError) else f"{path} {error}."
        hand = (by_hand(entry) for entry in entries)
        return so_far.but(problems=(*so_far.problems, said), by_hand=(*so_far.by_hand, *hand))
    changes = (change,) if change.now != change.then else ()
    return so_far.but(notes=(*so_far.notes, *notes), changes=(*so_far.changes, *changes))


def _changed(path: Path, entries: Sequence[Entry], row: Written | None) -> tuple[Change, list[str]]:
    now = files.read_bytes(path)
    before = now if row is None else _without_ours(now, row)
    known = {entry.what: entry for entry in row.entries} if row else {}
    then, notes = now, []
    made, kept = list(row.made if row else ()), []
    for what, old in known.items():
        if what not in {entry.what for entry in entries}:
            then = take(old, then, old.value)
            then = prune(old.form, then, made) if then is not None and old.form in config_text.EDITORS else then
    for entry in entries:
        old_value = known[entry.what].value if entry.what in known else None
        told = find(entry, then, old_value)
        if told.note:
            notes.append(f"{path} {told.note}")
            continue
        kept.append(entry)
        if told.state == "edited":
            notes.append(f"{path}: the {entry.what} entry was changed by hand; it is left as it is")
        elif told.state != "right":
            made += made_by(entry, then)
            then = put(entry, then, old_value)
    top = row.top if row else _top(path)
    return Change(
        path, now, then, Written(path, digest(then), before, tuple(kept), tuple(dict.fromkeys(made)), top)
    ), notes


def _unplanned(so_far: Plan, row: Written) -> Plan:
    try:
        now = files.read_bytes(row.path)
        then = _without_ours(now, row)
        left = [entry.what for entry in row.entries if find(entry, then, entry.value).state == "edited"]
    except (ConfigTextError, StoreError) as error:
        said = str(error) if isinstance(error, StoreError) else f"{row.path} {error}."
        return so_far.but(problems=(*so_far.problems, f"{said} Take our entries out of it by hand."))
    notes = [f"{row.path}: the {what} entry holds changes of yours; it is left as it is" for what in left]
    change = Change(row.path, now, then, row, forget=True)
    return so_far.but(notes=(*so_far.notes, *notes), changes=(*so_far.changes, change))


def _without_ours(now: bytes | None, row: Written) -> bytes | None:
    """Return the file without anything of ours: as it was before, where nobody else changed it since."""
    if digest(now) == row.written:
        return row.before
    data = now
    for entry in row.entries:
        data = take(entry, data, entry.value if row.written != _UNKNOWN else None)
    form = next((entry.form for entry in row.entries if entry.form in config_text.EDITORS), None)
    if data is not None and form is not None:
        data = prune(form, data, row.made)
    if data is None or row.before is not None:
        return data
    return None if _nothing_left(form, data, row) else data


def _nothing_left(form: str | None, data: bytes, row: Written) -> bool:
    """Whether a file that was not there before us holds nothing that somebody else put there."""
    if form is None:
        return not data.strip()
    held = config_text.parsed(form, data)
    needed = {keys[0]: value for entry in row.entries for keys, value in entry.fixed}
    return isinstance(held, dict) and all(key in needed and value == needed[key] for key, value in held.items())


def _top(path: Path) -> Path:
    return next(above for above in path.parents if above.is_dir())


def by_hand(entry: Entry) -> str:
    """Return what a person has to add themselves, and where."""
    if entry.form in ("text", "block"):
        return f"{entry.what}: put this into {entry.path}:\n{entry.value}"
    shown = json.dumps(entry.value, ensure_ascii=False, indent=2)
    place = f"in the list {entry.address}" if entry.item else f"as {entry.address}"
    return f"{entry.what}: put this into {entry.path}, {place}:\n{shown}"
