"""Claude Code. With all its tools it shows those of servers by name only, to be looked up before they are called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import MARKET, PLUGIN, Host, Look
from realagents.steps import Call

_PLUGGED = "mcp__plugin_lessonbook_lessonbook"
_SEARCH = Call(("ToolSearch",), {"query": f"select:mcp__lessonbook__learn,{_PLUGGED}__learn"})
_MANAGE = ("claude", "plugin")


def env(home: Path, url: str) -> Mapping[str, str]:
    """Point it at the model, and keep it from asking anybody else."""
    return {
        "ANTHROPIC_API_KEY": "scripted",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }


def command(prompt: str, work: Path) -> list[str]:
    """Run one prompt; the tools of our server may be called."""
    allowed = ["--allowedTools", f"mcp__lessonbook,{_PLUGGED}"]
    return ["claude", "-p", prompt, "--output-format", "stream-json", "--verbose", *allowed]


HOST = Host(
    "claude",
    command,
    env=env,
    wait=_SEARCH,
    looks=(Look(("claude", "mcp", "list"), has=("lessonbook: ", "Connected")),),
    plugin=(
        Look((*_MANAGE, "validate", "--strict", MARKET), has=("Validation passed",)),
        Look((*_MANAGE, "validate", "--profile", "directory", PLUGIN), has=("Validation passed",)),
        Look((*_MANAGE, "marketplace", "add", MARKET), has=("Successfully added",)),
        Look((*_MANAGE, "install", "lessonbook@lessonbook-market"), has=("Successfully installed",)),
        Look((*_MANAGE, "list"), has=("lessonbook@lessonbook-market", "enabled")),
        Look((*_MANAGE, "details", "lessonbook"), has=("SessionStart", "oil-the-crane")),
    ),
    unplug=(
        Look((*_MANAGE, "uninstall", "lessonbook@lessonbook-market")),
        Look((*_MANAGE, "list"), lacks=("lessonbook@lessonbook-market",)),
    ),
    own=(".claude*", ".cache*"),
    shared=(".claude.json",),
)
