"""Published sessions of every agent, read on two cores and one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.actions.test_noted import noted, one_after_the_other

from lessonbook.system.cores import Cores, Here

pytestmark = pytest.mark.shared


def test_every_published_session_is_the_same_on_every_core(shared: Path) -> None:
    folder = [shared / "data" / "transcripts"]
    plain = one_after_the_other(folder)
    with Cores(2) as two:
        assert noted(folder, two, 100_000) == plain
    assert noted(folder, Here(), 100_000) == plain
