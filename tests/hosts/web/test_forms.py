"""What a browser sends comes back as it was; what none sends is refused; and a view is never anything but ours."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from lessonbook.core.errors import InputError
from lessonbook.hosts.web.acts import _laid
from lessonbook.hosts.web.forms import Form, UnfitError, parsed
from lessonbook.hosts.web.notices import Back, Notice, Notices
from lessonbook.hosts.web.rendering import environment
from lessonbook.hosts.web.site import View

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT), max_size=8))
def test_fields_come_back_as_they_were(pairs: list[tuple[str, str]]) -> None:
    form = parsed(urlencode(pairs).encode())
    for name, _ in pairs:
        assert form.all(name) == [value for key, value in pairs if key == name]
        assert form.one(name) == form.all(name)[0]
    assert form.one("\0not there") == "" or "\0not there" in dict(pairs)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        parsed(body)
    except UnfitError as error:
        assert error.status == 400


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["book", "q", "only", "diff", "page"]), TEXT))
def test_a_view_is_one_of_ours_and_stays_itself(said: dict[str, str]) -> None:
    view = View(lambda name: said.get(name, ""))
    address = view.address("/candidate", **{"in": "global"})
    assert address.startswith("/candidate?") and urlsplit(address).netloc == ""
    again = parse_qs(address.partition("?")[2], keep_blank_values=True)
    assert View(lambda name: again.get(name, [""])[0]).fields() == view.fields()
    assert view.filter.only in ("", "signs", "stale", "over", "twins") and view.page >= 0


@settings(deadline=None)
@given(TEXT, TEXT)
def test_whatever_stands_in_a_page_is_text(one: str, other: str) -> None:
    made = environment().from_string('<p title="{{ a }}">{{ b }}</p>').render(a=one, b=other)
    assert made.count("<") == 2 and made.count(">") == 2 and made.count('"') == 2


LINES = st.lists(st.sampled_from(["one", "two", "three", "four", ""]), min_size=1, max_size=6).map("\n".join)


@settings(deadline=None)
@given(LINES, LINES, LINES)
def test_an_edit_keeps_what_others_did_or_is_refused(before: str, now: str, after: str) -> None:
    try:
        laid = _laid({"a": (before, after)}, {"a": now.encode(), "b": b"other"})
    except InputError:
        assert before not in (now, after)
        return
    assert laid["b"] == b"other"
    if now == before:
        assert laid["a"].decode() == after
    if after == before:
        assert laid["a"].decode() == now


def test_line_ends_stay_those_of_the_file() -> None:
    assert _laid({"a": ("x\ny\n", "x\nz\n")}, {"a": b"x\r\ny\r\n"}) == {"a": b"x\r\nz\r\n"}
    assert Form([("t", "a\r\nb\rc")]).text("t") == "a\nb\nc"
    with pytest.raises(InputError):
        _laid({"a": ("x", "y")}, {"a": b"\xff\xfe"})


def test_notices_are_told_by_number_and_forgotten_when_many() -> None:
    notices = Notices()
    back = Back("accept", "global", "20260101-000000-aaaaaa", "x")
    first = notices.add(Notice("done", backs=(back,)))
    found = notices.get(str(first))
    assert notices.last == back and found and found.backs == (back,)
    notices.settled("accept", "global", back.id)
    found = notices.get(str(first))
    assert notices.last is None and found and found.backs == ()
    for _ in range(600):
        notices.add(Notice("more"))
    assert notices.get(str(first)) is None
    for odd in ("", "x", "-1", "9" * 20, "１"):
        assert notices.get(odd) is None
