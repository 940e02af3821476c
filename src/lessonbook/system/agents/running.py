"""Runs one agent to its end: alone, under a deadline, with bounded output, and nothing of it left alive afterwards.

A guard (``guard.py``) stands between: it kills all the agent started at its end, at the deadline, and where we are
killed ourselves.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from lessonbook.core.agent_run import Network, Ran, Task
from lessonbook.core.errors import ModelError, SetupError
from lessonbook.core.ports import AgentRunner
from lessonbook.system.agents import guard
from lessonbook.system.git import EMAIL, NAME
from lessonbook.system.links import make_link
from lessonbook.system.programs import run
from lessonbook.system.settings import environment

OUTPUT = 64 << 20
"""Bytes an agent may write; more ends it."""
_NOTICE = 12.0
_GUARD = (sys.executable, "-I", "-S", guard.__file__)
ANYWHERE = "anywhere"
"""What the guard is told for an agent that is not kept to the folder of its run."""
_PROMPT_MOST = 100_000
_NOWHERE = "http://127.0.0.1:9"
"""Where nothing answers: what programs are told to go through that have no business outside."""
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_LOCAL = ("127.0.0.1", "localhost", "::1")
_NESTED = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID", "CLAUDE_PROJECT_DIR")
"""What an agent that started us told its children about itself."""
_OFFLINE = {
    "PIP_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "npm_config_offline": "true",
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_SSH_COMMAND": "false",
}
_GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": NAME,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": NAME,
    "GIT_COMMITTER_EMAIL": EMAIL,
}
_OFF = 'learning = false\n[autolearn]\nenabled = false\n[memory]\nbackend = "off"\n'
"""The configuration of lessonbook inside a replay: an agent that is connected to it gets nothing, and keeps nothing."""


def run_agent(agent: AgentRunner, task: Task, hosts: tuple[str, ...] = ()) -> Ran:
    """Run ``task`` and return how it ended; what went wrong is in its ``problem``. ``hosts`` are more of its model's.

    Raises ``InputError`` for a task the agent cannot be given, and ``SetupError`` where it, or the network namespace
    that was asked for, cannot be had.
    """
    words = list(agent.words(task))
    if max(map(len, words)) > _PROMPT_MOST:
        return Ran(problem=f"{agent.name} takes its prompt as an argument, and this one is too long for that.")
    ways = ways_out(agent, task, hosts)
    places = _settled(agent, task)
    own = [*_GUARD, f"{task.seconds:g}", "open" if ways is None else ",".join(ways), places, *words]
    started, env = time.monotonic(), surroundings(agent, task, hosts)
    try:
        ended = run(
            own,
            agent.data(task),
            timeout=task.seconds + _NOTICE,
            folder=Path(task.folder),
            env=env,
            most=OUTPUT,
            notice=_NOTICE,
        )
    except ModelError as error:
        return Ran(problem=str(error), seconds=time.monotonic() - started)
    out, err = (data.decode("utf-8", "replace") for data in (ended.out, ended.err))
    if ended.code in (guard.NO_NAMESPACE, guard.NOT_THERE) and not out:
        raise SetupError(f"{agent.name} could not be run: {err.strip()}.")
    ran = agent.told(task, ended.code, out, err)
    if ended.code == guard.LATE:
        ran = replace(ran, problem=f"{agent.name} was not done within {task.seconds:g} seconds, and was ended.")
    return replace(ran, seconds=time.monotonic() - started)


def _settled(agent: AgentRunner, task: Task) -> str:
    """Make the folder of the agent's own for the run, and return the places it may write to, for the guard.

    Raises ``SetupError`` where the person says what those are, and this system cannot keep it to them.
    """
    apart = agent.apart(task, environment())
    if apart is None:
        return ANYWHERE
    for link, place in apart.links:
        make_link(Path(link), Path(place))
    above = Path(task.scratch).parent
    own = (str(above),) if Path(task.folder).is_relative_to(above) else (task.folder, task.scratch)
    places = (*own, *apart.writes)
    odd = next((place for place in places if ":" in place), None)
    if can_keep() and odd is None:
        return ":".join(places)
    if agent.writes is not None:
        takes = "that takes Linux 5.12 or later which lets us make namespaces"
        why = takes if odd is None else f"the name of {odd} holds a colon"
        raise SetupError(f"{agent.name} cannot be kept to what agents.{agent.name}.writes names: {why}.")
    return ANYWHERE


def surroundings(agent: AgentRunner, task: Task, hosts: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the environment of a run: the person's, for the agent's own login, less what leads out of the replay."""
    env = {key: value for key, value in environment().items() if not key.startswith("GIT_") and key not in _NESTED}
    env |= _GIT | dict(agent.environment(task)) | {"LESSONBOOK_CONFIG": str(Path(task.scratch) / "config.toml")}
    env |= {"PWD": task.folder, "NO_COLOR": "1", "TERM": "dumb"}
    if task.network is Network.OPEN:
        return env
    env |= _OFFLINE
    if _has_proxy(env) and task.network is Network.MODEL:
        return env
    fenced = ways_out(agent, task, hosts) is not None
    through = f"http://127.0.0.1:{guard.PROXY}" if fenced else _NOWHERE
    for name in _PROXIES:
        env[name] = env[name.lower()] = through
    allowed = _LOCAL if fenced else (*_LOCAL, *(host for host in _hosts(agent, hosts, env) if ":" not in host))
    env["NO_PROXY"] = env["no_proxy"] = ",".join(dict.fromkeys(allowed))
    return env


