"""Hermes Agent: servers and hooks in one ``config.yaml``. It asks the person once for every command of a hook.

It takes text only before a call of the model, which is asked at every turn; so the briefing is given once a session.
Its only hook at the end of a turn does not say how much was done, so there is no nudge.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.hosts.agents.agent import NAME, PROMPT, SECONDS, SESSION_END, SESSION_START, Agent, Dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Entry, Wanted, Where
    from lessonbook.hosts.agents.agent import Data

EVENTS = {SESSION_START: "pre_llm_call", PROMPT: "pre_llm_call", SESSION_END: "on_session_end"}

_MISSING = b"requires the 'mcp' Python SDK"
_ASK_SECONDS = 30.0


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.moved("HERMES_HOME", ".hermes")


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server and our hooks."""
    from lessonbook.hosts.agents import shapes

    path = folder(where) / "config.yaml"
    found = [shapes.server(path, wanted, top="mcp_servers", form="yaml")]
    for event, theirs in shapes.wanted_events(EVENTS, wanted):
        value = {"command": wanted.hook(event, "hermes"), "timeout": SECONDS[event]}
        found.append(shapes.hook_entry(path, event, ("hooks", theirs), value, "hermes", form="yaml"))
    return found


def doubts(where: Where, ask: bool) -> Iterator[str]:
    """Say which hooks of ours nobody agreed to yet, and where it cannot start servers at all."""
    from lessonbook.hosts.agents.looking import inside, table

    config = table(folder(where) / "config.yaml", "yaml")
    if ask and inside(config, "mcp_servers", NAME) is not None and _cannot_serve(where):
        yield "Hermes starts no server, as its own `mcp` extra is missing: pip install 'hermes-agent[mcp]' beside it"
    if config.get("hooks_auto_accept") is True:
        return
    agreed = table(folder(where) / "shell-hooks-allowlist.json", "json").get("approvals")
    known = [row for row in agreed if isinstance(row, dict)] if isinstance(agreed, list) else []
    for theirs in dict.fromkeys(EVENTS.values()):
        hooks = inside(config, "hooks", theirs)
        for hook in hooks if isinstance(hooks, list) else []:
            command = str(hook.get("command", "")) if isinstance(hook, dict) else ""
            if "--agent hermes" in command and not any(
                row.get("event") == theirs and row.get("command") == command for row in known
            ):
                yield f"Hermes skips our {theirs} hook until you agree to it: start hermes once and say yes"


def _cannot_serve(where: Where) -> bool:
    """Whether Hermes itself says that it lacks what it needs for servers; False where it cannot be asked."""
    from lessonbook.core.errors import LessonbookError
    from lessonbook.system import programs

    program = where.search("hermes")
    if program is None:
        return False
    try:
        words = [program, "mcp", "test", NAME]
        told = programs.run(words, b"", timeout=_ASK_SECONDS, folder=where.home, env=where.env)
    except LessonbookError:
        return False
    return _MISSING in told.out or _MISSING in told.err


def answer(event: str, text: str) -> Data:
    """Return the hook's answer."""
    return {"context": text}


def prompt_of(data: Data) -> object:
    """Return what the person typed, from the part Hermes keeps it in."""
    extra = data.get("extra")
    return extra.get("user_message") if isinstance(extra, dict) else None


AGENT = Agent(
    name="hermes",
    title="Hermes",
    programs=("hermes",),
    folder=folder,
    entries=entries,
    dialect=Dialect(
        EVENTS, answer, once=True, asked=prompt_of, sample={"tool_name": None, "tool_input": None, "extra": {}}
    ),
    skills=lambda where: folder(where) / "skills",
    headless=("hermes", "-z"),
    doubts=doubts,
    todo="Hermes runs a hook only after you agreed to it: start hermes once and answer its question. "
    "For servers it needs its own extra `mcp`.",
    config="HERMES_HOME",
)
