"""What hosts, skills and configurations are given, end to end: odd names, sizes, files and links."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lessonbook.core.skill import MAX_BYTES

MARKS = ("<!-- lessonbook: begin -->", "<!-- lessonbook: end -->")
LOCAL = '[memory]\nbackend = "local"\n[autolearn]\nenabled = true\n'


@pytest.fixture
def config(home: Path) -> Path:
    """The configuration, with a memory to learn into."""
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(LOCAL)
    return file


@pytest.fixture
def skills(home: Path) -> Path:
    return home / ".local/share/lessonbook/agent/managed-skills"


def skill_file(path: Path, name: str, body: str = "Do it.", description: str = "When asked.") -> str:
    path.write_text(f"---\nname: '{name}'\ndescription: {description}\n---\n\n{body}\n")
    return str(path)


RAMABANA = [b"", b"# Mine\n\nWords.\n", b"# Mine\r\n\r\nWords.\r\n", b"\xef\xbb\xbf# Mine\n", b"no line end",
            b"```\n<!-- lessonbook: begin -->\n```\nAfter.\n", b"\tindented\n\n\n"]  # fmt: skip
BROKEN = [
    MARKS[0],
    MARKS[1],
    f"{MARKS[1]}\nx\n{MARKS[0]}",
    "\n".join([*MARKS, *MARKS]),
    f"{MARKS[0]}\n```\n{MARKS[1]}\n```",
]


@pytest.mark.parametrize("how", ["file", "link"])
@pytest.mark.parametrize("data", [None, *RAMABANA])
def test_mh_06_a_block_comes_and_goes_and_a_persons_words_stay(here, home: Path, data: bytes | None, how: str) -> None:
    page = home / ".config/ramabana/AGENTS.md"
    page.parent.mkdir(parents=True)
    real = home / "CLAUDE.md" if how == "link" and data is not None else page
    if data is not None:
        real.write_bytes(data)
    if real != page:
        page.symlink_to(real)
    for _ in range(2):
        assert here("setup", "ramabana", "--yes").returncode == 0
        assert page.read_bytes().startswith(data or b"") and page.read_bytes().count(MARKS[1].encode()) == 1
        assert page.is_symlink() == (real != page)
    assert here("setup", "ramabana", "--remove", "--yes").returncode == 0
    assert (real.read_bytes() if real.exists() else None) == data
    assert page.is_symlink() == (real != page)


@pytest.mark.parametrize("text", BROKEN)
def test_mh_06_markers_that_do_not_pair_are_said_and_left(here, home: Path, text: str) -> None:
    page = home / ".config/ramabana/AGENTS.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"Mine.\n{text}\nMine too.\n")
    before = page.read_bytes()
    code, out, err = here("setup", "ramabana", "--yes")
    assert code != 0 and "do not pair" in out + err
    assert page.read_bytes() == before


NAMES = [
    "部署流程",
    "回滚流程",
    "🚀🚀",
    "...",
    "---",
    "",
    "Ünïcode Ñame",
    "重构 pipeline v2",
    "a--b",
    "-a",
    "a-",
    "A" * 65,
]


def test_ls_01_a_name_that_is_none_is_refused_with_the_rule_and_never_another(
    here, config: Path, skills: Path, tmp_path: Path
) -> None:
    for number, name in enumerate(NAMES):
        code, out, err = here("learn", f"Lesson {number}.", "--skill", skill_file(tmp_path / "S.md", name))
        assert code != 0 and "Lesson stored, but the managed skill could not be written: " in out + err, name
        assert re.search("lower-case|empty|name", out + err), (name, err)
    assert not skills.exists() or not list(skills.iterdir())
    for name, kept in (("  Deploy-It ", "deploy-it"), ("b2", "b2"), ("x" * 64, "x" * 64)):
        assert here("learn", f"Of {kept}.", "--skill", skill_file(tmp_path / "S.md", name)).returncode == 0
        assert f"name: {kept}\n" in (skills / kept / "SKILL.md").read_text().replace('"', "").replace("'", "")
    assert len(here("recall", "--limit", "50").stdout.splitlines()) == len(NAMES) + 3  # each lesson is kept, once


def test_ls_03_the_whole_file_counts_in_bytes(here, config: Path, skills: Path, tmp_path: Path) -> None:
    def learn(body: str, name: str, *more: str, description: str = "When asked.") -> tuple[int, str]:
        file = skill_file(tmp_path / "S.md", name, body, description)
        code, out, err = here("learn", f"About {name}.", "--skill", file, *more)
        return code, out + err

    assert learn("a", "probe")[0] == 0
    rest = (skills / "probe/SKILL.md").stat().st_size - 1
    fits = "a" * (MAX_BYTES - rest - 2)  # a name of three letters is two shorter than probe
    assert learn(fits + "aa" * 2, "abc")[0] == 0, "exactly the limit"
    assert (skills / "abc/SKILL.md").stat().st_size == MAX_BYTES
    for name, body in (("abd", fits + "a" * 5), ("kana", "あ" * 21_400)):
        code, said = learn(body, name)
        assert code != 0 and "64,000" in said and not (skills / name).exists(), said[:300]
    code, said = learn("a" * (MAX_BYTES - 50), "long", description="d" * 900)
    assert code != 0 and "64,000" in said
    code, said = learn("fine", "wordy", description="é" * 1_025)
    assert code != 0 and "1,024" in said
    before = (skills / "abc/SKILL.md").read_bytes()
    code, said = learn(fits + "a" * 5, "abc", "--update")
    assert code != 0 and (skills / "abc/SKILL.md").read_bytes() == before
    assert sorted(path.name for path in (skills / "abc").iterdir()) == ["SKILL.md"]


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_ls_04_each_half_is_told_as_it_is_and_the_repeat_keeps_one(
    here, home: Path, config: Path, tmp_path: Path, backend: str
) -> None:
    config.write_text(LOCAL.replace("local", backend))
    big = skill_file(tmp_path / "S.md", "big", "a" * MAX_BYTES)
    for _ in range(2):
        code, out, err = here("learn", "A good one.", "--skill", big)
        assert code != 0 and "Lesson stored, but the managed skill could not be written: " in out + err
    good = skill_file(tmp_path / "S.md", "big", "a")
    assert here("learn", "A good one.", "--skill", good).stdout == 'Lesson stored. Created managed skill "big".\n'
    assert here("recall").stdout == "- A good one.\n"


def test_ls_04_a_full_disk_is_told_and_the_call_again_stores_it_once(home: Path, config: Path, tmp_path: Path) -> None:
    def learn(limit: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "lessonbook", "learn", "Kept in the end. " + "x" * 900],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )  # fmt: skip

    full = learn(100)
    assert full.returncode != 0 and "stored." not in full.stdout and "Traceback" not in full.stderr
    assert not list(home.rglob("learned.md"))
    assert learn(resource.RLIM_INFINITY).stdout.startswith("Lesson stored.")
    (page,) = home.rglob("learned.md")
    assert page.read_text().count("Kept in the end.") == 1
    assert sorted(path.name for path in page.parent.iterdir() if "lock" not in path.name) == ["learned.md"]


ODD = {
    "no line end": b"[features]",
    "a comment behind": b"enabled = false   # why: shared box\n",
    "commented out": b"# [learn]\n# learning = true\n",
    "an array of tables": b"[[hooks.PreToolUse]] # note\nlearning = 1\n",
    "unknown tables": b"timeout = 30.0\n\n\n[x.y]\nz = [1, # one\n  2]\n",
    "a long string": b"s = '''\n[learn]\nlearning = true\n'''\n",
    "windows": b"a = 1\r\n[learn]\r\nenabled = false # keep\r\n",
    "a mark": b"\xef\xbb\xbfa = 1\r\n[learn]\r\nenabled = false # keep\r\n",
    "empty": b"",
    "set before": b"learning = true # mine\n[a]\nb = 1\n",
}


@pytest.mark.parametrize("kind", ODD)
def test_cf_01_cf_03_only_the_switchs_own_line_changes(here, home: Path, kind: str) -> None:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True)
    file.write_bytes(ODD[kind])
    told = [line for line in ODD[kind].splitlines() if not line.startswith(b"learning")]
    seen = []
    for word, on in (("off", False), ("on", True), ("off", False), ("on", True)):
        assert here("learned", word)[:2] == (0, f"learning is {word}\n")
        seen.append(file.read_bytes())
        assert tomllib.loads(seen[-1].decode("utf-8-sig"))["learning"] is on
        left = [line for line in seen[-1].splitlines() if not line.startswith((b"learning", b"# The settings"))]
        assert [line for line in left if line] == [line for line in told if line]
        assert seen[-1].count(b"\n") == seen[-1].count(b"\r\n") or b"\r\n" not in ODD[kind]
    assert seen[0] == seen[2] and seen[1] == seen[3]
    if kind == "set before":
        assert seen[1] == ODD[kind]


@pytest.mark.parametrize("raw", [b"a = 1 # x\ry\n", b"\0", b"learning = ["])
def test_cf_03_what_is_no_toml_is_refused_untouched(here, home: Path, raw: bytes) -> None:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True)
    file.write_bytes(raw)
    code, out, err = here("learned", "off")
    assert code != 0 and "not valid TOML" in out + err and file.read_bytes() == raw


LINKED = {
    ".config/lessonbook/config.toml": ("learned", "off"),
    ".claude/settings.json": ("setup", "claude", "--yes"),
    ".config/ramabana/AGENTS.md": ("setup", "ramabana", "--yes"),
    "memory": ("learn", "Kept behind a link."),
}


@pytest.mark.parametrize("name", LINKED)
def test_cf_04_a_linked_file_stays_a_link_and_a_special_one_is_refused(
    here, home: Path, config: Path, name: str
) -> None:
    assert here("learn", "The first.").returncode == 0
    path = next(home.rglob("learned.md")) if name == "memory" else home / name
    words = LINKED[name]
    first = path.read_bytes() if path.exists() else b"{}\n" if path.suffix == ".json" else b"Mine.\n"
    dotfiles = home / "dotfiles"
    dotfiles.mkdir()
    real = dotfiles / path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)

    real.write_bytes(first)
    real.chmod(0o600)
    (home / "between").symlink_to(real)
    path.symlink_to(home / "between")
    assert here(*words).returncode == 0
    assert path.is_symlink() and (home / "between").is_symlink()
    assert real.read_bytes() != first and real.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in dotfiles.iterdir() if "lock" not in one.name] == [real.name], (
        "the file it was written to first is gone"
    )

    changed = real.read_bytes()
    real.write_bytes(first)
    path.unlink()
    os.link(real, path)
    code, out, err = here(*words)
    assert code != 0 and "hard link" in (out + err).lower(), (out, err)
    assert real.read_bytes() == first and changed != first

    for target in (home / "nowhere" / "at-all", path):
        path.unlink()
        path.symlink_to(target)
        code, out, err = here(*words)
        assert code != 0 and path.is_symlink() and not target.exists(), (out, err)
        assert len((out + err).strip()) > 10 and "Traceback" not in err
