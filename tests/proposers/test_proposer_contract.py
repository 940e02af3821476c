"""Every proposer of the registry meets the contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lessonbook.core.ports import Proposer
from lessonbook.core.session import Session
from lessonbook.proposers.edited import Edited
from lessonbook.proposers.means import Means
from lessonbook.proposers.procedures import Procedures
from lessonbook.proposers.recorded import Recorded
from lessonbook.proposers.registry import PROPOSERS
from lessonbook.proposers.repeats import Repeats
from lessonbook.testing_proposers import ProposerContract

EDIT = "<<<< AGENTS.md evidence: 1\nRun the scripts with npm; tok has no such command and fails.\n>>>>"


class Contract(ProposerContract):
    talk: Callable[..., Any]

    @pytest.fixture(autouse=True)
    def _talking(self, talk: Callable[..., Any]) -> None:
        self.talk = talk

    def sessions(self) -> Sequence[Session]:
        told = "error: unrecognized subcommand 'npm'"
        return [
            self.talk(f"s{n}", day=n, cwd="/home/ana/shop")
            .sh("tok npm run build", told, 2)
            .sh("npm run build", "ok")
            .sh("make seed", "ok")
            .sh("ls /home/ana", "a")
            .sh("npm run deploy -- --key ghp_" + "a1B2" * 9, "ok")
            .tool("learn", memory="The staging server of ana@example.org is reset every night.")
            .done()
            for n in range(4)
        ]


class TestRepeats(Contract):
    def proposer(self) -> Proposer:
        return Repeats()


class TestProcedures(Contract):
    def proposer(self) -> Proposer:
        return Procedures()


class TestRecorded(Contract):
    def proposer(self) -> Proposer:
        return Recorded()


class TestEdited(Contract):
    def proposer(self) -> Proposer:
        return Edited(Means(lambda prompt: EDIT))


def test_the_registry_makes_them_by_their_names() -> None:
    assert {name: make(Means()).name for name, make in PROPOSERS.items()} == {name: name for name in PROPOSERS}
    assert {type(make(Means())) for make in PROPOSERS.values()} == {Repeats, Procedures, Recorded, Edited}
