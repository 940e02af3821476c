"""What is said, and noted, at each event of a session; the same for every agent."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from time import time

from lessonbook.hosts.agents.agent import PROMPT, SESSION_END, SESSION_START, STOP, Dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lessonbook.system.settings import Places, Settings

    Said = tuple[str, list[str]]

SOURCES_SECONDS = 4.0
_NOTE_SECONDS = 1.5
_TRANSCRIPT = "transcript"
_BEGINS = ("startup", "clear", "new", None)
"""What a session says of its start when it is a new one; a resumed one began elsewhere."""


def text_for(event: str, agent: str, dialect: Dialect, data: Mapping[str, Any], learned: bool) -> Said:
    """Return what to say and notes for standard error. Raises whatever is broken."""
    return _EVENTS[event](agent, dialect, data, learned)


def _session_start(agent: str, dialect: Dialect, data: Mapping[str, Any], learned: bool) -> Said:
    """The briefing; meanwhile the repository's state is noted, and skills are brought up to date."""
    cwd = _cwd(dialect, data)
    notes_folder = _notes(agent, dialect, data)
    if _answered_by_another(agent, data) or (dialect.once and _said_before(notes_folder)):
        return "", []
    noting = Thread(target=_note_start, args=(notes_folder, cwd, data.get("source"), learned), daemon=True)
    noting.start()
    publishing = Thread(target=_bring_skills_up_to_date, daemon=True)
    publishing.start()
    delivering = Thread(target=_deliver_what_waits, daemon=True)
    delivering.start()
    from lessonbook.actions.brief import brief_here

    made = brief_here(cwd, now=time(), learned=learned, seconds=SOURCES_SECONDS)
    for thread in (noting, publishing, delivering):
        thread.join(_NOTE_SECONDS)
    return made.text, list(made.notes)


def _note_start(notes: Path | None, cwd: Path, source: object, learned: bool) -> None:
    """Note the repository, unless learning is off or the session began elsewhere. Whatever fails, fails alone."""
    if notes is None or not learned or source not in _BEGINS:
        return
    try:
        from lessonbook.actions.session_notes import note_start

        if _settings()[1].learning:
            note_start(notes, cwd)
    except Exception:  # noqa: BLE001  a thread beside the answer: nobody waits for what it says
        return


def _bring_skills_up_to_date() -> None:
    """Publish what was accepted, written or retired since; a look at a few times where nothing was."""
    try:
        where, settings = _settings()
        if not (where.state / "published.json").exists():
            return
        from lessonbook.actions.publishing import is_due, publish_all

        if is_due(where, settings):
            from lessonbook.actions.setup_entries import Where
            from lessonbook.hosts.agents.readers import readers
            from lessonbook.system.settings import environment

            publish_all(where, settings, readers(Where(where.home, environment(), lambda program: None), where.state))
    except Exception:  # noqa: BLE001  a thread beside the answer: `lessonbook skills publish` says what is wrong
        return


def _prompt(agent: str, dialect: Dialect, data: Mapping[str, Any], learned: bool) -> Said:
    from lessonbook.actions.prompt_recall import recall_for_prompt
    from lessonbook.core.briefing import REMINDER

    asked = dialect.asked(data)
    if not isinstance(asked, str) or asked.startswith(REMINDER):  # some agents take a reason to go on for a prompt
        return "", []
    return recall_for_prompt(_settings()[1], _cwd(dialect, data), asked), []


