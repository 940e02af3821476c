"""oh-my-pi, which runs with bun."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from realagents.host import DONE, LEARN, Host, as_json
from realagents.steps import Call, Say

_DEVICE = "xd://mcp__lessonbook_learn"
"""It has tools of servers written to."""
_WHILE_SERVERS_START = Call(("bash",), {"command": "sleep 3"})
_LEARN = Call(("write",), {"path": _DEVICE, "content": json.dumps(dict(LEARN.arguments))})


def files(url: str) -> Mapping[str, str]:
    """Point it at the model."""
    model = {"id": "scripted", "name": "scripted", "reasoning": False, "input": ["text"]}
    model |= {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    model |= {"contextWindow": 128_000, "maxTokens": 8_000}
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "scripted", "models": [model]}
    return {".omp/agent/models.yml": as_json({"providers": {"scripted": provider}})}


def env(home: Path, url: str) -> Mapping[str, str]:
    """Keep it from asking anybody else."""
    return {"PI_OFFLINE": "1"}


def command(prompt: str, work: Path) -> list[str]:
    """Run one prompt."""
    return ["omp", "-p", "--mode=json", "--model=scripted/scripted", "--no-title", "--no-lsp", prompt]


HOST = Host(
    "omp",
    command,
    files=files,
    env=env,
    steps=(_WHILE_SERVERS_START, _LEARN, Say(DONE)),
    own=(".omp*", ".cache*", ".bun*"),
)
