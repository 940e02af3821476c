from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.candidate import BookKind, Evidence, Proposal
from lessonbook.proposers.matching import about, is_again, names, words
from lessonbook.proposers.repeats import Repeats
from lessonbook.proposers.shortlist import MOST_A_RUN, shortlist, spoken

Start = Callable[..., Any]
GONE = "sh: 1: vitest: not found"


def test_a_lesson_that_needs_others_first_names_the_command_that_fails(talk: Start) -> None:
    sessions = [
        talk(f"s{n}").sh("npm test", GONE, 127).sh("npm ci", "ok").sh("npm test", "ok").done() for n in range(2)
    ]
    (prepared,) = [one for one in Repeats().propose(sessions) if one.evidence.kind == "prepared-then-worked"]
    failed, other, worked = sessions[0].turns[0].calls
    assert names(prepared, failed) and not names(prepared, other) and not names(prepared, worked)
    other_reason = replace(failed, result="error: no such file or directory: vitest.config.ts")
    assert not names(prepared, other_reason), "the program alone is not enough"


def test_a_refusal_is_named_by_what_was_refused(talk: Start) -> None:
    sessions = [talk(f"s{n}").refuse("git push origin x", "never push").done() for n in range(2)]
    (only,) = Repeats().propose(sessions)
    again = talk("late").refuse("git push --force", "no").done()
    elsewhere = talk("late").refuse("rm -r build", "no").done()
    assert names(only, again.turns[0].calls[0]) and all(names(only, word) for word in words(again))
    assert not names(only, elsewhere.turns[0].calls[0]) and not any(names(only, word) for word in words(elsewhere))
    first, last = next(words(sessions[0])), next(words(elsewhere))
    assert is_again(next(words(again)), first) and not is_again(last, first)


def test_a_correction_is_named_by_its_words(talk: Start) -> None:
    told = "never use default exports in this code base"
    sessions = [talk(f"s{n}").ask("go").sh("ls").ask(told).sh("ls").done() for n in range(2)]
    (only,) = [one for one in Repeats().propose(sessions) if one.evidence.kind == "corrected"]
    again = talk("late").ask("go").sh("ls").ask("never use default exports in this code base please").done()
    other = talk("late").ask("go").sh("ls").ask("never touch the lock file by hand, regenerate it").done()
    assert all(names(only, word) for word in words(again)) and list(words(again))
    assert not any(names(only, word) for word in words(other)) and list(words(other))


def test_a_call_that_went_well_is_about_nothing(talk: Start) -> None:
    assert about(talk("s").sh("npm test", "ok").done().turns[0].calls[0]) == frozenset()


def proposal(at: int, said: bool) -> Proposal:
    examples = {"said": "never"} if said else {}
    evidence = Evidence("refused" if said else "failed-again", ("claude",), (f"s{at}",), 1, None, None, examples)
    return Proposal(f"t{at}", BookKind.PROJECT, evidence, f"k{at}", rule="x")


@given(
    st.lists(st.booleans(), max_size=40),
    st.integers(0, 30),
    st.sets(st.integers(0, 39)),
    st.sets(st.integers(0, 39)),
)
def test_what_is_shown_keeps_its_bounds(kinds: list[bool], budget: int, known: set[int], out: set[int]) -> None:
    out = out - known
    ranked = [proposal(at, said) for at, said in enumerate(kinds)]
    shown, over = shortlist(ranked, budget, known, out)
    most = min(budget, MOST_A_RUN)
    assert shown == sorted(shown) and len(shown) <= most
    assert not set(shown) & (known | out) and not set(over) & (set(shown) | known | out)
    assert set(shown) | set(over) == set(range(len(ranked))) - known - out, "each that is new is shown, or told why not"
    plain = [at for at in shown if not spoken(ranked[at])]
    used = sum(at < len(ranked) for at in known)
    assert len(plain) <= max(budget - used, 0)
    said = [at for at in range(len(ranked)) if at not in known | out and spoken(ranked[at])]
    if any(spoken(ranked[at]) for at in over):
        assert len(shown) == most, "what a person said is only left out where a run is full"
        assert len(shown) - len(plain) >= most // 2, "and has half of the places"
    if any(not spoken(ranked[at]) for at in over) and used < budget - most:
        assert len(plain) >= min(most // 2, most - len(said)), "what was only done has the others"
