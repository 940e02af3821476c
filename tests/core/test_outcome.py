from __future__ import annotations

import pytest

from lessonbook.core.outcome import Effect, Outcome


@pytest.mark.parametrize(
    ("counts", "effect"),
    [
        ((20, 1_000, 0, 1_000), Effect.HELPS),
        ((20, 1_000, 19, 1_000), Effect.NO_HELP),
        ((20, 1_000, 40, 1_000), Effect.NO_HELP),
        ((20, 1_000, 13, 1_000), Effect.OPEN),  # fewer, but chance may explain it
        ((20, 1_000, 4, 200), Effect.OPEN),  # four were due: too few to say
        ((20, 1_000, 0, 0), Effect.OPEN),
        ((0, 0, 9, 1_000), Effect.OPEN),
        ((0, 500, 9, 1_000), Effect.OPEN),
    ],
)
def test_what_the_counts_say(counts: tuple[int, int, int, int], effect: Effect) -> None:
    assert Outcome(*counts).effect is effect


def test_what_cannot_be_counted() -> None:
    assert Outcome(0, 900, 0, 900, counted=False).effect is Effect.UNSEEN
