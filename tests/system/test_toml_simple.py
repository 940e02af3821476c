"""The quick reader never says anything a TOML parser would not."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.system.toml_simple import parse

KEYS = ["learning", "a", "a.b", '"q"', "[memory]", "[[x]]", "[a.b]", "[a]"]
VALUES = ["true", "false", "0", "07", "12", "1_0", "1.5", '"x y"', '"a\\"b"', '""', '""""""', "'s'", "+1", "-1", "inf"]
LISTS = ['["a", "b"]', '["a",]', "[]", "[1]", '["claude", "-p"]  # why', "{}", "2024-01-01", "[", "]"]
BLANKS = ["=", " = ", "# c", "\t", " ", "\n", "\r\n", "\r", "\x07", "é", '"é"', "\u2028", "\x85"]
PARTS = st.sampled_from(KEYS + VALUES + LISTS + BLANKS)


@settings(max_examples=1500, deadline=None)
@given(st.lists(PARTS, max_size=14).map("".join))
def test_it_agrees_with_the_parser_wherever_it_answers(text: str) -> None:
    found = parse(text)
    if found is not None:
        told = tomllib.loads(text)
        assert found == told and repr(found) == repr(told)


@pytest.mark.parametrize(
    "text",
    ["", 'learning = true\n',
     '[memory]\nbackend = "mnemopi"  # here\n\n[autolearn]\nenabled = true\nmin_tool_calls = 7\n',
     '# only a comment\n', '[editor]\ncommand = ["claude", "-p"]\r\ntimeout = 300\r\n', 'agent_dir = "~/é/x"'],
)  # fmt: skip
def test_what_people_write_is_answered(text: str) -> None:
    assert parse(text) == tomllib.loads(text)
