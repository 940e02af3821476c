"""Claude Code. With all its tools it shows those of servers by name only, to be looked up before they are called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from realagents.host import DONE, LEARN, Host, Look
from realagents.steps import Call, Say


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
    allowed = ["--allowedTools", "mcp__lessonbook"]
    return ["claude", "-p", prompt, "--output-format", "stream-json", "--verbose", *allowed]


HOST = Host(
    "claude",
    command,
    env=env,
    steps=(Call(("ToolSearch",), {"query": "select:mcp__lessonbook__learn"}), LEARN, Say(DONE)),
    looks=(Look(("claude", "mcp", "list"), has=("lessonbook: ", "Connected")),),
    own=(".claude*", ".cache*"),
    shared=(".claude.json",),
)
