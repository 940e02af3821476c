"""What a client sends is taken as it was meant: JSON text for what is no text, and text exactly as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.errors import InputError
from lessonbook.hosts.mcp.arguments import checked
from lessonbook.hosts.mcp.schemas import arguments, identity, number, share, table, text, texts, whole

SCHEMA = arguments(
    ("lesson",),
    lesson=text("The lesson."),
    kind=text("Which.", ("a", "b")),
    tags=texts("Tags."),
    limit=whole("How many.", 1, 50),
    sure=share("How sure."),
    until=number("When."),
    confirm={"type": "boolean", "description": "Whether."},
    after=identity("The last one."),
    changes=table("What to change.", title=text("Title."), tags=texts("Tags.")),
)
FIT = st.fixed_dictionaries(
    {"lesson": st.text()},
    optional={
        "kind": st.sampled_from(["a", "b"]),
        "tags": st.lists(st.text()),
        "limit": st.integers(1, 50),
        "sure": st.floats(0, 1),
        "until": st.floats(allow_nan=False, allow_infinity=False),
        "confirm": st.booleans(),
        "changes": st.fixed_dictionaries({}, optional={"title": st.text() | st.none(), "tags": st.lists(st.text())}),
    },
)
LOOKS_LIKE_JSON = st.one_of(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=6,
    ).map(json.dumps),
    st.sampled_from(['{"retries": 3}', "123", "null", "true", "[x](y)", '"quoted"', " {} ", "[1", "NaN"]),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(FIT)
def test_what_fits_comes_through_as_it_is(told: dict[str, Any]) -> None:
    assert checked(SCHEMA, told) == told


def test_an_id_may_come_as_a_number() -> None:
    assert checked(SCHEMA, {"lesson": "x", "after": 12}) == {"lesson": "x", "after": "12"}
    assert checked(SCHEMA, {"lesson": "x", "after": "012"}) == {"lesson": "x", "after": "012"}
    for wrong in (True, 1.5, [1], {}):
        with pytest.raises(InputError, match="after must be text"):
            checked(SCHEMA, {"lesson": "x", "after": wrong})


@given(FIT, st.data())
def test_json_text_is_the_same_as_what_it_says(told: dict[str, Any], data: st.DataObject) -> None:
    sent = {
        name: json.dumps(value) if not isinstance(value, str) and data.draw(st.booleans()) else value
        for name, value in told.items()
    }
    assert checked(SCHEMA, sent) == told


@given(LOOKS_LIKE_JSON)
def test_text_that_looks_like_json_stays_text(lesson: str) -> None:
    assert checked(SCHEMA, {"lesson": lesson})["lesson"] == lesson
    held = checked(SCHEMA, {"lesson": "x", "tags": [lesson], "changes": {"title": lesson}})
    assert held["tags"] == [lesson] and held["changes"] == {"title": lesson}
    within = checked(SCHEMA, {"lesson": "x", "tags": json.dumps([lesson]), "changes": json.dumps({"title": lesson})})
    assert within["tags"] == [lesson] and within["changes"] == {"title": lesson}


@given(ANYTHING)
def test_any_value_is_taken_or_refused_by_name(value: object) -> None:
    for name in SCHEMA["properties"]:
        try:
            found = checked(SCHEMA, {"lesson": "x", name: value})
        except InputError as error:
            assert name in str(error)
        else:
            assert set(found) <= {"lesson", name}


@given(st.dictionaries(st.text(), ANYTHING, max_size=4))
def test_nothing_unknown_passes(told: dict[str, Any]) -> None:
    try:
        found = checked(SCHEMA, told)
    except InputError:
        return
    assert set(found) <= set(SCHEMA["properties"]) and isinstance(found["lesson"], str)


def test_null_is_the_same_as_leaving_out_but_for_a_change() -> None:
    told = {"lesson": "x", "tags": None, "changes": {"title": None, "tags": ["a"]}}
    assert checked(SCHEMA, told) == {"lesson": "x", "changes": {"title": None, "tags": ["a"]}}
    assert checked(arguments(), None) == {}


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({}, "lesson is missing. The arguments are lesson, kind,"),
        ({"lesson": None}, "lesson is missing"),
        ({"lesson": 123}, "lesson must be text, not a whole number."),
        ({"lesson": ["a"]}, "lesson must be text, not a list."),
        ({"lesson": "x", "more": 1}, "'more' is not known"),
        ({"lesson": "x", "tags": "release"}, "tags must be a list, not text."),
        ({"lesson": "x", "tags": ["a", 1]}, "tags[1] must be text, not a whole number."),
        ({"lesson": "x", "tags": "{}"}, "tags must be a list, not text."),
        ({"lesson": "x", "limit": True}, "limit must be a whole number, not true or false."),
        ({"lesson": "x", "limit": 1.5}, "limit must be a whole number, not a number."),
        ({"lesson": "x", "limit": 0}, "limit must be from 1 to 50, not 0."),
        ({"lesson": "x", "limit": 10**5000}, "limit must be from 1 to 50, not such a number."),
        ({"lesson": "x", "sure": "NaN"}, "sure must be a number, not text."),
        ({"lesson": "x", "sure": "1e999"}, "sure must be a number, not text."),
        ({"lesson": "x", "confirm": "yes"}, "confirm must be true or false, not text."),
        ({"lesson": "x", "kind": "c"}, "kind must be one of a, b, not 'c'."),
        ({"lesson": "x", "changes": {"body": "y"}}, "changes.'body' is not known. changes takes title, tags."),
        ({"lesson": "x", "changes": "[]"}, "changes must be an object, not text."),
        ({"lesson": "x", "changes": "[" * 100_000}, "changes must be an object, not text."),
    ],
)
def test_what_is_wrong_is_said_by_name(told: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        checked(SCHEMA, told)
    assert sentence in str(caught.value)


def test_a_whole_number_may_be_written_with_a_point() -> None:
    found = checked(SCHEMA, {"lesson": "x", "limit": "5.0"})
    assert found["limit"] == 5 and isinstance(found["limit"], int)
