"""The browser is opened where there is one with a window, and never one that would take the terminal."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest

from lessonbook.system.browser import open_soon

URL = "http://127.0.0.1:1/enter?token=x"


def test_without_a_window_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not open_soon(URL)


def test_the_browser_that_is_named_gets_the_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told, script = tmp_path / "told", tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {told}.new && mv {told}.new {told}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    import webbrowser

    monkeypatch.setenv("BROWSER", str(script))
    webbrowser.register(str(script), None, webbrowser.GenericBrowser([str(script), "%s"]), preferred=True)
    assert open_soon(URL)
    for _ in range(200):
        if told.exists():
            break
        time.sleep(0.02)
    assert told.read_text() == URL
