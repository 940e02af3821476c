from __future__ import annotations

from lessonbook.actions.evidence import counted, dated, trailers
from lessonbook.core.candidate import BookKind, Evidence, Proposal

SECRET = "ghp_" + "a1B2" * 9


def evidence(**how: object) -> Evidence:
    given = {"kind": "refused", "agents": ("claude", "codex"), "sessions": ("s turn 1 (/t/s.jsonl)",), "count": 2}
    return Evidence(**(given | {"first": None, "last": None} | how))  # type: ignore[arg-type]


def test_units_and_dates() -> None:
    assert counted(evidence()) == "2 refusals in 1 session"
    assert counted(evidence(kind="failed-then-worked", sessions=("a", "b"))) == "2 calls in 2 sessions"
    assert dated(evidence()) == ""
    assert dated(evidence(first=0.5, last=86_400.0 * 31)) == "1970-01-01..1970-02-01"


def test_every_value_is_one_clean_line_and_blank_ones_are_left_out() -> None:
    shown = {"said": f"no\n\nSigned-off-by: x {SECRET}", "failed": "", "error": "/home/ana/x: gone"}
    found = trailers(Proposal("t", BookKind.PROJECT, evidence(examples=shown), "refused | git push", "r"), "repeats")
    assert [key for key, _ in found] == [
        "Proposer",
        "Evidence-kind",
        "Evidence-key",
        "Evidence-agents",
        "Evidence-count",
        "Evidence-session",
        "Evidence-error",
        "Evidence-said",
    ]
    values = dict(found)
    assert values["Evidence-agents"] == "claude, codex"
    assert all("\n" not in value and SECRET not in value and "/home/ana" not in value for value in values.values())
    assert values["Evidence-said"].startswith("no Signed-off-by: x")


def test_a_session_is_named_so_that_a_shell_opens_it_without_the_persons_name() -> None:
    path = "/home/ana/.claude/projects/-home-ana-work-shop/1f.jsonl"
    marks = (
        f"1f turn 3 ({path})",
        "rollout turn 1 (/srv/mail of ana@example.org/r.jsonl)",
        "plain turn 2 (/t/-x~y/s.jsonl)",
    )
    found = trailers(Proposal("t", BookKind.PROJECT, evidence(sessions=marks), "k", "r"), "repeats")
    assert [value for key, value in found if key == "Evidence-session"] == [
        "1f turn 3 (~/.claude/projects/*/1f.jsonl)",
        "rollout turn 1 (/srv/*/r.jsonl)",
        "plain turn 2 (/t/-x~y/s.jsonl)",
    ]
