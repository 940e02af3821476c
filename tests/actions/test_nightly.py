"""The night from end to end, with the scripted agent and two scripted models."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Place = Any
Made = Callable[[], Place]


def test_what_makes_the_way_shorter_and_the_answer_as_good_is_offered(place: Made) -> None:
    one = place()
    record = one.night()
    (round,) = record["rounds"]
    assert (round["state"], round["why"]) == ("done", "its way got shorter, and its answer is as good"), record
    assert one.pending() == [round["offered"]]
    assert round["before"] == ("3 findings, 2 failed, 4 calls",) * 2
    assert round["after"] == "0 findings, 0 failed, 2 calls"
    assert record["spent"] == pytest.approx(0.02 * 2 + 0.01 + 0.05 * 2)
    (book,) = one.home.glob(".config/lessonbook/projects/*/learned")
    shown = one.git("show", f"pending/{round['offered']}", folder=book)
    assert "+Run `sh check.sh` to check the sizes" in shown
    for told in ("Proposer: edited", "Replay-before: 3 findings", "Replay-after: 0 findings", "Evidence-session: 5f0c"):
        assert told in shown
    note = (one.nights / record["night"] / "note.md").read_text()
    assert f"offered as {round['offered']}" in note
    kept = json.loads((one.nights / record["night"] / "record.json").read_text())
    assert kept["rounds"][0]["offered"] == round["offered"]
    assert one.git("status", "--porcelain") == ""
    assert one.night()["rounds"] == []  # it is done, and not tried again
    assert one.pending() == [round["offered"]]
