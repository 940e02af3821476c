"""The one room that reads the environment and ``config.toml``.

Places follow the XDG base directory specification on every system, as the seed has it; ``LESSONBOOK_CONFIG`` names
another config file. Settings default to the seed's defaults: learning on, the ``learn`` tool off, no memory backend.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lessonbook.core.errors import SetupError, StoreError
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.core.value import Value
from lessonbook.system import toml_simple
from lessonbook.system.files import read_bytes
from lessonbook.system.server import Hindsight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.core.route import Route


class Places(Value):
    """Where things live on this machine. ``config`` holds the books; ``state`` cursors and logs."""

    home: Path
    config_file: Path
    config: Path
    data: Path
    state: Path

    @property
    def learned(self) -> Path:
        """The global book."""
        return self.config / "learned"


PROPOSERS = ("repeats", "procedures", "recorded")
"""Which proposers run where nothing else is said: those that ask no model."""


class Editor(Value):
    """The editor model: a command that reads the prompt on standard input, or an OpenAI-compatible address."""

    command: tuple[str, ...] = ()
    url: str = ""
    """The base address, such as ``http://localhost:11434/v1``; empty where ``command`` is used."""
    model: str = ""
    key_env: str = ""
    """The environment variable that holds the key; empty where the address needs none."""
    timeout: float = 300.0
    """Seconds one answer may take."""


class Settings(Value):
    """What ``config.toml`` says, with the defaults filled in."""

    agent_dir: Path
    learning: bool = True
    autolearn_enabled: bool = False
    autolearn_review: bool = False
    autolearn_min_tool_calls: int = 5
    recall_on_prompt: bool = False
    memory_backend: str = "off"
    memory_scoping: str = "per-project-tagged"
    hindsight_url: str | None = None
    hindsight: Hindsight = Hindsight()
    postgres_url: str | None = None
    postgres_team: str = "team"
    review_name: str | None = None
    review_email: str | None = None
    editor: Editor | None = None
    routes: tuple[Route, ...] = ()
    proposers: tuple[str, ...] = PROPOSERS
    propose_cores: str = "auto"
    propose_cluster: str = ""


def environment() -> dict[str, str]:
    """Return a copy of this process's environment, for the few who must pass one on."""
    return dict(os.environ)


def debug_asked() -> bool:
    """Whether this process shall show the details of unexpected errors: ``LESSONBOOK_DEBUG`` is set and not 0."""
    return os.environ.get("LESSONBOOK_DEBUG", "") not in ("", "0")


def completion_asked() -> bool:
    """Whether a shell runs this process to complete a command line, as argcomplete's scripts do."""
    return "_ARGCOMPLETE" in os.environ


def mcp_token() -> str:
    """Return the token that clients of ``lessonbook mcp --http`` must hold: ``LESSONBOOK_MCP_TOKEN``, or ``""``."""
    return os.environ.get("LESSONBOOK_MCP_TOKEN", "")


def places(env: Mapping[str, str] | None = None) -> Places:
    """Return where things live, from ``env`` (this process's environment by default)."""
    env = os.environ if env is None else env
    home = _home(env)
    config = _base(env, "XDG_CONFIG_HOME", home / ".config")
    named = env.get("LESSONBOOK_CONFIG")
    return Places(
        home=home,
        config_file=_expand(named, home) if named else config / "config.toml",
        config=config,
        data=_base(env, "XDG_DATA_HOME", home / ".local" / "share"),
        state=_base(env, "XDG_STATE_HOME", home / ".local" / "state"),
    )


def moving(env: Mapping[str, str]) -> dict[str, str]:
    """Return what of an environment moves our folders, as ``places`` reads it; nothing where none is moved."""
    home = _home(env)
    named = env.get("LESSONBOOK_CONFIG")
    found = {"LESSONBOOK_CONFIG": str(_expand(named, home).absolute())} if named else {}
    for name, below in (("CONFIG", ".config"), ("DATA", ".local/share"), ("STATE", ".local/state")):
        value = env.get(f"XDG_{name}_HOME", "")
        if value.startswith("/") and Path(value) != home / below:
            found[f"XDG_{name}_HOME"] = value
    return found


def load(where: Places) -> Settings:
    """Return the settings of ``where.config_file``; the defaults where there is no such file.

    Raises ``SetupError`` where it cannot be read, is not TOML, or holds a value of the wrong type.
    """
    return parse(read_toml(where.config_file), where)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the parsed file, ``{}`` where it is missing. A byte order mark is accepted. Raises ``SetupError``."""
    try:
        data = read_bytes(path) or b""
    except StoreError as error:
        raise SetupError(str(error)) from error
    try:
        text = data.decode("utf-8-sig")
        found = toml_simple.parse(text)
        if found is not None:
            return found
        import tomllib  # here, as hooks, most commands and every listing of the queue do without it

        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{path} is not valid TOML: {error}.") from error


def reviewer(config_file: Path, env: Mapping[str, str] | None = None) -> Reviewer:
    """Return who reviews here: ``LESSONBOOK_REVIEWER`` (``Ana <ana@example.org>``), else ``[review]``, else ourselves.

    The person's git configuration is never read. Raises ``SetupError`` where ``config_file`` cannot be read, is not
    TOML, or holds values of the wrong type there.
    """
    from lessonbook.core import reviewer as people

    told = people.parse((os.environ if env is None else env).get("LESSONBOOK_REVIEWER", ""))
    if told is None:
        table = _table(read_toml(config_file), "review")
        told = people.reviewer(_text(table, "review.name", ""), _text(table, "review.email", ""))
    return told or TOOL


def editor(env: Mapping[str, str] | None = None) -> str:
    """Return the command line of the person's editor, ``VISUAL`` before ``EDITOR``; ``""`` where neither is set."""
    env = os.environ if env is None else env
    return env.get("VISUAL", "").strip() or env.get("EDITOR", "").strip()


