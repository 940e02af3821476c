"""Which of the ranked proposals a person is shown: few, and what a person said among the first."""

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

    One run shows at most ``budget``, and never more than ``MOST_A_RUN``. What a person said in their own words comes
    first: half of the places are its own, and more where nothing else is to be shown. What is ``known`` has used its
    share of ``budget`` already, which only what a person said is not held to. What is ``out`` uses none.
    """
    most = min(budget, MOST_A_RUN)
    new = [at for at in range(len(ranked)) if at not in known and at not in out]
    said = [at for at in new if spoken(ranked[at])]
    used = sum(at in known for at in range(len(ranked)))
    fixes = [at for at in new if not spoken(ranked[at])][: max(budget - used, 0)]
    first = said[: max((most + 1) // 2, most - len(fixes))]
    shown = sorted([*first, *fixes[: most - len(first)]])
    why = f"over this run's limit of {most}"
    return shown, {at: why for at in new if at not in shown}


def spoken(proposal: Proposal) -> bool:
    """Whether it rests on what a person said, rather than only did."""
    return proposal.evidence.kind in _A_PERSONS_WORDS and bool(proposal.evidence.examples.get("said"))
