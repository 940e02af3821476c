"""Homes as people have them: files of every agent with other servers, other hooks, comments and odd formatting.

Written for these tests; every name, address and key in them is made up.
"""

# ruff: noqa: E501, UP031  the files are as people have them
from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

KEY = "sk-ant-api03-" + "Zx9_" * 12

USED: dict[str, str] = {
    ".claude.json": """{
  "numStartups": 41,
  "oauthAccount": {"emailAddress": "ana@example.org"},
  "mcpServers": {
    "tickets": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "tickets-mcp"],
      "env": {"TICKETS_KEY": "%s"}
    }
  },
  "projects": {
    "/home/ana/app": {"allowedTools": [], "mcpServers": {}, "history": [{"display": "fix \\"it\\"\\n"}]}
  },
  "tipsHistory": {"new-user-warmup": 1.50, "big": 12345678901234567890}
}"""
    % KEY,
    ".claude/settings.json": """{
    "permissions": { "allow": ["Bash(make:*)"], "deny": [] },
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "~/bin/guard.sh" } ] }
        ],
        "SessionStart": [
            { "hooks": [ { "type": "command", "command": "echo hello", "timeout": 3 } ] }
        ]
    },
    "model": "opus"
}
""",
    ".codex/config.toml": """# Codex of Ana
model = "gpt-5.2-codex"   # the big one
approval_policy = "on-request"

[mcp_servers.docs]
command = "docs-mcp"
args = [ "--stdio",
         "--quiet" ]
startup_timeout_sec = 30.0

[projects."/home/ana/app"]
trust_level = "trusted"

[hooks.state."/home/ana/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:0000"

# [mcp_servers.old]
# command = "gone"
""",
    ".codex/hooks.json": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}\n',
    ".gemini/settings.json": """{
  // the theme at work
  "ui": { "theme": "Default Light", },
  "mcpServers": {
    "maps": { "command": "maps", "args": [], "trust": true }, // asks nobody
  },
  /* hooks follow */
  "hooks": { "BeforeTool": [ { "matcher": "run_shell_command", "hooks": [ { "type": "command", "command": "check", "timeout": 500 } ] } ] },
  "security": { "auth": { "selectedType": "oauth-personal" } }
}
""",
    ".copilot/mcp-config.json": '{\r\n\t"mcpServers": {\r\n\t\t"db": {\r\n\t\t\t"type": "local",\r\n\t\t\t"command": "db",\r\n\t\t\t"args": [],\r\n\t\t\t"tools": ["*"]\r\n\t\t}\r\n\t}\r\n}\r\n',
    ".copilot/config.json": '{"banner": "never"}',
    ".copilot/hooks/own.json": '{"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "true"}]}}',
    ".cursor/mcp.json": '\ufeff{"mcpServers": {"web": {"url": "https://mcp.example.org/sse", "headers": {"A": "b"}}}}',
    ".cursor/hooks.json": '{\n  "version": 1,\n  "hooks": {\n    "stop": [{"command": "./done.sh"}]\n  }\n}\n',
    ".cursor/cli-config.json": '{"auth": "do not touch"}',
    ".config/opencode/opencode.jsonc": """{
  "$schema": "https://opencode.ai/config.json",
  // "mcp": { "off": {} },
  "mcp": {
    "jira": {"type": "remote", "url": "https://jira.example.org/mcp", "enabled": false}
  },
  "permission": {"bash": "ask"}, // careful
}
""",
    ".config/opencode/plugins/own.js": "export const Own = async () => ({})\n",
    ".omp/agent/mcp.json": '{"mcpServers":{}}',
    ".omp/agent/config.yml": "theme: dark\n",
    ".pi/agent/mcp.json": '{\n\t"mcpServers": {}\n}',
    ".pi/agent/extensions/own.ts": "export default function (pi) {}\n",
    ".hermes/config.yaml": """# Hermes
model:
  provider: custom
  default: "some-model"   # cheap
  base_url: http://127.0.0.1:9/v1

mcp_servers:
  # knowledge base
  kb:
    command: kb-mcp
    args: [--root, "~/kb"]
    env: {KB_KEY: '%s'}

hooks:
  pre_llm_call:
  - command: "~/bin/clock"   # tells the time
    timeout: 5

  post_tool_call: [{command: log}]
prompt: |
  Be brief.

toolsets: [file, web]
"""
    % KEY,
    ".config/ramabana/AGENTS.md": "# Mine\n\nAlways answer in German.\n\n```\n<!-- lessonbook: begin -->\n```",
    ".config/ramabana/config.toml": "learning = true\n",
}
FRESH = (
    ".claude",
    ".codex",
    ".gemini",
    ".copilot",
    ".cursor",
    ".config/opencode",
    ".omp/agent",
    ".pi/agent",
    ".hermes",
    ".config/ramabana",
)


def used(home: Path) -> None:
    """Fill ``home`` with everything of ``USED``."""
    for name, text in USED.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def fresh(home: Path) -> None:
    """Make only the folders agents make at their first start."""
    for name in FRESH:
        (home / name).mkdir(parents=True)


def snapshot(home: Path) -> dict[str, tuple[str, int, bytes]]:
    """Every path below ``home`` but our own folders, with its kind, mode and bytes."""
    found = {}
    for path in sorted(home.rglob("*")):
        name = str(path.relative_to(home))
        if name.startswith((".local", ".config/lessonbook")) or name == ".config":
            continue
        if path.is_symlink():
            found[name] = ("link", 0, str(path.readlink()).encode())
        elif path.is_dir():
            found[name] = ("folder", path.stat().st_mode, b"")
        else:
            found[name] = ("file", path.stat().st_mode, path.read_bytes())
    return found


@pytest.fixture
def homes() -> SimpleNamespace:
    """What fills a home, and what it holds."""
    return SimpleNamespace(USED=USED, KEY=KEY, used=used, fresh=fresh, snapshot=snapshot)
