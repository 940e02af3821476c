from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.effect import changes_state
from lessonbook.core.session import Call, CallKind, CallStatus
from lessonbook.core.truncation import made_again, was_cut

SHORT, WHOLE, CUT = "x", "x" * 2_000, "x" * 2_000 + "\n[… 300 lines omitted …]"


def call(kind: CallKind, what: str, result: str, status: CallStatus) -> Call:
    shell = kind is CallKind.SHELL
    return Call("c", kind.value, kind, status, {} if shell else {"path": what}, None, what if shell else None, result)


CALLS = st.builds(
    call,
    st.sampled_from([CallKind.SHELL, CallKind.READ, CallKind.EDIT]),
    st.sampled_from(["cat a | head", "cat a", "make build"]),
    st.sampled_from([SHORT, WHOLE, CUT]),
    st.sampled_from([CallStatus.OK, CallStatus.OK, CallStatus.FAILED]),
)


@given(st.lists(CALLS, max_size=10))
def test_answers_that_are_not_looked_at_change_nothing(calls: list[Call]) -> None:
    """The rule as it is said: a call made again after its answer was cut, with nothing changed in between."""

    def errand(one: Call) -> object:
        if one.kind is CallKind.EDIT:
            return None
        return (one.kind, one.command.split(" |")[0] if one.command else one.args["path"])

    told = []
    cut: set[object] = set()
    for one in calls:
        if changes_state(one):
            cut.clear()
        if errand(one) in cut:
            cut.discard(errand(one))
            told.append(one)
        if one.status is CallStatus.OK and was_cut(one.result) and errand(one):
            cut.add(errand(one))
    found = list(made_again(calls))
    assert [id(one) for one in found] == [id(one) for one in told]
