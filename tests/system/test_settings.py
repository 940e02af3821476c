"""What a person may have written into config.toml, and what becomes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.core.errors import SetupError
from lessonbook.system.config_edit import ConfigError, read_value, set_value
from lessonbook.system.settings import load, places


def _config(home: Path, text: str) -> Path:
    file = home / ".config" / "lessonbook" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize("folder", ["relative/x", "~nobody/x", "./x", "a\\u0000b", "/a\\u0000b"])
def test_a_folder_that_would_be_another_one_everywhere_is_refused(home: Path, folder: str) -> None:
    _config(home, f'agent_dir = "{folder}"\n')
    with pytest.raises(SetupError, match="agent_dir"):
        load(places())


@pytest.mark.parametrize(("folder", "means"), [("~", "."), ("~/x", "x"), ("", ".local/share/lessonbook/agent")])
def test_a_folder_below_home(home: Path, folder: str, means: str) -> None:
    _config(home, f'agent_dir = "{folder}"\n')
    assert load(places()).agent_dir == home / means


@pytest.mark.parametrize("text", ["a = " + "[" * 5_000, "a = " + "{a = " * 5_000])
def test_a_file_nested_without_end_is_not_valid_toml(home: Path, text: str) -> None:
    file = _config(home, text)
    with pytest.raises(SetupError, match="not valid TOML"):
        load(places())
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_value(file, "learning")
    with pytest.raises(ConfigError, match="not valid TOML"):
        set_value(file, "learning", False)
    assert file.read_text() == text


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_waited_for(home: Path, make: Callable[[Path], object]) -> None:
    file = places({"HOME": str(home)}).config_file
    file.parent.mkdir(parents=True)
    make(file)
    with pytest.raises(SetupError):
        load(places({"HOME": str(home)}))
