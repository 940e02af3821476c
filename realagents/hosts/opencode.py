"""opencode."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import Host, Look, as_json


def files(url: str) -> Mapping[str, str]:
    """Point it at the model."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"},
        "models": {"scripted": {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    settings = {"$schema": "https://opencode.ai/config.json", "provider": {"scripted": provider}}
    return {".config/opencode/opencode.json": as_json(settings)}


def env(home: Path, url: str) -> Mapping[str, str]:
    """Keep it from asking anybody else."""
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "npm_config_fetch_retries": "0",  # with a plugin it installs a package at every start, and tries for a minute
    }


def command(prompt: str, work: Path) -> list[str]:
    """Run one prompt."""
    return ["opencode", "run", "--format", "json", "--model", "scripted/scripted", "--title", "Crane", prompt]


HOST = Host(
    "opencode",
    command,
    files=files,
    env=env,
    looks=(
        Look(("opencode", "mcp", "list"), has=("lessonbook", "connected")),
        Look(("opencode", "debug", "skill"), has=("oil-the-crane", "park-the-crane")),
    ),
    # Its one-shot ends as soon as the session is idle, before it could be asked anything.
    events=("session-start", "prompt", "session-end"),
    own=(".cache*", ".local*", ".config/opencode*"),
    transcript=False,
)
