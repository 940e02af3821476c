"""Ramabana: it reads no servers and no hooks from disk, so it is told in the instructions it reads for every folder.

The block is the same for every session, so that its prompts stay in the provider's cache.
"""

from __future__ import annotations

from pathlib import Path

from lessonbook.hosts.agents.agent import Agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Entry, Wanted, Where

_TEXT = """\
## Lessons of earlier sessions

Before you start to work, run `{command} brief` once and follow what it says; instructions of the person and of the
project override it. When the session shows something that will matter again, record it once with
`{command} learn "what, when and why"`. No secrets, and nothing the code already says.
"""


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.moved("XDG_CONFIG_HOME", ".config") / "ramabana"


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our block in its instructions."""
    from shlex import join

    from lessonbook.actions.setup_entries import Entry

    text = _TEXT.format(command=join(wanted.command))
    return [Entry(folder(where) / "AGENTS.md", "block", "instructions", text, mark="lessonbook")]


AGENT = Agent(
    name="ramabana",
    title="Ramabana",
    programs=("ramabana",),
    folder=folder,
    entries=entries,
    dialect=None,
    skills=lambda where: None,
    headless=("ramabana", "--json"),
    config="XDG_CONFIG_HOME",
)
