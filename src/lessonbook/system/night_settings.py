"""What ``config.toml`` says about the night: ``nightly``, ``agents.NAME``, ``judge``, ``prices."MODEL"``, ``health``.

Read by the night alone, so that no hook pays for it. Without ``nightly.agent`` nothing is replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lessonbook.core.agent_run import Network, Permission
from lessonbook.core.errors import InputError, SetupError
from lessonbook.core.growth import Bounds
from lessonbook.core.money import Price
from lessonbook.system.files import homed
from lessonbook.system.settings import Editor, Places, editor_of, load, read_toml

SAME = "same"
"""``nightly.agent`` for: each session by the agent it was of."""
_MOST_MB = 100_000_000


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """One agent's table."""

    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    model: str = ""
    reader: str = ""
    transcripts: str = ""
    run_dollars: float | None = None
    """The most one run may cost; needed where the agent does not stop by itself."""
    model_hosts: tuple[str, ...] = ()
    writes: tuple[str, ...] | None = None
    """What it may write to beside the folder of its run, and nothing else then; ``None`` leaves it to the agent."""


@dataclass(frozen=True, slots=True)
class NightSettings:
    """How a night is spent. Amounts are in dollars."""

    agent: str = ""
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    runs: int = 2
    """How often a request is run under the folder as it is (``k``)."""
    rounds: int = 3
    """How many sessions are tried in one night."""
    round_dollars: float = 2.0
    night_dollars: float = 5.0
    run_dollars: float = 0.5
    answer_dollars: float | None = None
    """What one answer of the editor or the judge costs at most, where its price is not known."""
    minutes: float = 120.0
    run_minutes: float = 10.0
    permission: Permission = Permission.EDIT
    network: Network = Network.MODEL
    keep_days: int = 7
    """How many days work folders stay."""
    editor: Editor | None = None
    judge: Editor | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    def of(self, agent: str) -> AgentSettings:
        """Return one agent's table; an empty one where there is none."""
        return self.agents.get(agent, AgentSettings())


def load_night(where: Places) -> NightSettings:
    """Return what the configuration says. Raises ``SetupError`` for what cannot be used, naming the key."""
    document = read_toml(where.config_file)
    night, known = _table(document, "nightly"), NightSettings()
    editor = load(where).editor
    judge = editor_of(_table(document, "judge"), "judge") or editor
    return NightSettings(
        agent=_text(night, "nightly.agent"),
        agents={name: _agent(document, name) for name in _table(document, "agents")},
        runs=int(_number(night, "nightly.runs", known.runs, 1, 10, whole=True)),
        rounds=int(_number(night, "nightly.rounds", known.rounds, 0, 100, whole=True)),
        round_dollars=_number(night, "nightly.round_dollars", known.round_dollars),
        night_dollars=_number(night, "nightly.night_dollars", known.night_dollars),
        run_dollars=_number(night, "nightly.run_dollars", known.run_dollars),
        answer_dollars=_maybe(night, "nightly.answer_dollars"),
        minutes=_number(night, "nightly.minutes", known.minutes, 1, 24 * 60),
        run_minutes=_number(night, "nightly.run_minutes", known.run_minutes, 0.01, 24 * 60),
        permission=Permission(_one_of(night, "nightly.permission", [*Permission], known.permission)),
        network=Network(_one_of(night, "nightly.network", [*Network], known.network)),
        keep_days=int(_number(night, "nightly.keep_days", known.keep_days, 0, 3650, whole=True)),
        editor=editor,
        judge=judge,
        prices={name: _price(document, name) for name in _table(document, "prices")},
    )


