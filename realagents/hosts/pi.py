"""pi. It wants a newer Node.js than many have, and runs with bun as well."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import Host, Look, as_json
from realagents.programs import PROGRAMS


def files(url: str) -> Mapping[str, str]:
    """Point it at the model."""
    model = {"id": "scripted", "name": "scripted", "reasoning": False, "input": ["text"]}
    model |= {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    model |= {"contextWindow": 128_000, "maxTokens": 8_000}
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "scripted", "models": [model]}
    return {".pi/agent/models.json": as_json({"providers": {"scripted": provider}})}


def env(home: Path, url: str) -> Mapping[str, str]:
    """Keep it from asking anybody else."""
    return {"PI_OFFLINE": "1"}


def _pi(*words: str) -> tuple[str, ...]:
    return ("bun", str(PROGRAMS["pi"].bin / "pi"), *words)


def command(prompt: str, work: Path) -> tuple[str, ...]:
    """Run one prompt."""
    return _pi("-p", "--mode", "json", "--model", "scripted/scripted", prompt)


HOST = Host(
    "pi",
    command,
    files=files,
    env=env,
    looks=(Look(_pi("mcp", "list"), has=("lessonbook",)),),
    own=(".pi*", ".cache*", ".bun*"),
)
