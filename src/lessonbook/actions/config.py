"""Reads and changes the settings in ``config.toml``, one at a time, and never to something that is not understood."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote
from typing import Any

from lessonbook.core.errors import InputError, SetupError
from lessonbook.core.redact import redact
from lessonbook.core.screen import quoted
from lessonbook.memory.registry import BACKENDS, SCOPINGS
from lessonbook.system.settings import Editor, Places, Settings, parse, read_toml

_YES = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}

SECRETS = ("hindsight.token", "hindsight.api_key", "hindsight.api_token", "hindsight.password", "postgres.password")
"""What people may write there and nothing reads: a secret would lie on the disk."""
NO_SECRET = (
    "No secret goes into the settings: a Hindsight server's token belongs in LESSONBOOK_HINDSIGHT_TOKEN or behind "
    "hindsight.credential_helper, PostgreSQL's password in PGPASSWORD or ~/.pgpass."
)
ABOUT: Mapping[str, str] = {
    "learning": "whether learned rules and skills are briefed (true or false)",
    "agent_dir": "the agent folder: memories, managed skills, the bank",
    "autolearn.enabled": "whether agents are offered the learn tool (true or false)",
    "autolearn.review": "whether a skill an agent writes waits for review (true or false)",
    "autolearn.min_tool_calls": "how many calls of tools a turn needs before the agent is asked what it learned",
    "recall.on_prompt": "whether hooks recall lessons for every prompt (true or false)",
    "memory.backend": f"where lessons are kept: {', '.join(BACKENDS)}",
    "memory.scoping": f"which lessons a project recalls: {', '.join(SCOPINGS)}",
    "hindsight.url": "the address of a Hindsight server",
    "hindsight.bank": "its bank, or what the banks of projects start with",
    "hindsight.token_env": "the environment variable that holds its token",
    "hindsight.credential_helper": "or a command that prints the token",
    "hindsight.allow_http": "whether the token may go to another machine unencrypted (true or false)",
    "hindsight.retain_mission": "what the server is to look for in what it is given",
    "hindsight.reflect_mission": "what the server is to bear in mind when it answers in its own words",
    "hindsight.recall_seconds": "how long a search may take",
    "hindsight.retain_seconds": "how long handing over may take, in the background",
    "hindsight.reflect_seconds": "how long an answer in its own words may take",
    "hindsight.list_seconds": "how long the start of a session waits for the newest lessons",
    "hindsight.retain_sessions": "whether what is said in sessions is kept there too (true or false)",
    "postgres.url": "the address of a PostgreSQL server and its database, without a password",
    "postgres.team": "whose lessons there: the schema lessonbook_TEAM",
    "propose.proposers": "which ways of finding lessons `propose` uses (set in the file)",
    "propose.cores": "how many cores read sessions: auto (all, where they are many), all, or a number",
    "propose.cluster": "or the address of a Dask cluster that does (extra cluster)",
    "review.name": "who accepts and edits candidates: the name their commits carry",
    "review.email": "and the e-mail address",
    "editor.command": "the editor model: a command that reads the prompt on standard input (set in the file)",
    "editor.url": "or its OpenAI-compatible address (set in the file)",
    "editor.model": "and its name there (set in the file)",
    "editor.key_env": "the environment variable that holds the key (set in the file)",
    "editor.timeout": "how many seconds one answer of it may take (set in the file)",
}
"""Every setting, in the order it is listed, and what it does."""
_CHOICES: Mapping[str, Collection[str]] = {"memory.backend": BACKENDS, "memory.scoping": SCOPINGS}
_OF_THE_NIGHT = ("nightly", "agents", "judge", "prices", "health")
"""Tables that only the night reads."""
_BY_HAND = (
    '{key} is set by hand, in {file}: a table [editor] with command = ["claude", "-p"], or with url and model '
    "(and key_env, timeout)."
)


@dataclass(frozen=True, slots=True)
class Item:
    """One setting: its value, and whether the file sets it or it is the default."""

    key: str
    value: bool | int | str | None
    is_set: bool
    about: str


def listed(places: Places) -> list[Item]:
    """Return every setting. Raises ``SetupError`` where the file cannot be read or holds a wrong value."""
    table = read_toml(places.config_file)
    settings = parse(table, places)
    return [Item(key, _value(settings, key), _lookup(table, key) is not None, about) for key, about in ABOUT.items()]


def get(places: Places, key: str) -> Item:
    """Return one setting. Raises ``InputError`` for an unknown key, ``SetupError`` like ``listed``."""
    _known(key)
    return next(item for item in listed(places) if item.key == key)


def change(places: Places, key: str, text: str) -> Item:
    """Set one setting to what ``text`` says and return it; comments and order of the file stay.

    Raises ``InputError`` for an unknown key or a value the key cannot have, ``SetupError`` where the file is not
    valid TOML; the file is as it was then.
    """
    from lessonbook.system.config_edit import set_value

    _known(key)
    if key == "propose.proposers":
        raise InputError(f'{key} is set by hand, in {places.config_file}: [propose] with proposers = ["repeats"].')
    if key.startswith("editor."):  # a list, or several that are only understood together
        raise InputError(_BY_HAND.format(key=key, file=places.config_file))
    value = _typed(places, key, text)
    set_value(places.config_file, key, value)
    return get(places, key)


def note(places: Places, item: Item) -> str:
    """Return what a person has to know of the value a setting has now; ``""`` for nothing."""
    needed = BACKENDS[str(item.value)].needs if item.key == "memory.backend" else ""
    if not needed or get(places, needed).value:
        return ""
    return f"no lesson can be kept or recalled before {needed} is set: `lessonbook config set {needed} ADDRESS`"


def shown(value: bool | int | str | None) -> str:
    """Return a value as a person writes it on the command line."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def values(key: str) -> list[str]:
    """Return every value a setting can have; none where it can have any, or is not there."""
    if key in _CHOICES:
        return list(_CHOICES[key])
    return ["true", "false"] if "(true or false)" in ABOUT.get(key, "") else []


