"""Where the command was called: the folder it works on and the configuration it works by."""

from __future__ import annotations

from pathlib import Path

from lessonbook.core.errors import InputError
from lessonbook.system.settings import Places, Settings, load, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.core.ports import Chat


def folder(named: Path | None) -> Path:
    """Return the folder a person named, or the one they are in. Raises ``InputError`` where that one is gone."""
    try:
        return named.expanduser().absolute() if named is not None else Path.cwd()
    except (OSError, RuntimeError) as error:
        raise InputError("This folder no longer exists; go to another one or name one with --cwd.") from error


def typed(text: str) -> str:
    """Return an argument's text; bytes that the locale has no letters for are read as UTF-8, as terminals send it."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def setup() -> tuple[Places, Settings]:
    """Return where things live and what the configuration says. Raises ``SetupError`` for a broken configuration."""
    where = places()
    return where, load(where)


def editor(where: Places, settings: Settings, purpose: str) -> Chat:
    """Return what asks the editor model. Raises ``SetupError`` where none is configured."""
    from lessonbook.system.chat import ask_editor, needed

    if settings.editor is None:
        raise needed(where, purpose)
    return lambda prompt: ask_editor(prompt, where, purpose)
