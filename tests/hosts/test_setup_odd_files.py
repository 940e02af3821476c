"""Every agent's files however people and programs write them: set up, tried out and taken back, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.hosts.agents.registry import AGENTS
from lessonbook.system import config_text

MARK = "\ufeff"
JSON_LIKE = (".json", ".jsonc")
COMMENTS = {
    ".toml": "# the last word",
    ".yaml": "# the last word",
    ".yml": "# the last word",
    ".jsonc": "// the last word",
}


def each_line(change: Callable[[str], str]) -> Callable[[str, str], str]:
    """Change each line of a file without its end."""
    return lambda text, kind: "".join(change(line) for line in text.splitlines(keepends=True))


def tabs(text: str, kind: str) -> str:
    if kind not in JSON_LIKE:  # YAML takes none there
        return text
    return re.sub(r"^( +)", lambda found: "\t" * ((len(found[1]) + 1) // 2), text, flags=re.MULTILINE)


def odd_indent(text: str, kind: str) -> str:
    """Every second line of a file that takes it further to the right than it should be."""
    if kind not in JSON_LIKE:
        return text
    return "".join(" " * (3 * (n % 2)) + line for n, line in enumerate(text.splitlines(keepends=True)))


def compact(text: str, kind: str) -> str:
    """The whole of a plain JSON file in one line."""
    try:
        return json.dumps(json.loads(text.lstrip(MARK)), separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return text


def comment_at_end(text: str, kind: str) -> str:
    return text.rstrip("\r\n") + "\n" + COMMENTS[kind] if kind in COMMENTS else text


VARIATIONS: dict[str, Callable[[str, str], str]] = {
    "crlf": lambda text, kind: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "a mark": lambda text, kind: MARK + text.lstrip(MARK),
    "a mark and crlf": lambda text, kind: MARK + text.lstrip(MARK).replace("\r\n", "\n").replace("\n", "\r\n"),
    "no line end": lambda text, kind: text.rstrip("\r\n"),
    "no line end and crlf": lambda text, kind: text.replace("\r\n", "\n").rstrip("\n").replace("\n", "\r\n"),
    "blank lines at the end": lambda text, kind: text + "\n\n   \n" if kind != ".js" else text,
    "spaces behind": each_line(lambda line: re.sub(r"(\r?\n)\Z", r"  \1", line) if line.strip() else line),
    "tabs": tabs,
    "odd indentation": odd_indent,
    "in one line": compact,
    "a comment at the end": comment_at_end,
}


def written(home: Path, homes, change: Callable[[str, str], str]) -> None:
    homes.used(home)
    for name, text in homes.USED.items():
        (home / name).write_bytes(change(text, Path(name).suffix).encode())


@pytest.mark.parametrize("kind", VARIATIONS)
def test_set_up_and_taken_back_is_as_it_was(here, home: Path, homes, kind: str) -> None:
    written(home, homes, VARIATIONS[kind])
    before = homes.snapshot(home)
    assert sum(before[name][2] != text.encode() for name, text in homes.USED.items()) >= 3
    code, out, err = here("setup", "--yes")
    assert code == 0, out + err
    after = homes.snapshot(home)
    assert {path.stem for path in (home / ".local/state/lessonbook/setup").glob("*.json")} == set(AGENTS)
    for name, (_, _, data) in before.items():
        assert (b"\r\n" in data) == (b"\r\n" in after[name][2]) or b"\n" not in data, name
        assert data.startswith(MARK.encode()) == after[name][2].startswith(MARK.encode()), name
        if Path(name).suffix in (*JSON_LIKE, ".toml", ".yaml"):
            form = {".toml": "toml", ".yaml": "yaml"}.get(Path(name).suffix, "json")
            config_text.parsed(form, after[name][2])
    assert here("setup", "--yes").returncode == 0
    assert homes.snapshot(home) == after, "a second time changes nothing"
    assert here("setup", "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before


JSON = [
    "",
    " \n",
    "{}",
    "{\n}\n",
    "\t{ }\r\n",
    '{"mcpServers": {}, "mcp": {}, "hooks": {}}',
    '{ "x" : [ ] ,\n\n "y":null }\n',
    '{"hooks": {"Stop": [], "stop": [], "SessionStart": []}}',
    '{"mcpServers": null, "hooks": null, "mcp": null}',
    '{"mcpServers": [], "hooks": [], "mcp": []}',
    '{"mcpServers": {"lessonbook": {"command": "mine"}}}',
    "null",
    "[]",
    '{"a": 1,}',
    '{"a": 1} // why',
    "/* head */ {/* in */}",
    '{"a": 1',
    '{"\\ud83d": "\\u0000"}',
]
FORMS: dict[str, list[str]] = {
    **dict.fromkeys(
        (
            ".claude.json",
            ".claude/settings.json",
            ".codex/hooks.json",
            ".gemini/settings.json",
            ".copilot/mcp-config.json",
            ".cursor/mcp.json",
            ".cursor/hooks.json",
            ".config/opencode/opencode.jsonc",
            ".omp/agent/mcp.json",
            ".pi/agent/mcp.json",
        ),
        JSON,
    ),
    ".codex/config.toml": [
        "",
        "# only words",
        "[mcp_servers]",
        "[mcp_servers]\n\n\n",
        'mcp_servers.docs.command = "x"\n',
        "a.b.c = 1\n[x.y]\n",
        "[mcp_servers]\ndocs = { command = 'x' }\n",
        "mcp_servers = {}\n",
        "[[hooks]]\na = 1\n",
        "s = '''\n[a]\n'''",
        "mcp_servers = 3\n",
        "[mcp_servers.lessonbook]\ncommand = 'mine'\n",
        "[broken",
        "\ta = 1\n\t[b]\n\t\tc = 2\n",
    ],
    ".hermes/config.yaml": [
        "",
        "# only words",
        "---\nmodel: x\n",
        "{mcp_servers: {kb: {command: a}}, hooks: {}}",
        "hooks: {}\n",
        "mcp_servers: {}",
        "mcp_servers:\n    kb:\n        command: a\nhooks:\n    pre_llm_call:\n        - command: b",
        "mcp_servers: null\n",
        "hooks:\n  pre_llm_call: []\n",
        "mcp_servers:\n  lessonbook:\n    command: mine\n",
        "a: [\n",
        "- a\n",
        "a: 1\n...\n",
        "mcp_servers: &x\n  kb: {command: a}\nmore: *x\n",
        "mcp_servers:\n- a\n",
        "a: |\n  text\n\n\n",
        "hooks:\nmcp_servers:\n",
    ],
    ".config/ramabana/AGENTS.md": [
        "",
        " ",
        "\n\n\n",
        "a\r",
        "```\nopen",
        "<!-- lessonbook: begin -->\n",
        "a\n<!-- x",
        "\t# a",
    ],
}
OWNERS = {name: next(agent for agent in AGENTS if agent in name.replace(".config/", "")) for name in FORMS}


@pytest.mark.parametrize("name", FORMS)
def test_any_form_of_a_file_is_changed_and_comes_back_or_is_left(here, home: Path, homes, name: str) -> None:
    changed = 0
    for form in FORMS[name]:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(form.encode())
        before = homes.snapshot(home)
        code, out, err = here("setup", OWNERS[name], "--yes")
        there = path.read_bytes()
        if code == 0:
            changed += there != form.encode()
        else:
            assert there == form.encode() and str(path) in out + err, (form, out, err)
        removed = here("setup", OWNERS[name], "--remove", "--yes").returncode
        assert removed == 0 or code != 0, form  # what cannot be read cannot be looked into either
        assert homes.snapshot(home) == before, form
    assert changed >= 3


@pytest.mark.slow
def test_trying_it_out_in_between_changes_nothing_of_it(run, home: Path, homes) -> None:
    written(home, homes, VARIATIONS["a mark and crlf"])
    before = homes.snapshot(home)
    assert run("setup", "--yes").returncode == 0
    after = homes.snapshot(home)
    checks = json.loads(run("setup", "--check", "--json").stdout)["checks"]
    assert {row["agent"] for row in checks} >= set(AGENTS) - {"ramabana"}
    assert all(row["ok"] for row in checks if row["what"] == "MCP server" or row["what"].endswith(" run")), checks
    assert homes.snapshot(home) == after
    assert run("setup", "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(list(VARIATIONS)), min_size=2, max_size=4), st.sampled_from(list(AGENTS)))
def test_any_mixture_for_any_agent(here, home: Path, homes, kinds: list[str], agent: str) -> None:
    def change(text: str, suffix: str) -> str:
        for kind in kinds:
            text = VARIATIONS[kind](text, suffix)
        return text

    written(home, homes, change)
    before = homes.snapshot(home)
    code, out, err = here("setup", agent, "--yes")
    assert code == 0, out + err
    assert homes.snapshot(home) != before
    assert here("setup", agent, "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before
