"""The public face: every name is there, and none costs anything before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lessonbook


def test_every_public_name_loads() -> None:
    for name in lessonbook.__all__:
        assert getattr(lessonbook, name) is not None
    assert dir(lessonbook) == sorted(lessonbook.__all__)
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = lessonbook.nothing_of_ours


def test_importing_the_package_loads_nothing_heavy() -> None:
    told = (
        "import sys, lessonbook, lessonbook.core.lesson; print([m for m in sys.modules if m.startswith('lessonbook.')])"
    )
    loaded = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout
    assert "actions" not in loaded
    assert "memory" not in loaded
