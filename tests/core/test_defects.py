from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.defect import Defect, DefectKind, Proof, Sighting, Told
from lessonbook.core.defects import (
    Checked,
    Decision,
    DecisionKind,
    DefectState,
    Repeated,
    against,
    as_document,
    decisions_of,
    parts,
    repeated,
)

NOW = 1_790_000_000.0
DAY = 86_400.0


def told(proof: Proof = Proof.SESSIONS) -> Told:
    defect = Defect(DefectKind.CRASH, "fetch", "TypeError: x", proof)
    return Told(defect.id, defect, "TypeError: x")


def met(session: str, days: float = 1.0, **more: Any) -> Sighting:
    fields = {"root": session, "version": "2.1.0", "model": "m1", "project": "p1"} | more
    return Sighting(told().id, "claude", session, more.pop("place", session), at=NOW - days * DAY, **fields)


def stands(*sightings: Sighting, proof: Proof = Proof.SESSIONS, decided: Any = None, **more: Any) -> Repeated | None:
    found = repeated([told(proof)], sightings, {told().id: decided} if decided else {}, more.pop("checked", {}), NOW)
    return found[0] if found else None


def test_two_sessions_make_a_defect_and_one_does_not() -> None:
    assert stands(met("a"), met("a", 2.0)) is None
    assert stands(met("a"), met("sub", root="a")) is None, "a sub-agent's session is its parent's"
    one = stands(met("a", 1), met("b", 20), met("b", 40, version="2.0.9"))
    assert one is not None
    assert (one.count, one.sessions, one.projects) == (3, ("claude/b", "claude/a"), 1)
    assert (one.recent, one.before, one.agents) == (1, 1, {"claude": ("2.0.9", "2.1.0")})
    assert (one.first, one.last) == (NOW - 40 * DAY, NOW - DAY)


@pytest.mark.parametrize(("proof", "differs"), [(Proof.MODELS, "model"), (Proof.PROJECTS, "project")])
def test_what_its_proof_needs_must_differ(proof: Proof, differs: str) -> None:
    assert stands(met("a"), met("b"), proof=proof) is None
    assert stands(met("a"), met("b", **{differs: ""}), proof=proof) is None, "not known is not another one"
    assert stands(met("a"), met("b", **{differs: "other"}), proof=proof) is not None


@pytest.mark.parametrize(
    ("decision", "state"),
    [
        (Decision(DecisionKind.DISMISSED, NOW), DefectState.DISMISSED),
        (Decision(DecisionKind.FIXED, NOW), DefectState.FIXED),
        (Decision(DecisionKind.FIXED, NOW - 3 * DAY), DefectState.BACK),
        (Decision(DecisionKind.FIXED, NOW, since=NOW - 3 * DAY), DefectState.BACK),
        (Decision(DecisionKind.FIXED, NOW - 9 * DAY, since=NOW), DefectState.FIXED),
        (Decision(DecisionKind.FIXED, NOW - 9 * DAY, version="2.1.1"), DefectState.FIXED),
        (Decision(DecisionKind.FIXED, NOW, version="2.1"), DefectState.BACK),
        (Decision(DecisionKind.FIXED, NOW, since=NOW - DAY / 2, version="2.1"), DefectState.FIXED),
    ],
)
def test_a_decision_says_where_it_stands(decision: Decision, state: DefectState) -> None:
    one = stands(met("a", 1), met("b", 2), decided=(decision,))
    assert one is not None and one.state is state
    assert (one.since > 0) is (state is DefectState.BACK)


def test_a_fix_whose_check_fails_came_back_and_one_that_passes_holds() -> None:
    fixed = Decision(DecisionKind.FIXED, NOW, check=("true",), folder="/")
    for checked, state in ((Checked(NOW, "exit code 1"), DefectState.BACK), (Checked(NOW), DefectState.FIXED)):
        one = stands(met("a"), met("b"), decided=(fixed,), checked={told().id: checked})
        assert one is not None and one.state is state
    plain = replace(fixed, check=())
    one = stands(met("a"), met("b"), decided=(plain,), checked={told().id: Checked(NOW, "of an older check")})
    assert one is not None and one.state is DefectState.FIXED


def test_one_time_is_enough_to_come_back_and_only_the_last_decision_counts() -> None:
    fixed = Decision(DecisionKind.FIXED, NOW - 3 * DAY)
    one = stands(met("a"), decided=(Decision(DecisionKind.DISMISSED, NOW - 5 * DAY), fixed))
    assert one is not None and (one.state, one.since) == (DefectState.BACK, 1)


times = st.floats(0, 2e9)
versions = st.from_regex(r"\d{1,3}(\.\d{1,3}){0,3}", fullmatch=True)


@given(times, times, st.sampled_from(DecisionKind))
def test_what_came_before_a_fix_never_counts_against_it(at: float, later: float, kind: DecisionKind) -> None:
    decision = Decision(kind, max(at, later))
    assert not against(decision, replace(met("a"), at=min(at, later)))


@given(versions, versions)
def test_versions_are_compared_by_their_numbers(one: str, other: str) -> None:
    numbers = [[int(part) for part in text.split(".")] for text in (one, other)]
    width = max(map(len, numbers))
    first, second = (part + [0] * (width - len(part)) for part in numbers)
    assert (parts(one) >= parts(other)) is (first >= second)


decisions = st.builds(
    Decision,
    kind=st.sampled_from(DecisionKind),
    at=times,
    note=st.text(),
    since=st.none() | times,
    version=versions,
    check=st.lists(st.text(min_size=1)).map(tuple),
    folder=st.text(),
)


@given(st.dictionaries(st.text(), st.lists(decisions, min_size=1).map(tuple)))
def test_decisions_survive_their_file(decided: dict[str, tuple[Decision, ...]]) -> None:
    assert decisions_of(json.loads(json.dumps(as_document(decided)))) == decided


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_no_other_file_is_taken_for_decisions(document: object) -> None:
    if not isinstance(document, dict) or any(rows != [] for rows in document.values()):
        with pytest.raises(ValueError, match=r"^(?!$)"):
            decisions_of(document)
    else:
        assert decisions_of(document) == {}


@given(decisions, st.sampled_from(["kind", "at", "note", "since", "version", "check", "folder"]), st.data())
def test_a_decision_that_is_not_ours_in_one_field_is_not_left_out_in_silence(
    one: Decision, key: str, data: st.DataObject
) -> None:
    document = json.loads(json.dumps(as_document({"a": (one, one)})))
    document["a"][1][key] = data.draw(st.sampled_from([10**400, "later", {}, [3], "\0"]))
    try:
        found = decisions_of(document)
    except ValueError:
        return
    assert len(found["a"]) == 2, "it may also be one of ours"


@given(times, st.floats(2 * DAY, 1e12))
def test_a_time_that_is_yet_to_come_is_none(at: float, ahead: float) -> None:
    met_then = [replace(met("a"), at=at), replace(met("b"), at=at + ahead)]
    one = repeated([told()], met_then, {told().id: (Decision(DecisionKind.FIXED, at),)}, {}, at)[0]
    assert (one.count, one.first, one.last, one.state) == (2, at, at, DefectState.FIXED)
