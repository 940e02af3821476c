from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.money import Price, Purse

amounts = st.floats(0, 10, allow_nan=False)


def test_the_worst_of_an_answer_is_every_byte_a_token_and_all_it_may_say() -> None:
    assert Price(3.0, 15.0, 1000).worst("é" * 500_000) == 3.0 + 0.015


def test_what_is_left_is_what_was_not_spent() -> None:
    night = Purse("night", 1.0)
    first, second = Purse("round", 0.6, night), Purse("round", 0.6, night)
    assert first.refusal(0.5) is None
    first.take(0.5)
    assert first.refusal(0.2) == "the next call may cost $0.20, and $0.10 of the round's $0.60 is left"
    first.settle(0.5, None)  # nobody said: the worst stays
    assert second.refusal(0.6) == "the next call may cost $0.60, and $0.50 of the night's $1.00 is left"
    first.settle(0.5, 0.1)
    assert second.refusal(0.6) is None
    assert round(night.spent, 9) == round(first.spent, 9) == 0.1


@given(limit=amounts, own=amounts, calls=st.lists(st.tuples(st.booleans(), amounts, st.floats(0, 1)), max_size=30))
def test_no_limit_is_ever_passed_by_calls_that_cost_no_more_than_their_worst(
    limit: float, own: float, calls: list[tuple[bool, float, float]]
) -> None:
    night = Purse("night", limit)
    rounds = [Purse("round", own, night), Purse("round", own, night)]
    for which, worst, share in calls:
        purse = rounds[which]
        if purse.refusal(worst) is None:
            purse.take(worst)
            assert night.spent <= limit + 1e-6 and purse.spent <= own + 1e-6
            purse.settle(worst, worst * share)
    assert night.spent <= limit + 1e-6
    assert abs(night.spent - sum(purse.spent for purse in rounds)) < 1e-6
