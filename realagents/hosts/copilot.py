"""GitHub Copilot CLI, with a provider of one's own instead of a login."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import Host, Look


def env(home: Path, url: str) -> Mapping[str, str]:
    """Point it at the model."""
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "key-7c1e",  # it hides this text wherever it comes up
        "COPILOT_MODEL": "scripted",
    }


def command(prompt: str, work: Path) -> list[str]:
    """Run one prompt; the tools of our server may be called."""
    quiet = ["--no-ask-user", "--no-auto-update"]
    return ["copilot", "-p", prompt, "--output-format", "json", "--allow-tool=lessonbook", *quiet]


HOST = Host(
    "copilot",
    command,
    env=env,
    looks=(
        Look(("copilot", "mcp", "list"), has=("lessonbook",)),
        Look(("copilot", "skill", "list"), has=("oil-the-crane", "park-the-crane")),
    ),
    own=(".copilot*", ".cache*"),
)