def parse(table: Mapping[str, Any], where: Places) -> Settings:
    """Return the settings a parsed config holds. Unknown keys are left alone; raises ``SetupError`` for wrong types."""
    autolearn, memory, hindsight = (_table(table, name) for name in ("autolearn", "memory", "hindsight"))
    review, postgres, propose = (_table(table, name) for name in ("review", "postgres", "propose"))
    return Settings(
        agent_dir=_agent_dir(_text(table, "agent_dir", ""), where),
        learning=_flag(table, "learning", True),
        autolearn_enabled=_flag(autolearn, "autolearn.enabled", False),
        autolearn_review=_flag(autolearn, "autolearn.review", False),
        routes=_routes(_table(table, "findings")),
        proposers=_words(propose, "propose.proposers", PROPOSERS),
        propose_cores=_cores(propose.get("cores", "auto")),
        propose_cluster=_text(propose, "propose.cluster", ""),
        autolearn_min_tool_calls=_count(autolearn, "autolearn.min_tool_calls", 5),
        recall_on_prompt=_flag(_table(table, "recall"), "recall.on_prompt", False),
        memory_backend=_text(memory, "memory.backend", "off"),
        memory_scoping=_text(memory, "memory.scoping", "per-project-tagged"),
        hindsight_url=_text(hindsight, "hindsight.url", "") or None,
        hindsight=_hindsight(hindsight),
        postgres_url=_text(postgres, "postgres.url", "") or None,
        postgres_team=_text(postgres, "postgres.team", "team"),
        review_name=_text(review, "review.name", "") or None,
        review_email=_text(review, "review.email", "") or None,
        editor=editor_of(_table(table, "editor"), "editor"),
    )


def _hindsight(table: Mapping[str, Any]) -> Hindsight:
    told: dict[str, Any] = {}
    for name, default in Hindsight._defaults.items():
        read: Any = _flag if isinstance(default, bool) else _count if isinstance(default, int) else _text
        told[name] = read(table, f"hindsight.{name}", default)
    return Hindsight(**told)


def editor_of(table: Mapping[str, Any], name: str) -> Editor | None:
    """Return the model that the table ``name`` describes; ``None`` for an empty one. Raises ``SetupError``."""
    if not table:
        return None
    command, timeout = table.get("command", []), table.get("timeout", 300)
    if not isinstance(command, list) or not all(isinstance(part, str) and part for part in command):
        raise SetupError(f'{name}.command must be a list of words in the configuration, such as ["claude", "-p"].')
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 3600:
        raise SetupError(f"{name}.timeout must be a number of seconds up to 3600, not {timeout!r}.")
    url, model, key = (_text(table, f"{name}.{field}", "") for field in ("url", "model", "key_env"))
    if bool(command) == bool(url):
        raise SetupError(f"{name} needs either command or url in the configuration, not both.")
    if url and not model:
        raise SetupError(f"{name}.model must name the model to ask at {name}.url in the configuration.")
    if command and (model or key):
        raise SetupError(f"{name}.model and {name}.key_env belong to {name}.url; put the model into {name}.command.")
    return Editor(tuple(command), url, model, key, float(timeout))


def _words(table: Mapping[str, Any], name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = table.get(name.rpartition(".")[2], list(default))
    if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
        raise SetupError(f'{name} must be a list of words in the configuration, such as ["{default[0]}"].')
    return tuple(dict.fromkeys(value))


def _cores(value: object) -> str:
    if value in ("auto", "all") or (type(value) is int and 0 < value < 1_000):
        return str(value)
    raise SetupError(f'propose.cores is a number of cores, "all" or "auto" in the configuration, not {value!r}.')


def _routes(table: Mapping[str, Any]) -> tuple[Route, ...]:
    if not table:  # as nearly always: hooks do without what reads it
        return ()
    from lessonbook.system.settings_findings import routes

    return routes(table)


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or Path("~").expanduser())


def _base(env: Mapping[str, str], name: str, default: Path) -> Path:
    # The XDG specification: a relative path in one of these variables is invalid and must be ignored.
    value = env.get(name, "")
    return (Path(value) if value.startswith("/") else default) / "lessonbook"


def _expand(text: str, home: Path) -> Path:
    return home / text[2:] if text == "~" or text.startswith("~/") else Path(text)


def _agent_dir(text: str, where: Places) -> Path:
    folder = _expand(text, where.home) if text else where.data / "agent"
    if (text and not folder.is_absolute()) or "\0" in text:
        raise SetupError(f"agent_dir must start with / or ~/ in the configuration, not be {text!r}.")
    return folder


def _table(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = table.get(name, {})
    if not isinstance(value, dict):
        raise SetupError(f"{name} must be a table in the configuration.")
    return value


def _flag(table: Mapping[str, Any], name: str, default: bool) -> bool:
    value = table.get(name.rpartition(".")[2], default)
    if not isinstance(value, bool):
        raise SetupError(f"{name} must be true or false in the configuration, not {value!r}.")
    return value


def _count(table: Mapping[str, Any], name: str, default: int) -> int:
    value = table.get(name.rpartition(".")[2], default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10_000:
        raise SetupError(f"{name} must be a whole number from 1 to 10000 in the configuration, not {value!r}.")
    return value


def _text(table: Mapping[str, Any], name: str, default: str) -> str:
    value = table.get(name.rpartition(".")[2], default)
    if not isinstance(value, str):
        raise SetupError(f"{name} must be text in the configuration, not {value!r}.")
    return value
