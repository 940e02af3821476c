"""Which of the ranked proposals a person is shown: few, and never fewer for what a person said."""

from __future__ import annotations

from collections.abc import Container, Sequence

from lessonbook.core.candidate import Proposal

MOST_A_RUN = 12

_A_PERSONS_WORDS = ("refused", "corrected")
"""Kinds whose evidence holds what a person said: the surest there is."""


def shortlist(
    ranked: Sequence[Proposal], budget: int, known: Container[int] = (), out: Container[int] = ()
) -> tuple[list[int], dict[int, str]]:
    """Return the places of the proposals to show, and why others that are new are not shown.

    What is ``known`` has used its share of ``budget`` already; what is ``out`` for another reason uses none. What a
    person said in their own words has no budget, only the most of one run; it comes first where that is short.
    """
    shown: list[int] = []
    over: dict[int, str] = {}
    used = 0
    for at in sorted(range(len(ranked)), key=lambda at: not spoken(ranked[at])):
        free = spoken(ranked[at])
        if at in out:
            continue
        if at not in known and ((used >= budget and not free) or len(shown) >= MOST_A_RUN):
            over[at] = f"over this run's limit of {MOST_A_RUN if free else min(budget, MOST_A_RUN)}"
            continue
        used += not free
        if at not in known:
            shown.append(at)
    return sorted(shown), over


def spoken(proposal: Proposal) -> bool:
    """Whether it rests on what a person said, rather than only did."""
    return proposal.evidence.kind in _A_PERSONS_WORDS and bool(proposal.evidence.examples.get("said"))