def _stop(agent: str, dialect: Dialect, data: Mapping[str, Any], learned: bool) -> Said:
    from lessonbook.actions import session_notes
    from lessonbook.actions.nudge import Marks, Turn, nudge

    notes = _notes(agent, dialect, data)
    if notes is None or not learned or _answered_by_another(agent, data):
        return "", []
    settings = _settings()[1]
    calls, path = data.get(dialect.count) if dialect.count else None, data.get(dialect.transcript)
    turn = Turn(
        calls if isinstance(calls, int) else None,
        Path(path) if isinstance(path, str) and path.startswith("/") and "\0" not in path else None,
        dialect.quiet(data),
    )
    _retain(settings, turn.transcript)
    if settings.learning and dialect.told_early and turn.transcript is not None:
        session_notes.remember(notes, _TRANSCRIPT, str(turn.transcript))
    return nudge(settings, notes, turn, Marks(dialect.turn, dialect.no_turn, dialect.call)), []


def _session_end(agent: str, dialect: Dialect, data: Mapping[str, Any], learned: bool) -> Said:
    from lessonbook.actions.session_notes import ASKED, clear_old, note_end, read

    notes = _notes(agent, dialect, data)
    where, settings = _settings()
    if notes is not None and settings.learning and learned:
        early = read(notes, ASKED).get(_TRANSCRIPT) if dialect.told_early else None
        told = {"transcript": data.get(dialect.transcript) or early, "cwd": str(_cwd(dialect, data))}
        note_end(notes, agent, str(data.get(dialect.session)), told, time())
        clear_old(where.state, time())
        _retain(settings, None)
    return "", []


def _retain(settings: Settings, transcript: Path | None) -> None:
    """Have what was said kept, where a person has asked for that: by another process, for nobody shall wait for it."""
    if not settings.hindsight.retain_sessions:
        return
    from lessonbook.system import background

    background.start(("outbox", "sessions", "--quiet", *([str(transcript)] if transcript else [])))


def _deliver_what_waits() -> None:
    """Have what earlier sessions left in the outbox delivered, by another process."""
    try:
        settings = _settings()[1]
        if settings.memory_backend not in ("hindsight", "postgres"):
            return
        _retain(settings, None)
        if not (settings.agent_dir / "outbox.db").exists():
            return
        from lessonbook.core.project import from_folder
        from lessonbook.memory.registry import open_memory
        from lessonbook.system import background

        memory: Any = open_memory(settings, from_folder("/"), time, "/")
        if memory.delivery.waiting():
            background.start(background.DELIVER)
        memory.close()
    except Exception:  # noqa: BLE001  a thread beside the answer: `lessonbook doctor` says what is wrong
        return


def _cwd(dialect: Dialect, data: Mapping[str, Any]) -> Path:
    from lessonbook.hosts.hooks_input import folder

    return folder(dialect.cwd(data))


def _notes(agent: str, dialect: Dialect, data: Mapping[str, Any]) -> Path | None:
    """The folder of the session's notes; ``None`` where the agent does not say which session it is."""
    session = data.get(dialect.session)
    if not isinstance(session, str) or not session:
        return None
    from lessonbook.actions.session_notes import session_folder
    from lessonbook.system.settings import places

    return session_folder(places().state, agent, session)


def _said_before(notes: Path | None) -> bool:
    """Whether the briefing was given in this session, for agents that ask before every turn; notes that it is now."""
    if notes is None:
        return False
    from lessonbook.actions import session_notes

    asked = session_notes.read(notes, session_notes.ASKED)
    if asked.get("briefed") is True:
        return True
    # Where it cannot be noted it is not said either: it would come again before every turn.
    return not session_notes.write(notes, session_notes.ASKED, {**asked, "briefed": True})


def _answered_by_another(agent: str, data: Mapping[str, Any]) -> bool:
    """Whether Cursor runs this, which runs Claude Code's hooks too, and has hooks of ours of its own."""
    if agent == "cursor" or "cursor_version" not in data:
        return False
    from lessonbook.system.settings import places

    return (places().state / "setup" / "cursor.json").exists()


def _settings() -> tuple[Places, Any]:
    from lessonbook.system.settings import load, places

    where = places()
    return where, load(where)


_EVENTS = {SESSION_START: _session_start, PROMPT: _prompt, STOP: _stop, SESSION_END: _session_end}
