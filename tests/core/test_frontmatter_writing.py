"""Writing frontmatter: FM-01, and edits that leave every other line alone."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core import frontmatter
from lessonbook.core.errors import InputError
from lessonbook.core.frontmatter_writing import merge, render, scalar

ACTIVE = [
    "Use when: building",
    "@team rules",
    "`make` first",
    "fix #12 then ship",
    "*.md files",
    "!important x",
    "%TEMP% dir",
    "'a' or b",
    "on",
    "Null",
    "2024-06-01",
    "12:30:45",
    'a: "b\\c"',
    "tab\tinside",
    " leading and trailing ",
    "next\x85line",
    "line\u2028separator",
    "escape \x1b[0m",
    "x" * 300,
    "word " * 60,
    "ends with:",
    "three --- hyphens",
    "---",
    "...",
    "- item",
    "? key",
    "{a: b}",
    "[a]",
    "&a",
    "*a",
    "|",
    ">-",
    "~",
    "",
    "=",
    "<<",
    "\ufeffmark",
    "two\nlines",
    "👍 \U000e0041",
    "\xa0nbsp\xa0",
    "1e3",
    ".inf",
    "0o17",
]


@pytest.mark.parametrize("text", ACTIVE)
def test_every_strict_parser_reads_back_what_was_written(text: str) -> None:
    line = scalar(text)
    assert "\n" not in line
    document = f"description: {line}\n"
    assert yaml.safe_load(document) == {"description": text}
    assert yaml.load(document, Loader=yaml.BaseLoader) == {"description": text}
    assert frontmatter.parse(document) == {"description": text}
    assert "---" not in document


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_reads_back(text: str) -> None:
    document = f"d: {scalar(text)}\n"
    assert document.count("\n") == 1
    assert yaml.safe_load(document) == {"d": text}
    assert frontmatter.parse(document) == {"d": text}


@pytest.mark.parametrize("text", ["Tidy up a branch", "it's (very) good, isn't it?", "see http://x.invalid/a", "été"])
def test_quotes_are_left_out_where_nothing_needs_them(text: str) -> None:
    assert scalar(text) == text


def test_a_table_is_left_out_when_empty() -> None:
    assert render({"name": "a", "metadata": {}}) == "name: a\n"
    assert render({"name": "a", "metadata": {"session": "1"}}) == 'name: a\nmetadata:\n  session: "1"\n'


OLD = """\
# made by hand
name: a
enabled: true
created: 2024-01-01
description: |
  two
  lines
# about the tools
allowed-tools: [Read, Bash]
metadata:
    version: 1.0
    tags: {x: y}

# the end
last: ~
"""


def test_an_edit_leaves_every_other_line_alone() -> None:
    assert merge(OLD, 'name: a\ndescription: "New: one"\nmetadata:\n  session: s1\n') == OLD.replace(
        "|\n  two\n  lines", '"New: one"'
    ).replace("{x: y}\n", "{x: y}\n    session: s1\n")


def test_untouched_keys_keep_value_and_type() -> None:
    before = yaml.safe_load(OLD)
    after = yaml.safe_load(merge(OLD, "name: a\ndescription: New\n"))
    assert after == {**before, "description": "New"}


@pytest.mark.parametrize("kept", ["metadata: [1]", "metadata: {a: b}", "metadata: text"])
def test_metadata_that_is_no_table_of_lines_stays(kept: str) -> None:
    assert merge(f"name: a\n{kept}\n", "name: a\nmetadata:\n  session: s\n") == f"name: a\n{kept}\n"


def test_a_block_on_one_line_is_refused() -> None:
    with pytest.raises(InputError, match="edited safely"):
        merge("{name: a, description: b, x: 1}\n", "name: a\ndescription: c\n")


def test_an_empty_block_takes_the_new_lines() -> None:
    assert merge("", "name: a\n") == "name: a\n"


_value = st.sampled_from(
    ["1", "on", "text", "'q: x'", '"d"', "[a, b]", "{k: v}", "|\n  block\n  more", ">-\n  f\n", "\n- i"]
)
_old = st.dictionaries(st.sampled_from(["name", "description", "metadata", "x", "y-z", "w"]), _value).map(
    lambda fields: "".join(f"{key}: {value}\n" for key, value in fields.items())
)


@given(_old, st.text(min_size=1, max_size=12))
def test_a_merge_changes_what_it_is_asked_to_and_nothing_else(old: str, text: str) -> None:
    clean = "".join(char for char in text if char.isprintable()) or "x"
    before = yaml.safe_load(old) or {}
    after = yaml.safe_load(merge(old, render({"name": "n", "description": clean})))
    assert after == {**before, "name": "n", "description": clean}
