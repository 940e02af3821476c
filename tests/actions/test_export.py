from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lessonbook.actions.export import export, write
from lessonbook.core.errors import InputError

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def test_a_session_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    document = export([SAMPLES / "codex"], "", tmp_path, {})
    id = document["session_id"]
    assert export([SAMPLES], id[:-4], tmp_path, {}) == document == export([SAMPLES], id, tmp_path, {})
    write(document, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == document
    assert os.stat(tmp_path / "out.json").st_mode & 0o777 == 0o600  # noqa: PTH116


def test_what_is_not_one_session_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"4 sessions fit: .* Name one by its id"):
        export([SAMPLES], "", tmp_path, {})
    with pytest.raises(InputError, match="There is no session 'zzz' there"):
        export([SAMPLES], "zzz", tmp_path, {})
    with pytest.raises(InputError, match="There is no session there"):
        export(None, "", tmp_path, {})