def ways_out(agent: AgentRunner, task: Task, hosts: tuple[str, ...] = ()) -> list[str] | None:
    """Return what can be reached from the network namespace of a run; ``None`` where it has none of its own.

    Without a network that is nothing. With its model's alone it is the model's hosts, where the system lets us make
    one, and the person needs no proxy: then only variables, and the agent's own sandbox, keep it to them.
    """
    if task.network is Network.NONE:
        return []
    if task.network is Network.OPEN or _has_proxy(environment()) or not can_fence():
        return None
    named = _hosts(agent, hosts, environment())
    ports = [f":{port}" for host in named if (port := _local_port(host))]
    return list(
        dict.fromkeys([*ports, *(host.partition(":")[0] for host in named if host.split(":")[0] not in _LOCAL)])
    )


@cache
def can_fence() -> bool:
    """Whether this system lets us make a network namespace; tried once."""
    if sys.platform != "linux":
        return False
    done = run([*_GUARD, "5", "", ANYWHERE, "true"], b"", timeout=10, folder=Path("/"), env=environment())
    return done.code == 0


@cache
def can_keep() -> bool:
    """Whether this system lets us keep an agent's writes to some folders; tried once."""
    if sys.platform != "linux":
        return False
    tried = [*_GUARD, "5", "open", "", "true"]
    return run(tried, b"", timeout=10, folder=Path("/"), env=environment()).code == 0


def _hosts(agent: AgentRunner, more: tuple[str, ...], env: Mapping[str, str]) -> list[str]:
    """The hosts of an agent's model, with a port where one is named: its own, the configured, and the environment's."""
    urls = [value for key, value in env.items() if key.upper().endswith(("_BASE_URL", "_API_BASE", "_ENDPOINT"))]
    return [*agent.hosts, *more, *filter(None, map(_place, urls))]


def _place(url: str) -> str:
    try:
        found = urlsplit(url)
        return f"{found.hostname}:{found.port}" if found.hostname and found.port else found.hostname or ""
    except ValueError:
        return ""


def _local_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return port if name in _LOCAL and port.isdecimal() else ""


def _has_proxy(env: Mapping[str, str]) -> bool:
    return any(env.get(name) or env.get(name.lower()) for name in _PROXIES)


def quieten(scratch: Path) -> None:
    """Write the configuration by which lessonbook says and keeps nothing inside a replay."""
    from lessonbook.system.files import write_atomic

    write_atomic(scratch / "config.toml", _OFF.encode(), new_mode=0o600)
