"""Looks at everything that has to work, and says of each what is wrong and what to do about it. Changes nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lessonbook.actions import doctor_memory, doctor_night
from lessonbook.actions.check import Check, Level
from lessonbook.core.errors import BusyError, LessonbookError, SetupError
from lessonbook.system import git
from lessonbook.system.settings import Places, Settings, environment, load, read_toml

if TYPE_CHECKING:
    from lessonbook.book.repository import Book

GIT_NEEDED = (2, 30)
_HOOK_FILES = {"claude": ("settings.json", "settings.local.json"), "codex": ("hooks.json", "config.toml")}
"""Where each agent keeps its hooks, in the folder that its sessions are in as well."""


def examine(places: Places, cwd: Path, now: float) -> list[Check]:
    """Return every check, in the order to read them. Nothing is raised: a check that breaks is a problem itself."""
    checks = [*_tried("Python", _python), *_tried("git", _git), *_tried("settings", lambda: _settings(places))]
    try:
        settings = load(places)
    except LessonbookError:
        settings = Settings(agent_dir=places.data / "agent")
    checks += _tried("memory", lambda: doctor_memory.look(settings, cwd, now))
    checks += _tried("books", lambda: _books(places))
    checks += _tried("skills", lambda: _skills(places, settings, cwd))
    checks += _tried("agents", lambda: _agents(places, cwd))
    checks += _tried("briefing", lambda: _briefing(places, settings, cwd, now))
    checks += _tried("night", lambda: doctor_night.look(places, now))
    return checks


def _tried(what: str, look: Callable[[], Iterator[Check]]) -> list[Check]:
    done: list[Check] = []
    try:
        done.extend(look())
    except LessonbookError as error:
        done.append(Check(what, Level.PROBLEM, str(error)))
    except Exception as error:  # noqa: BLE001  one check that breaks must not hide what the others find
        done.append(Check(what, Level.PROBLEM, f"could not be looked at ({type(error).__name__}: {error})"))
    return done


def _python() -> Iterator[Check]:
    yield Check("Python", Level.FINE, f"{sys.version.split()[0]} at {sys.executable}")


def _git() -> Iterator[Check]:
    try:
        told = git.run(Path("/"), "version").decode("utf-8", "replace").strip()
    except SetupError as error:
        yield Check("git", Level.PROBLEM, str(error), "Install git, or put the folder it is in on PATH.")
        return
    version = tuple(int(part) for part in re.findall(r"\d+", told)[:2])
    if version < GIT_NEEDED:
        yield Check("git", Level.PROBLEM, f"{told} is too old", "Install git 2.30 or newer.")
    else:
        yield Check("git", Level.FINE, told)


def _settings(places: Places) -> Iterator[Check]:
    from lessonbook.actions.config import ABOUT, NO_SECRET, SECRETS, is_variable
    from lessonbook.memory.registry import BACKENDS

    try:
        settings = load(places)
    except LessonbookError as error:
        yield Check("settings", Level.PROBLEM, str(error), f"Correct {places.config_file}; it is never rewritten.")
        return
    there = places.config_file.exists()
    yield Check(
        "settings", Level.FINE, f"{places.config_file}{'' if there else ' (not there yet: the defaults count)'}"
    )
    named = settings.hindsight.token_env
    if named and not is_variable(named):
        yield Check("settings", Level.PROBLEM, "hindsight.token_env is not the name of a variable", NO_SECRET)
    for key in _keys(read_toml(places.config_file)):
        if key in SECRETS:
            yield Check("settings", Level.PROBLEM, f"{key} lies on the disk, and nothing reads it", NO_SECRET)
            continue
        near = get_close_matches(key, ABOUT, n=1, cutoff=0.75)
        if key not in ABOUT and near:
            yield Check("settings", Level.NOTE, f"{key} is not a setting", f"Did you mean {near[0]}?")
    if not settings.learning:
        yield Check("settings", Level.NOTE, "learning is off: nothing learned is briefed", "`lessonbook learned on`")
    if settings.memory_backend not in BACKENDS:
        said = f"memory.backend is {settings.memory_backend!r}, which there is not"
        yield Check("settings", Level.PROBLEM, said, f"Choose one of {', '.join(BACKENDS)}.")
    if settings.autolearn_enabled and settings.memory_backend == "off":
        said = "autolearn.enabled is on but memory.backend is off, so agents get no learn tool"
        yield Check("settings", Level.PROBLEM, said, "`lessonbook config set memory.backend mnemopi`")


def _keys(table: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _books(places: Places) -> Iterator[Check]:
    from lessonbook.actions.review import books

    for book in books(places):
        what = f"book {book.name}"
        yield from _tried(what, partial(_book, what, book.folder))


def _book(what: str, folder: Path) -> Iterator[Check]:
    from lessonbook.book.queue import candidates
    from lessonbook.book.repository import open_book

    book = open_book(folder)
    if book is None:
        yield _no_book(what, folder)
        return
    rows = candidates(folder)
    yield Check(what, Level.FINE, f"{folder}: {len(rows)} pending")
    yield from _text(what, book)
    if book.unfinished:
        yield Check(what, Level.NOTE, "an accept was cut off", "`lessonbook learned` finishes it.")
    stale = [row.id for row in rows if row.stale]
    if stale:
        yield Check(
            what, Level.NOTE, f"{len(stale)} pending no longer apply", f"`lessonbook learned reject {stale[0]}`"
        )
    yield from _lock(what, folder)


def _no_book(what: str, folder: Path) -> Check:
    if not folder.is_dir() or next(folder.iterdir(), None) is None:
        return Check(what, Level.FINE, f"{folder} is not there yet: nothing was proposed")
    said = f"{folder} holds files but no repository of its own, so none of it is briefed"
    return Check(what, Level.PROBLEM, said, f"`git -C {folder} init`, then commit what shall count.")


def _text(what: str, book: Book) -> Iterator[Check]:
    """Look at ``AGENTS.md`` and at what somebody edited and did not commit."""
    from lessonbook.book.content import AGENTS
    from lessonbook.book.head import read
    from lessonbook.book.sentences import LEARNED_MAX
    from lessonbook.book.working import uncommitted
    from lessonbook.system.gitbatch import read_tree
    from lessonbook.system.gitindex import read_index

    length = len(read(book.folder).agents)
    if length > LEARNED_MAX:
        said = f"AGENTS.md has {length:,} characters, past the {LEARNED_MAX:,} a book allows"
        yield Check(what, Level.PROBLEM, said, f"Shorten {book.folder / 'AGENTS.md'} and commit that.")
    tree = read_tree(book.folder, book.head) if book.head else {}
    dirty = uncommitted(book, read_index(book.folder), {AGENTS, *tree}, tree)
    if dirty:
        named = f"{', '.join(dirty[:5])}{f' and {len(dirty) - 5} more' if len(dirty) > 5 else ''}"
        do = f"Commit or discard that in {book.folder}: only what is committed is briefed."
        yield Check(what, Level.NOTE, f"uncommitted changes to {named}", do)


def _lock(what: str, folder: Path) -> Iterator[Check]:
    from lessonbook.book.queue import book_locked

    if not (folder.parent / f".{folder.name}.lock").exists():
        return
    try:
        with book_locked(folder, wait=0):
            pass
    except BusyError as error:
        yield Check(what, Level.NOTE, str(error), "Wait; deciding works again when it has finished.")


def _skills(places: Places, settings: Settings, cwd: Path) -> Iterator[Check]:
    from lessonbook.actions.catalogue import all_skills

    found = all_skills(places, settings, cwd)
    yield Check("skills", Level.FINE, f"{len(found.skills)} found")
    for problem in found.problems:
        yield Check("skills", Level.NOTE, f"{problem.path} {problem.reason}")


def _agents(places: Places, cwd: Path) -> Iterator[Check]:
    from lessonbook.actions.setup_receipts import known
    from lessonbook.transcripts.walk import default_roots

    roots = [(agent, Path(root)) for agent, root in default_roots(str(places.home), environment())]
    for agent, root in roots:
        yield Check("agents", Level.FINE, f"{agent} keeps its sessions in {root}")
    if not roots:
        do = "`lessonbook propose --from PATH` reads sessions from anywhere."
        yield Check("agents", Level.NOTE, "no sessions of an agent we can read were found", do)
    homes = {(agent, places.home / f".{agent}") for agent in _HOOK_FILES} | {
        (agent, root.parent) for agent, root in roots
    }
    briefed = {agent for agent, home in homes if _hooked(agent, home) or _hooked(agent, cwd / f".{agent}")}
    briefed.update(known(places.state))
    do = "`lessonbook setup` connects agents."
    for agent in sorted(briefed):
        yield Check("agents", Level.FINE, f"{agent} runs `lessonbook hook session-start`")
    for agent in sorted({agent for agent, _ in roots} - briefed if briefed else ()):
        yield Check(
            "agents", Level.NOTE, f"{agent} does not run `lessonbook hook session-start`: it is not briefed", do
        )
    if not briefed:
        yield Check("agents", Level.NOTE, "no agent runs `lessonbook hook session-start`, so none is briefed", do)


def _hooked(agent: str, folder: Path) -> bool:
    return any(b"lessonbook hook" in _bytes(folder / name) for name in _HOOK_FILES.get(agent, ()))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _briefing(places: Places, settings: Settings, cwd: Path, now: float) -> Iterator[Check]:
    from lessonbook.actions.brief import brief, brief_here

    # A bank that is used may be mended or brought up to date by that, and a doctor only looks.
    settled = doctor_memory.is_settled(settings)
    made = brief_here(cwd, now=now) if settled else brief(cwd, places, settings.but(memory_backend="off"), now=now)
    size = f"{made.characters:,} characters, about {made.tokens:,} tokens" if made.text else "nothing to say yet"
    left_out = f", {made.left_out} items left out" if made.left_out else ""
    without = "" if settled else ", without what is remembered"
    yield Check("briefing", Level.FINE, f"{size}{left_out}{without}")
    for note in made.notes:
        yield Check("briefing", Level.PROBLEM, note)
