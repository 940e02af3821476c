from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.errors import StoreError
from lessonbook.system.config_edit import ConfigError, read_value, set_value

FULL = """\
# mine
agent_dir = "~/x"   # why: shared box

# [learn]
[features]
timeout = 30.0
note = '''
[learn]
learning = true
'''

[[hooks.PreToolUse]] # note
a.b = 1
z = 2
[unknown]
k = [1, # one
  2]"""


def changed_lines(before: str, after: str) -> list[str]:
    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]


def test_only_our_line_changes_and_lands_at_the_top_level(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(FULL)
    set_value(path, "learning", False)
    after = path.read_text()
    assert tomllib.loads(after) == tomllib.loads(FULL) | {"learning": False}
    assert [line for line in changed_lines(FULL, after) if line.strip("+- ")] == ["+ learning = false"]
    set_value(path, "learning", True)
    set_value(path, "learning", False)
    assert path.read_text() == after


ODD = {
    "ends in a table": "[features]",
    "only a comment": "# [learn]\n# learning = true",
    "a comment behind the value": "enabled = false   # why: shared box\n",
    "an array of tables": "[[hooks.PreToolUse]] # note\na = 1\n[[hooks.PreToolUse]]\nb = 2\n",
    "a long string": "s = '''\n[learn]\nlearning = true\n'''\nt = 30.0\n",
    "a table named alike": "[learn]\nlearning = true # mine\n",
    "blank lines and tables": "\n\n# c\n\n[t]\nx = 1\n\n[t.u]\ny = 2\n",
    "windows": "a = 1\r\n[learn]\r\nenabled = false # keep\r\n",
}


@pytest.mark.parametrize("kind", ODD)
def test_on_and_off_again_is_at_rest_and_touches_only_its_own_line(tmp_path: Path, kind: str) -> None:
    """CF-01: no comment, key, order or line end of a person's moves, and the value lands at the top level."""
    path, before = tmp_path / "config.toml", ODD[kind].encode()
    path.write_bytes(before)
    seen = []
    for on in (False, True, False, True):
        set_value(path, "learning", on)
        seen.append(path.read_bytes())
        assert tomllib.loads(seen[-1].decode()) == tomllib.loads(ODD[kind]) | {"learning": on}
        added = [line for line in changed_lines(ODD[kind], seen[-1].decode()) if line.strip("+- ")]
        assert added == [f"+ learning = {str(on).lower()}"]
    assert seen[0] == seen[2] and seen[1] == seen[3]
    assert (b"\r\n" in before) == (seen[0].count(b"\n") == seen[0].count(b"\r\n"))


@pytest.mark.parametrize("text", ["[learning]\nx = 1\n", "learning.x = 1\n", "[[learning]]\n", "learning = [1]\n"])
def test_a_table_or_list_of_the_keys_name_is_left_to_the_person(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="set learning = false in it by hand"):
        set_value(path, "learning", False)
    assert path.read_text() == text


def test_a_trailing_comment_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("learning = true   # why: shared box\n[t]\n")
    set_value(path, "learning", False)
    assert path.read_text() == "learning = false   # why: shared box\n[t]\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            b"a = 1\r\n[learn]\r\nx = false # keep\r\n",
            b"a = 1\r\nlearning = false\r\n\r\n[learn]\r\nx = false # keep\r\n",
        ),
        (b"\xef\xbb\xbfa = 1\n", b"\xef\xbb\xbfa = 1\nlearning = false\n"),
        (b"\xef\xbb\xbflearning = true\r\n", b"\xef\xbb\xbflearning = false\r\n"),
        (b"a = 1", b"a = 1\nlearning = false\n"),
        (b"", b"# The settings of lessonbook on this machine.\nlearning = false\n"),
    ],
)
def test_line_ends_and_mark_stay(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(before)
    set_value(path, "learning", False)
    assert path.read_bytes() == after


@pytest.mark.parametrize("raw", [b"a = 1 # x\ry\n", b"learning = [", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_what_is_not_toml_stays_untouched(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(raw)
    for act in (lambda: set_value(path, "learning", False), lambda: read_value(path, "learning")):
        with pytest.raises(ConfigError, match="not valid TOML"):
            act()
    assert path.read_bytes() == raw


def test_nothing_to_change_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("learning = true\n")
    path.chmod(0o400)
    before = path.stat()
    set_value(path, "learning", True)
    assert path.stat().st_ino == before.st_ino
    assert read_value(tmp_path / "none.toml", "learning") is None and not (tmp_path / "none.toml").exists()


def test_a_linked_file_stays_a_link_and_keeps_its_mode(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "config.toml"
    real.parent.mkdir()
    real.write_text("a = 1\n")
    real.chmod(0o600)
    (tmp_path / "one.toml").symlink_to(real)
    (tmp_path / "two.toml").symlink_to(tmp_path / "one.toml")
    set_value(tmp_path / "two.toml", "learning", False)
    assert (tmp_path / "two.toml").is_symlink() and tomllib.loads(real.read_text())["learning"] is False
    assert real.stat().st_mode & 0o777 == 0o600 and [path.name for path in real.parent.iterdir()] == ["config.toml"]


def test_links_that_lead_nowhere_and_hard_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gone.toml").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop.toml").symlink_to(tmp_path / "loop.toml")
    (tmp_path / "a.toml").write_text("a = 1\n")
    os.link(tmp_path / "a.toml", tmp_path / "b.toml")
    for name in ("gone.toml", "loop.toml", "b.toml"):
        with pytest.raises(StoreError):
            set_value(tmp_path / name, "learning", False)
    assert (tmp_path / "a.toml").read_text() == "a = 1\n"


_KEY = st.from_regex(r"[a-z]{1,4}", fullmatch=True).filter(lambda key: key != "learning")


@given(
    root=st.dictionaries(_KEY, st.integers(0, 9), max_size=3),
    tables=st.dictionaries(_KEY.map(str.upper), st.dictionaries(_KEY, st.booleans(), max_size=3), max_size=3),
    dotted=st.booleans(),
    on=st.booleans(),
)
def test_every_other_value_survives(
    tmp_path_factory: pytest.TempPathFactory,
    root: dict[str, int],
    tables: dict[str, dict[str, bool]],
    dotted: bool,
    on: bool,
) -> None:
    lines = [f"{key} = {value} # c" for key, value in root.items()] + (["D.one = 1", "D.two = 2"] if dotted else [])
    for name, values in tables.items():
        lines += ["", f"[T.{name}] # t"] + [f"{key} = {str(value).lower()}" for key, value in values.items()]
    path = tmp_path_factory.mktemp("c") / "config.toml"
    text = "\n".join(lines)
    path.write_text(text)
    set_value(path, "learning", on)
    assert tomllib.loads(path.read_text()) == tomllib.loads(text) | {"learning": on}
    assert all(line in path.read_text().splitlines() for line in lines)
