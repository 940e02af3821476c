"""Evidence in parts: whatever the trailers say, nothing of it is lost, and what propose writes is understood."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.actions.evidence import trailers as written
from lessonbook.actions.grounds import WHY, Bar, Mark, grounds
from lessonbook.core.candidate import BookKind, Evidence, Proposal


def test_what_propose_writes_is_understood() -> None:
    marks = ("5b1f turn 3 (/home/x/.claude/a.jsonl)", "6c2f turn 9 (/srv/b.jsonl)")
    times = (1_772_000_000.0, 1_772_900_000.0, 1_772_900_001.0)
    told = {"failed": "npm test", "error": "npm error", "worked": "pnpm test", "said": "use pnpm"}
    evidence = Evidence(
        "failed-then-worked", ("claude", "codex"), marks, 1057, 1_772_000_000.0, 1_772_900_000.0, told, times
    )
    found = grounds(written(Proposal("Use pnpm", BookKind.GLOBAL, evidence, "k1", rule="x"), "repeats"))
    assert found.why == WHY["failed-then-worked"] and found.proposer == "repeats" and found.agents == "claude, codex"
    assert found.bars == (Bar("calls", 1057), Bar("sessions", 2))
    assert found.weeks == (Bar("2026-02-23", 1), Bar("2026-03-02", 2))
    assert (found.first, found.last) == ("2026-02-25", "2026-03-07")
    assert found.marks[1] == Mark("6c2f", "9", "/srv/b.jsonl")
    assert [value for _, value in found.examples] == ["npm test", "npm error", "pnpm test", "use pnpm"]
    assert found.others == ()


def test_a_replay_is_told_with_its_route_before_and_after() -> None:
    told = [("Replay-before", "3 findings, 2 failed, 19 calls"), ("Replay-after", "0 findings, 0 failed, 8 calls")]
    told += [("Replay-spent", "$0.21"), ("Replay-judge", "the answer is at least as good")]
    found = grounds(told)
    assert [value for _, value in found.replay] == [told[0][1], told[1][1], told[3][1], "$0.21"] and found.others == ()


KEYS = st.sampled_from(
    ["Proposer", "Evidence-kind", "Evidence-key", "Evidence-count", "Evidence-dates", "Evidence-session",
     "Evidence-failed", "Evidence-weeks", "Evidence-agents", "Edited-by", "Split-from"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(KEYS, st.text(max_size=60)), max_size=12))
def test_nothing_is_lost_and_nothing_raises(trailers: list[tuple[str, str]]) -> None:
    found = grounds(trailers)
    assert [value for key, value in trailers if key in ("Edited-by", "Split-from")] == [
        value for _, value in found.others
    ]
    sessions = [value for key, value in trailers if key == "Evidence-session"]
    assert len(found.marks) == len(sessions)
    assert all(mark.session in value for mark, value in zip(found.marks, sessions, strict=True))
    firsts = dict(reversed(trailers))
    assert found.count == firsts.get("Evidence-count", "") and found.kind == firsts.get("Evidence-kind", "")
    assert all(bar.number >= 0 for bar in (*found.bars, *found.weeks))


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 60), st.integers(1, 99), min_size=1, max_size=12))
def test_every_week_keeps_its_number_and_stands_in_order(counts: dict[int, int]) -> None:
    monday = date(2026, 3, 2)
    said = {(monday + timedelta(weeks=week)).isoformat(): count for week, count in counts.items()}
    text = ", ".join(f"{week} {count}" for week, count in sorted(said.items()))
    found = grounds([("Evidence-weeks", text)]).weeks
    assert {bar.name: bar.number for bar in found if bar.number} == said
    assert [bar.name for bar in found] == sorted(bar.name for bar in found)
