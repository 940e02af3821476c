"""Where people keep the skills they wrote, agent by agent. Adding an agent is one line of ``AUTHORED``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.core.value import Value

FILE = "SKILL.md"
PUBLISHED_FROM = ("managed-skills", "published-skills")
"""The folders that links to published skills lead into, by their last name: of this machine, or of where it was."""


def managed_root(agent_dir: Path) -> Path:
    """Return the folder of the skills an agent manages, whether or not it exists."""
    return agent_dir / "managed-skills"


class AgentRoots(Value):
    """The folders one agent reads skills from, below the home folder and below a project's folders."""

    agent: str
    home: tuple[str, ...]
    project: tuple[str, ...] = ()


AUTHORED = (
    AgentRoots("claude", (".claude/skills",), (".claude/skills",)),
    AgentRoots("codex", (".agents/skills", ".codex/skills"), (".agents/skills",)),
    AgentRoots("gemini", (".agents/skills", ".gemini/skills"), (".agents/skills", ".gemini/skills")),
    AgentRoots("omp", (".agents/skills", ".omp/agent/skills"), (".agents/skills", ".omp/skills")),
    AgentRoots("hermes", (".hermes/skills",)),
    AgentRoots("ramabana", (".agents/skills", ".config/ramabana/skills"), (".agents/skills", ".leela/skills")),
    AgentRoots("cursor", (".agents/skills", ".cursor/skills"), (".agents/skills",)),
    AgentRoots("opencode", (".agents/skills", ".config/opencode/skills"), (".agents/skills",)),
    AgentRoots("pi", (".agents/skills", ".pi/agent/skills"), (".agents/skills", ".pi/skills")),
    AgentRoots("copilot", (".agents/skills", ".copilot/skills"), (".agents/skills", ".github/skills")),
)


class Root(Value):
    """One folder of authored skills and the agents that read it. It may not exist."""

    path: Path
    agents: tuple[str, ...]


def authored_roots(home: Path, cwd: Path | None) -> tuple[Root, ...]:
    """Return the folders of authored skills for a session in ``cwd``: the project's, nearest first, then the home's."""
    found: dict[Path, list[str]] = {}
    for folder in _project_folders(home, cwd):
        for kind in AUTHORED:
            for below in kind.project:
                found.setdefault(folder / below, []).append(kind.agent)
    for kind in AUTHORED:
        for below in kind.home:
            found.setdefault(home / below, []).append(kind.agent)
    return tuple(Root(path, tuple(agents)) for path, agents in found.items())


def _project_folders(home: Path, cwd: Path | None) -> Iterator[Path]:
    """Yield the folders from ``cwd`` up to the repository's top, or up to, not with, the home folder.

    Outside both only ``cwd`` itself counts: anybody may put a folder into ``/tmp`` or ``/``.
    """
    if cwd is None:
        return
    try:
        start, top = cwd.resolve(), home.resolve()
    except (OSError, RuntimeError):  # a link in circles; Python raises one or the other by version
        return
    if start == top:
        return
    walk: list[Path] = []
    for folder in (start, *start.parents):
        if folder == top:
            yield from walk
            return
        walk.append(folder)
        if _is_repository(folder):
            yield from walk
            return
    yield start


def _is_repository(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False
