"""Codex. It skips hooks nobody approved; its own switch lets them run this once, and nothing writes an approval."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import MARKET, Host, Look
from realagents.steps import Call

_MANAGE = ("codex", "plugin")
_CONFIG = """\
# where the model is
model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""


def files(url: str) -> Mapping[str, str]:
    """Point it at the model."""
    return {".codex/config.toml": _CONFIG.format(url=url)}


def env(home: Path, url: str) -> Mapping[str, str]:
    """Give it the key it asks for."""
    return {"SCRIPTED_KEY": "scripted"}


def command(prompt: str, work: Path) -> list[str]:
    """Run one prompt, with hooks that nobody approved."""
    return ["codex", "exec", "--json", "--dangerously-bypass-hook-trust", "-s", "workspace-write", prompt]


HOST = Host(
    "codex",
    command,
    files=files,
    env=env,
    wait=Call(("exec_command",), {"cmd": "sleep 1"}),
    looks=(Look(("codex", "mcp", "list", "--json"), has=('"name": "lessonbook"', '"enabled": true')),),
    plugin=(
        Look((*_MANAGE, "marketplace", "add", MARKET), has=("lessonbook-market",)),
        Look((*_MANAGE, "add", "lessonbook@lessonbook-market"), has=("Added plugin `lessonbook`",)),
        Look((*_MANAGE, "list"), has=("lessonbook@lessonbook-market", "installed, enabled")),
    ),
    unplug=(
        Look((*_MANAGE, "remove", "lessonbook@lessonbook-market")),
        Look((*_MANAGE, "list"), lacks=("installed, enabled",)),
    ),
    doubts=("you have not approved it",),
    own=(".codex/*",),
)
