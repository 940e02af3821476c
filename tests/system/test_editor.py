"""The person's own editor, on copies that are gone afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessonbook.core.errors import InputError, SetupError
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.system.editor import edited
from lessonbook.system.settings import reviewer


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an editor of these tests writes the paths it was given."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return tmp_path / "seen paths"


def left_over(seen: Path) -> list[str]:
    return [path for path in seen.read_text().splitlines() if Path(path).exists() or Path(path).parent.exists()]


def test_the_editor_gets_all_files_under_their_names(seen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "false")
    script = f"""for f in "$@"; do stat -c %a "$f" >> "$f"; echo "$f" >> "{seen}"; done"""
    monkeypatch.setenv("VISUAL", f"sh -c '{script}' 'two words'")
    assert edited({"AGENTS.md": b"a\n", "skills/x y/SKILL.md": b""}) == {
        "AGENTS.md": b"a\n600\n",
        "skills/x y/SKILL.md": b"600\n",
    }
    assert len(seen.read_text().splitlines()) == 2 and left_over(seen) == []


@pytest.mark.parametrize(
    ("command", "error", "why"),
    [
        ("", SetupError, "set VISUAL or EDITOR"),
        ("/no/such/editor", SetupError, "cannot be started"),
        ("""sh -c 'echo "$1" > "{seen}"; exit 1' x""", InputError, "exit code 1"),
        ("""sh -c 'echo "$1" > "{seen}"; rm "$1"' x""", InputError, "is gone"),
    ],
)
def test_an_editor_that_fails_changes_nothing(
    seen: Path, monkeypatch: pytest.MonkeyPatch, command: str, error: type[Exception], why: str
) -> None:
    monkeypatch.setenv("EDITOR", command.format(seen=seen))
    with pytest.raises(error, match=why):
        edited({"AGENTS.md": b"a\n"})
    assert not seen.exists() or left_over(seen) == []


def test_who_reviews_here(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    assert reviewer(config, {}) == TOOL
    config.write_text('[review]\nname = "Ana"\nemail = "a@x"\n')
    assert reviewer(config, {"LESSONBOOK_REVIEWER": " "}) == Reviewer("Ana", "a@x")
    config.write_text("= no TOML")
    assert reviewer(config, {"LESSONBOOK_REVIEWER": "Bo <b@x>"}) == Reviewer("Bo", "b@x")
    with pytest.raises(SetupError, match="not valid TOML"):
        reviewer(config, {})
    config.write_text("[review]\nname = 3\n")
    with pytest.raises(SetupError, match=r"review\.name must be text"):
        reviewer(config, {})
