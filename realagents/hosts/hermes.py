"""Hermes. It asks about every hook once; its own switch agrees to all for a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import Host, Look

_CONFIG = """\
# where the model is
model:
  provider: custom
  default: scripted
  base_url: {url}/v1
  api_key: scripted
  context_length: 128000
"""


def files(url: str) -> Mapping[str, str]:
    """Point it at the model."""
    return {".hermes/config.yaml": _CONFIG.format(url=url)}


def command(prompt: str, work: Path) -> list[str]:
    """Run one prompt, and agree to every hook."""
    return ["hermes", "--accept-hooks", "-z", prompt]


HOST = Host(
    "hermes",
    command,
    files=files,
    looks=(
        Look(("hermes", "mcp", "test", "lessonbook"), has=("learn",)),
        Look(("hermes", "hooks", "list"), has=("pre_llm_call", "on_session_end")),
        Look(("hermes", "skills", "list"), has=("oil-the-crane", "park-the-crane")),
    ),
    events=("session-start", "prompt", "session-end"),
    doubts=("until you agree to it",),
    own=(".hermes*", ".cache*"),
    transcript=False,
    seconds=180,
)