def load_health(where: Places) -> Bounds:
    """Return from what size on a person is told. Raises ``SetupError`` for what cannot be used, naming the key."""
    table, known = _table(read_toml(where.config_file), "health"), Bounds()
    return Bounds(
        agent_mb=_number(table, "health.agent_mb", known.agent_mb, 0, _MOST_MB),
        agent_mb_day=_number(table, "health.agent_mb_day", known.agent_mb_day, 0, _MOST_MB),
        file_mb=_number(table, "health.file_mb", known.file_mb, 0, _MOST_MB),
        own_mb=_number(table, "health.own_mb", known.own_mb, 0, _MOST_MB),
        sessions=int(_number(table, "health.sessions", known.sessions, 2, 1000, whole=True)),
    )


def _agent(document: Mapping[str, Any], name: str) -> AgentSettings:
    table, key = _table(_table(document, "agents"), name, f"agents.{name}"), f"agents.{name}"
    return AgentSettings(
        command=_words(table, f"{key}.command"),
        args=_words(table, f"{key}.args"),
        model=_text(table, f"{key}.model"),
        reader=_text(table, f"{key}.reader"),
        transcripts=_homed(folder, f"{key}.transcripts") if (folder := _text(table, f"{key}.transcripts")) else "",
        run_dollars=_maybe(table, f"{key}.run_dollars"),
        model_hosts=_words(table, f"{key}.model_hosts"),
        writes=_folders(table, f"{key}.writes"),
    )


def _price(document: Mapping[str, Any], name: str) -> Price:
    table, key = _table(_table(document, "prices"), name, f"prices.{name}"), f"prices.{name}"
    missing = [part for part in ("input", "output", "most_output") if part not in table]
    if missing:
        raise SetupError(f"{key} needs {' and '.join(missing)} in the configuration.")
    most = int(_number(table, f"{key}.most_output", 0, 1, 10_000_000, whole=True))
    return Price(_number(table, f"{key}.input", 0), _number(table, f"{key}.output", 0), most)


def _table(document: Mapping[str, Any], name: str, key: str = "") -> Mapping[str, Any]:
    found = document.get(name, {})
    if not isinstance(found, dict):
        raise SetupError(f"{key or name} must be a table in the configuration.")
    return found


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _text(table: Mapping[str, Any], key: str) -> str:
    found = table.get(_last(key), "")
    if not isinstance(found, str) or "\0" in found:
        raise SetupError(f"{key} must be text in the configuration, not {found!r}.")
    return found


def _words(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = table.get(_last(key), [])
    if not isinstance(found, list) or not all(isinstance(word, str) and word and "\0" not in word for word in found):
        raise SetupError(f"{key} must be a list of words in the configuration, not {found!r}.")
    return tuple(found)


def _folders(table: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    if _last(key) not in table:
        return None
    found = tuple(_homed(folder, key) for folder in _words(table, key))
    wrong = next((folder for folder in found if not Path(folder).is_absolute() or ":" in folder), None)
    if wrong is not None:
        raise SetupError(f"{key} must name folders from the root or from ~, without a colon, not {wrong!r}.")
    return found


def _homed(folder: str, key: str) -> str:
    try:
        return str(homed(Path(folder)))
    except InputError as error:
        raise SetupError(f"{key} cannot be used: {error}") from error


def _number(
    table: Mapping[str, Any], key: str, default: float, least: float = 0, most: float = 10_000, *, whole: bool = False
) -> float:
    found = table.get(_last(key), default)
    fits = isinstance(found, int if whole else (int, float)) and not isinstance(found, bool)
    if not fits or not least <= found <= most:
        kind = "a whole number" if whole else "a number"
        raise SetupError(f"{key} must be {kind} from {least:g} to {most:g} in the configuration, not {found!r}.")
    return float(found)


def _maybe(table: Mapping[str, Any], key: str) -> float | None:
    return _number(table, key, 0) if _last(key) in table else None


def _one_of(table: Mapping[str, Any], key: str, choices: list[Any], default: str) -> str:
    found = table.get(_last(key), default)
    if found not in choices:
        raise SetupError(f"{key} must be one of {', '.join(choices)} in the configuration, not {found!r}.")
    return str(found)
