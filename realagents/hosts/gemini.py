"""Gemini CLI. When nobody is there to ask, it hides tools of a server until a policy of the person's allows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import Host, Look, as_json

_ALLOWED = """\
[[rule]]
mcpName = "lessonbook"
toolName = "*"
decision = "allow"
priority = 100
"""


def files(url: str) -> Mapping[str, str]:
    """Choose a key as its way in, and allow the tools of our server, as a person does."""
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    return {".gemini/settings.json": as_json(settings), ".gemini/policies/mine.toml": _ALLOWED}


def env(home: Path, url: str) -> Mapping[str, str]:
    """Point it at the model."""
    return {
        "GEMINI_API_KEY": "scripted",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def command(prompt: str, work: Path) -> list[str]:
    """Run one prompt in a folder it trusts for this once."""
    return ["gemini", "--skip-trust", "-p", prompt, "-m", "gemini-2.5-pro", "-o", "stream-json"]


HOST = Host(
    "gemini",
    command,
    files=files,
    env=env,
    looks=(
        Look(("gemini", "mcp", "list"), has=("lessonbook", "Connected")),
        Look(("gemini", "skills", "list"), has=("oil-the-crane", "park-the-crane")),
    ),
    own=(".gemini*", ".cache*"),
)
