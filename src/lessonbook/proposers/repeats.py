"""The proposer ``repeats``: what happened in two sessions or more, without any model."""

from __future__ import annotations

from lessonbook.proposers import blocked, corrected, fixed, prepared, refused
from lessonbook.proposers.mining import Mined

NAME = "repeats"


class Repeats(Mined):
    """Finds what recurs: what failed, what was then done instead, what was refused, stopped or corrected."""

    def __init__(self) -> None:
        super().__init__(
            NAME,
            (
                (fixed.incidents, fixed.drafts),
                (prepared.incidents, prepared.drafts),
                (refused.incidents, refused.drafts),
                (blocked.incidents, blocked.drafts),
                (corrected.incidents, corrected.drafts),
            ),
        )