def _typed(places: Places, key: str, text: str) -> bool | int | str:
    value: bool | int | str = text
    known = _value(Settings(agent_dir=places.data), key)
    if isinstance(known, int) and not isinstance(known, bool):
        if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= 10_000):
            raise InputError(f"{key} is a whole number from 1 to 10000, not {quoted(text)}.")
        return int(text)
    if isinstance(known, bool):
        if text.lower() not in _YES:
            raise InputError(f"{key} is true or false, not {quoted(text)}.")
        value = _YES[text.lower()]
    if key in _CHOICES and text not in _CHOICES[key]:
        raise InputError(f"{key} is one of {', '.join(_CHOICES[key])}, not {quoted(text)}.")
    if isinstance(value, str) and not value.strip():
        raise InputError(f"{key} cannot be empty.")
    if key == "propose.cores":
        value = int(text) if text.isascii() and text.isdecimal() else text
        if value not in ("auto", "all") and not (isinstance(value, int) and 0 < value < 1_000):
            raise InputError(f"propose.cores is a number of cores, all or auto, not {quoted(text)}.")
    if key == "agent_dir" and text != "~" and not text.startswith(("/", "~/")):
        raise InputError(
            f"agent_dir must start with / or ~/, so that it means the same folder everywhere; not {quoted(text)}."
        )
    if key == "propose.cluster":
        from lessonbook.system.cluster import checked

        try:
            checked(text)
        except SetupError as error:
            raise InputError(str(error)) from error
    _check_server(key, text)
    return value


def _check_server(key: str, text: str) -> None:
    """Refuse what no server's setting can be, and above all what holds a secret. Raises ``LessonbookError``."""
    if key == "hindsight.url":
        if not text.startswith(("http://", "https://")):
            raise InputError(f"hindsight.url must start with http:// or https://, not {quoted(text)}.")
        from lessonbook.system.http import check_address

        check_address(text, key)
    elif key in ("postgres.url", "postgres.team"):
        from lessonbook.memory.postgres import connection

        connection.check_address(text) if key == "postgres.url" else connection.check_team(text)
    elif key == "hindsight.token_env" and not is_variable(text):
        raise InputError("hindsight.token_env names the environment variable that holds the token, and is never it.")
    elif key == "hindsight.credential_helper" and redact(text).text != text:
        raise InputError("hindsight.credential_helper names a command that prints the token, and never holds it.")


def is_variable(text: str) -> bool:
    """Whether a text can be the name of an environment variable; a token can be one too, but looks otherwise."""
    is_short = len(text) <= 24 or text.upper() == text
    return bool(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", text)) and is_short and redact(text).text == text


def _known(key: str) -> None:
    if key in SECRETS:
        raise InputError(NO_SECRET)
    if key.partition(".")[0] in _OF_THE_NIGHT:
        raise InputError(f"{key} is not shown or set here: write it into the file by hand (docs/nightly.md says how).")
    if key not in ABOUT:
        near = get_close_matches(key[:40], ABOUT, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(ABOUT)}."
        raise InputError(f"There is no setting {quoted(key)}; {hint}")


def _value(settings: Settings, key: str) -> bool | int | str | None:
    section, _, name = key.partition(".")
    if section == "editor":
        return _editor_value(settings.editor, name)
    if section == "hindsight" and name != "url":
        told: bool | int | str = getattr(settings.hindsight, name)
        return None if told == "" else told
    if key == "propose.proposers":
        return ", ".join(settings.proposers)
    value = getattr(settings, key.replace(".", "_"))
    return value if value is None or isinstance(value, int) else str(value)


def _editor_value(editor: Editor | None, name: str) -> str | None:
    if editor is None:
        return None
    if name == "command":
        return " ".join(map(quote, editor.command)) or None
    return f"{editor.timeout:g}" if name == "timeout" else str(getattr(editor, name)) or None


def _lookup(table: Mapping[str, Any], key: str) -> Any:
    found: Any = table
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
