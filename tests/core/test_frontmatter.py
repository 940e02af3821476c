"""Reading frontmatter: FM-02 and FM-03, and the quick way against the YAML parser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core import frontmatter
from lessonbook.core.errors import InputError
from lessonbook.core.frontmatter import parse_simple, parse_yaml, split

PLAIN = "---\nname: tidy\ndescription: Tidy up\n---\nDo it.\n"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (PLAIN, "Do it.\n"),
        ("\ufeff" + PLAIN, "Do it.\n"),
        (PLAIN.replace("\n", "\r\n"), "Do it.\r\n"),
        (PLAIN.replace("\n", "\r"), "Do it.\r"),
        ("---\nname: tidy\ndescription: Tidy up\n---", ""),
        ("---\nname: tidy\ndescription: Tidy up\n---  \nDo it.\n", "Do it.\n"),
        ("---\t\nname: tidy\ndescription: Tidy up   \n\n---\nDo it.\n", "Do it.\n"),
    ],
)
def test_every_way_to_end_a_line_reads_the_same(text: str, body: str) -> None:
    parts = split(text)
    assert (dict(parts.fields), parts.body, parts.problem) == ({"name": "tidy", "description": "Tidy up"}, body, None)


def test_an_empty_block_is_one_without_fields() -> None:
    parts = split("---\n---\n")
    assert (dict(parts.fields), parts.body, parts.problem) == ({}, "", None)


def test_only_a_line_of_three_hyphens_closes_and_only_once() -> None:
    body = "\n---\n\n```diff\n--- a/f\n+++ b/f\n```\nkey: value\n---\nname: other\n---\n"
    parts = split(f"---\nname: foo---\nnote: a ---x b\n---{body}")
    assert dict(parts.fields) == {"name": "foo---", "note": "a ---x b"}
    assert parts.body == body[1:]


@pytest.mark.parametrize(
    "text", ["", "# Title\n", "\n---\nname: a\n---\n", "----\nname: a\n----\n", " ---\na: b\n---\n"]
)
def test_no_block_is_a_named_problem_and_all_of_it_is_body(text: str) -> None:
    parts = split(text)
    assert parts.problem is not None
    assert "no frontmatter" in parts.problem
    assert parts.body == text


def test_a_rule_at_the_top_is_no_block() -> None:
    parts = split("---\n\n# Title\n\ntext\n")
    assert parts.problem is not None
    assert "never closes" in parts.problem


@pytest.mark.parametrize("value", ["123", "on", "~", "2024-06-01", "12:30:45", "null", "1e3", "0x10", "yes", ".inf"])
def test_scalars_stay_text(value: str) -> None:
    block = f"name: {value}\nlist: [{value}]\ndeep:\n  {value.replace(':', '')}k: {value}\n"
    assert frontmatter.parse(block)["name"] == value
    assert parse_yaml(block)["list"] == (value,)
    assert split(f"---\nname: {value}\n---\n").fields["name"] == value


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ("name: a\nname: b", "twice"),
        ("meta:\n  k: 1\n  k: 2", "twice"),
        ("a: &x 1\nb: *x", "anchor"),
        ("a: *x", "anchor"),
        ("a: &x 1", "anchor"),
        ("<<: {a: 1}\na: !important x", "tag"),
        ("a: " + "[" * 40 + "]" * 40, "deeper"),
        ("a: " + "[" * 30_000, "YAML"),
        ("a: b\n---x", "YAML"),
        ("a: b\n...\nc: d", "document"),
        ("- a\n- b", "not a list of"),
        ("only words", "not a list of"),
        ("a: 'open", "not YAML"),
        ("ok: 1\na: b: c", "line 3"),
        ("a: \x07", "not allow"),
        ("a: \ud800", "not allow"),
        ("? [a]\n: b", "not text"),
        ("a: " + "x" * 70_000, "65536"),
        ("%TEMP%: x", "YAML"),
    ],
)
def test_what_cannot_be_used_is_named(block: str, word: str) -> None:
    parts = split(f"---\n{block}\n---\nbody\n")
    assert parts.problem is not None
    assert word in parts.problem
    assert parts.body == "body\n"
    assert not parts.fields


def test_many_aliases_are_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    with pytest.raises(InputError, match="alias"):
        frontmatter.parse("\n".join(lines))


def test_simple_files_need_no_yaml_parser() -> None:
    code = (
        "import sys; from lessonbook.core.frontmatter import split;"
        "p = split('---\\nname: a\\ndescription: \"Use: it\"\\nmetadata:\\n  session: x\\n---\\nb');"
        "assert p.fields == {'name': 'a', 'description': 'Use: it', 'metadata': {'session': 'x'}}, p;"
        "assert 'yaml' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(_source())})


def _source() -> Path:
    return Path(frontmatter.__file__).parents[2]


_SIGNS = [*":#-'\"&*!|>%@`{}[],?~ \n\t\\", ": ", " #", "\n  ", "\n", "...", "---", "<<", "=", "''", '""', "\n- x"]
_ODD_ONES = ["é", "\u2028", "\x85", "\xa0", "\u3000", "\ufeff", "👍"]
_piece = st.sampled_from([*_SIGNS, *_ODD_ONES, "a", "b", "key: ", "on", "1", "k:", "\n  s: "])
_blocks = st.lists(_piece, max_size=14).map("".join) | st.lists(_piece, max_size=10).map(lambda p: "a: " + "".join(p))
_anything = st.text(max_size=30).map(lambda text: f"k: {text}")


@given(_blocks | _anything | st.text(max_size=20))
def test_the_quick_way_says_what_yaml_says_or_nothing(block: str) -> None:
    quick = parse_simple(block)
    if quick is not None:
        assert quick == parse_yaml(block)


_lines = st.lists(
    st.builds(
        "{}{}:{}{}".format,
        st.sampled_from(["", "", "", "  ", "   "]),
        st.sampled_from(["name", "b", "c-d", "e_f", "on", "y"]),
        st.sampled_from([" ", "  ", ""]),
        st.sampled_from(
            ["", "''", '""', "x y", "'it''s'", '"a: b"', "a:b", "x # y", "x: y", "1", "~", "$HOME/x ", "é"]
        ),
    ),
    max_size=5,
).map("\n".join)


@given(_lines)
def test_the_quick_way_agrees_on_blocks_of_pairs(block: str) -> None:
    quick = parse_simple(block)
    if quick is not None:
        assert quick == parse_yaml(block)


@given(st.text(alphabet="-\r\n \tab:\ufeff", max_size=40))
def test_nothing_raises_and_the_body_is_the_texts_own_end(text: str) -> None:
    parts = split(text)
    assert text.endswith(parts.body)
