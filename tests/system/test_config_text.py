"""Editing other programs' files as text (CF-01, CF-03): only our entry differs; without it the bytes are the same."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.system import config_text
from lessonbook.system.config_text import ConfigTextError

SERVER = {"type": "stdio", "command": "/opt/my tools/lessonbook", "args": ["mcp"]}
GROUP = {"matcher": "a|b", "hooks": [{"type": "command", "command": "/opt/x hook stop --agent claude", "timeout": 10}]}
PLACE = ("mcpServers", "lessonbook")

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | WORDS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8
)
TABLES = st.dictionaries(WORDS, VALUES, max_size=4)


def there_and_back(
    form: str, data: bytes, keys: tuple[str, ...], value: Any, item: bool = False
) -> tuple[bytes, bytes]:
    """The text with the entry, and that text without it and without what had to be made for it."""
    before = config_text.parsed(form, data)
    new = (config_text.with_item if item else config_text.with_entry)(form, data, keys, value)
    found = config_text.lookup(config_text.parsed(form, new), keys)
    assert (found[-1] if item else found) == value
    made = config_text.missing(before, keys)
    if item and not made:
        return new, config_text.without(form, new, keys, len(found) - 1)
    return new, config_text.without(form, new, made[0])


def without_comments(text: str) -> str:
    return "\n".join(line.partition("//")[0] for line in text.split("\n"))


JSON = [
    b"{}",
    b'{"a":1}',
    b'{"a": 1, "mcpServers": {}}\n',
    b'{\n  "a": 1 // note\n  // tail\n}\n',
    b'{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"x": {"command": "y"},\n\t},\n}\n',
    b'{\n    "a": 1,\n    "mcpServers": {\n        "x": {\n            "command": "y"\n        }\n    }\n}\n'.replace(
        b"\n", b"\r\n"
    ),
    b'\xef\xbb\xbf{\n "mcpServers": {"x": 1}}',
    b"{ // why\n}\n",
    b'{\n  /* about x */ "x": "// no comment", "y": "\\"}" /* end */\n}',
    b'{\n  "url": "http://h/a", // a\n  "list": [1, 2,], /* b */\n}\n',
    b'{"a":1,"a":2}',
    '{"ключ": "значение", "k": "👩‍💻"}'.encode(),
    b'{"a": 1.0, "b": 1e400, "c": 12345678901234567890123}',
]


@pytest.mark.parametrize("data", JSON)
def test_an_entry_goes_in_and_out_of_json_byte_for_byte(data: bytes) -> None:
    new, back = there_and_back("json", data, PLACE, SERVER)
    assert back == data
    assert new.startswith(data[:1]) and (b"\r\n" in data) == (b"\r\n" in new)
    assert new.count(b"\n") == new.count(b"\r\n") or b"\r\n" not in data


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"hooks":{"Stop":[]}}',
        b'{"hooks":{"Stop":[{"a":1} // x\n]}}',
        b'{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type":"command","command":"mine"}]}\n    ]\n  }\n}\n',
    ],
)
def test_an_item_goes_in_behind_the_others_and_out_again(data: bytes) -> None:
    new, back = there_and_back("json", data, ("hooks", "Stop"), GROUP, item=True)
    assert back == data
    assert config_text.lookup(config_text.parsed("json", new), ("hooks", "Stop"))[-1] == GROUP


def test_only_our_lines_differ_and_comments_stay_where_they_were() -> None:
    data = b'{\n  "a": 1, // first\n  "b": {"c": [1, 2]} // last\n  // the end\n}\n'
    new = config_text.with_entry("json", data, ("x",), 1)
    assert new == b'{\n  "a": 1, // first\n  "b": {"c": [1, 2]}, // last\n  "x": 1\n  // the end\n}\n'


@settings(deadline=None)
@given(TABLES, st.sampled_from([None, 0, 1, 2, 4, "\t"]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_json_comes_back_and_holds_what_it_held(table: dict[str, Any], indent: Any, end: str, mark: bool) -> None:
    text = json.dumps(table, indent=indent, ensure_ascii=False).replace("\n", end)
    data = (b"\xef\xbb\xbf" if mark else b"") + text.encode()
    if isinstance(table.get("mcpServers", {}), dict) and "lessonbook" not in table.get("mcpServers", {}):
        new, back = there_and_back("json", data, PLACE, SERVER)
        assert back == data
        inside = table.get("mcpServers", {})
        assert json.loads(new.decode("utf-8-sig")) == {**table, "mcpServers": {**inside, "lessonbook": SERVER}}


@settings(deadline=None)
@given(TABLES, st.lists(VALUES, max_size=4), st.integers(0, 3))
def test_any_item_can_be_taken_out_of_any_list(table: dict[str, Any], items: list[Any], at: int) -> None:
    value = {**table, "list": items}
    data = json.dumps(value, indent=2).encode()
    if at < len(items):
        new = config_text.without("json", data, ("list",), at)
        assert json.loads(new) == {**value, "list": items[:at] + items[at + 1 :]}


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("json", b"{"), ("json", b"[1"), ("json", b"{'a': 1}"), ("json", b'{"a": nan}'), ("json", b'{"a": 01}'),
        ("json", b'{"a" 1}'), ("json", b"{} {}"), ("json", b"\xff"), ("json", b'{"a": 1,, }'), ("json", b"[" * 100_000),
        ("json", b'{"mcpServers": null}'), ("json", b'{"mcpServers": []}'), ("json", b"[]"), ("json", b"3"),
        ("json", b'{"mcpServers": {"a": 1}, "mcpServers": {"b": 1}}'), ("json", b'{"a": "\x01"}'),
        ("toml", b"a = "), ("toml", b"\xff"),
        ("toml", b'mcpServers = {x = {command = "y"}}\n'), ("toml", b"mcpServers = 1\n"),
        ("yaml", b"a: 1\n---\nb: 2\n"), ("yaml", b"a: 1\na: 2\n"), ("yaml", b"a: [1\n"), ("yaml", b"- 1\n"),
        ("yaml", b"x"),
        ("yaml", b"mcpServers: 3\n"), ("yaml", b"a: &a [*a]\n"), ("yaml", b"mcpServers: ~\n"), ("yaml", b"\xff"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_safely_is_refused(form: str, data: bytes) -> None:
    with pytest.raises(ConfigTextError):
        config_text.with_entry(form, data, PLACE, SERVER)


TOML = [
    b"",
    b"a = 1\n",
    b'# c\n[mcpServers.x]\ncommand = "y" # why\n# tail\n',
    b"a=1\r\n[b]\r\nc=2 # keep\r\n",
    b"t = '''\n[mcpServers.lessonbook]\n'''\n",
    b"x = [\n [1],\n]\n[[hooks.PreToolUse]] # note\ntimeout = 30.0\n\n\n# end\n",
    b"\xef\xbb\xbf[features]\n",
]


@pytest.mark.parametrize("data", TOML)
def test_a_table_goes_in_and_out_of_toml_byte_for_byte(data: bytes) -> None:
    new, back = there_and_back("toml", data, PLACE, {"command": "/x", "args": ["mcp"], "env": {"A b": "1"}})
    assert back == data and new.startswith(data)
    assert tomllib.loads(new.decode("utf-8-sig"))["mcpServers"]["lessonbook"]["env"] == {"A b": "1"}


def test_what_others_put_into_our_table_goes_with_it_and_what_follows_stays() -> None:
    data = config_text.with_entry("toml", b"a = 1\n", PLACE, {"command": "/x"})
    later = data + b'[mcpServers.lessonbook.tools.learn]\nok = true\n\n# about b\n[b]\nc = "[mcpServers.lessonbook]"\n'
    assert config_text.without("toml", later, PLACE) == b'a = 1\n\n# about b\n[b]\nc = "[mcpServers.lessonbook]"\n'


YAML = [
    b"",
    b"# only a comment\n",
    b"a: 1\n",
    b"mcpServers:\n  x:\n    command: y # c\n\n# tail\nb: 2\n",
    b"mcpServers: {}\n",
    b"mcpServers: {x: {command: y}} # c\n",
    b"mcpServers:\nb: 1\n",
    b"mcpServers:   # none yet\n  # x: 1\nb: 1\n",
    b"a: |\n  x\n\n\nb: |+\n  y\n\n",
    b"a: 1\r\nmcpServers:\r\n    x:\r\n        command: y\r\n",
    b"---\na: 1\n...\n",
    b"{a: 1}\n",
    b"a: &x {b: 1}\nc: *x\n",
    b"base: &b {k: v}\nd:\n  <<: *b\n  e: 'it''s'\n",
    b'\xef\xbb\xbfa: "caf\xc3\xa9"\n',
]


@pytest.mark.parametrize("data", YAML)
def test_an_entry_goes_in_and_out_of_yaml_byte_for_byte(data: bytes) -> None:
    new, back = there_and_back("yaml", data, PLACE, SERVER)
    assert back == data
    if b"<<" not in data:
        assert yaml.safe_load(new.decode("utf-8-sig"))["mcpServers"]["lessonbook"] == SERVER


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hooks:\n  pre:\n  - command: a\n    timeout: 3\n  other:\n    - command: b\n",
        b"hooks:\n  pre:\n    - command: a # first\n    # second\n\nz: 1\n",
        b"hooks:\n  pre: [{command: a}]\n",
        b"hooks: {}\n",
        b"hooks:\n  pre: []\n",
    ],
)
def test_an_item_goes_in_and_out_of_a_yaml_list(data: bytes) -> None:
    new, back = there_and_back("yaml", data, ("hooks", "pre"), {"command": "/x: y", "timeout": 10}, item=True)
    assert back == data
    assert yaml.safe_load(new)["hooks"]["pre"][-1] == {"command": "/x: y", "timeout": 10}


ODD = {"on", "off", "yes", "no", "y", "n", "null", "true", "false"}
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True).filter(lambda name: name not in ODD)
PLAIN = st.dictionaries(NAMES, VALUES, max_size=4)


@settings(deadline=None)
@given(PLAIN, st.booleans(), st.integers(2, 4))
def test_any_yaml_a_library_writes_comes_back(table: dict[str, Any], flow: bool, indent: int) -> None:
    text = yaml.safe_dump(table, default_flow_style=flow, indent=indent, allow_unicode=True, sort_keys=False)
    data = text.encode()
    if not isinstance(table.get("mcpServers", {}), dict):
        return
    try:
        new, back = there_and_back("yaml", data, PLACE, SERVER)
    except ConfigTextError:  # refused is fine: the file is left as it is
        return
    assert back == data or not table
    assert yaml.safe_load(new) == {**table, "mcpServers": {**table.get("mcpServers", {}), "lessonbook": SERVER}}


def test_two_ways_to_write_one_number_are_not_one_value() -> None:
    assert not config_text._same(1, True, "json") and not config_text._same({"a": 1}, {"a": 1.0}, "json")
