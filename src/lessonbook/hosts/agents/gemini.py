"""Gemini CLI: servers and hooks in one ``settings.json``; it counts a hook's time in milliseconds.

It takes the matcher of a session's start for one word, not for a pattern, so ours has none and fits them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.hosts.agents.agent import PROMPT, SESSION_END, SESSION_START, STOP, Agent, Dialect, go_on, nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Entry, Wanted, Where
    from lessonbook.hosts.agents.agent import Data

EVENTS = {SESSION_START: "SessionStart", PROMPT: "BeforeAgent", STOP: "AfterAgent", SESSION_END: "SessionEnd"}


def folder(where: Where) -> Path:
    """Return its configuration folder; the variable names the folder above it."""
    return where.moved("GEMINI_CLI_HOME", "") / ".gemini"


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server and our hooks."""
    from lessonbook.hosts.agents import shapes

    path = folder(where) / "settings.json"
    hooks = shapes.grouped(path, EVENTS, wanted, "gemini", matchers={}, unit=1000, name="lessonbook")
    return [shapes.server(path, wanted), *hooks]


def doubts(where: Where, ask: bool) -> Iterator[str]:
    """Say where its settings switch hooks off."""
    from lessonbook.hosts.agents.looking import inside, table

    told = inside(table(folder(where) / "settings.json", "json"), "hooksConfig")
    if isinstance(told, dict) and told.get("enabled") is False:
        yield "hooksConfig.enabled is false in its settings.json, so Gemini CLI runs no hook at all"
    elif isinstance(told, dict) and isinstance(told.get("disabled"), list) and "lessonbook" in told["disabled"]:
        yield "hooksConfig.disabled in its settings.json names our hooks, so Gemini CLI does not run them"


def answer(event: str, text: str) -> Data:
    """Return the hook's answer."""
    return go_on(text) if event == STOP else nested(EVENTS[event], text)


AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    folder=folder,
    entries=entries,
    dialect=Dialect(
        EVENTS,
        answer,
        turn=rb'"type"\s*:\s*"user"',
        no_turn=rb'"functionResponse"\s*:|"\$set"\s*:',
        call=rb'"functionResponse"\s*:',
    ),
    skills=lambda where: None,
    headless=("gemini", "-o", "stream-json", "-p"),
    doubts=doubts,
    todo="Gemini CLI hides tools of servers it does not trust when nobody is there to ask; approve ours when it asks.",
    config="GEMINI_CLI_HOME",
)
