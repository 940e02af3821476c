from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessonbook.book.switch import enabled, set_enabled


def test_on_unless_set_off(tmp_path: Path) -> None:
    config = tmp_path / "cfg" / "config.toml"
    assert enabled(tmp_path, config) and not config.parent.exists()
    assert set_enabled(config, False) is False and "\nlearning = false\n" in config.read_text()
    assert not enabled(tmp_path, config)
    assert set_enabled(config, True) is True and enabled(tmp_path, config)


@pytest.mark.parametrize(("old", "on"), [("off", False), ("on", True), (False, False), (True, True), (7, True)])
def test_the_old_files_choice_moves_once_and_that_file_stays(tmp_path: Path, old: object, on: bool) -> None:
    settings, config = tmp_path / "settings.json", tmp_path / "config.toml"
    raw = json.dumps({"editor": {"tab": 2}, "learning": old})
    settings.write_text(raw)
    assert enabled(tmp_path, config) is on
    assert f"learning = {str(on).lower()}" in config.read_text() and settings.read_text() == raw
    settings.write_text(json.dumps({"learning": "off" if on else "on"}))
    assert enabled(tmp_path, config) is on


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"learning": null}', b"\xff"])
def test_an_old_file_that_says_nothing_moves_nothing(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(raw)
    assert enabled(tmp_path, tmp_path / "config.toml") and not (tmp_path / "config.toml").exists()


def test_a_home_that_cannot_be_written_keeps_answering(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"learning": "off"}')
    (tmp_path / "file").write_text("")
    assert enabled(tmp_path, tmp_path / "missing.toml") is False
    dangling = tmp_path / "config.toml"
    dangling.symlink_to(tmp_path / "nowhere" / "config.toml")
    assert enabled(tmp_path, dangling) is False and dangling.is_symlink()


def test_a_file_that_is_not_toml_is_never_rewritten(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("learning = [")
    for act in (lambda: set_enabled(config, True), lambda: enabled(tmp_path, config)):
        with pytest.raises(ValueError, match="not valid TOML"):
            act()
    assert config.read_text() == "learning = ["


def test_a_value_that_is_neither_true_nor_false_is_named(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('learning = "perhaps"\n')
    with pytest.raises(ValueError, match="must be true or false"):
        enabled(tmp_path, config)
