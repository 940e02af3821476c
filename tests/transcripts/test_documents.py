from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.transcripts.documents import BEHIND, CUT_OFF, TOO_LARGE, Member, head_keys, head_root, read_document
from lessonbook.transcripts.lines import LINE_MAX, Skip

ENTER = frozenset(("messages", "samples", "samples[]", "samples[].messages"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
RECORDS = st.lists(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=3).map(lambda one: {**one, "id": "x"}), max_size=6
)


def read(data: bytes) -> tuple[list[tuple[str, Any]], list[str]]:
    items = list(read_document(io.BytesIO(data), ENTER, lambda value: "id" in value))
    members = [(one.path, one.value) for one in items if isinstance(one, Member)]
    return members, [one.reason for one in items if isinstance(one, Skip)]


@given(records=RECORDS, more=VALUES, indent=st.none() | st.integers(0, 3), escaped=st.booleans())
def test_a_document_comes_back_as_it_was(records: list[Any], more: Any, indent: int | None, escaped: bool) -> None:
    whole = {"a": more, "messages": records, "samples": [{"id": 1, "messages": records}], "z": more}
    members, skipped = read(json.dumps(whole, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass"))
    clean = json.loads(json.dumps(whole).encode())
    assert not skipped or escaped is False
    if not skipped:
        assert [value for path, value in members if path == "messages[]"] == clean["messages"]
        assert [value for path, value in members if path == "samples[].messages[]"] == clean["messages"]
        assert [value for path, value in members if path in ("a", "z")] == [clean["a"], clean["z"]]


@settings(max_examples=300)
@given(records=RECORDS, at=st.floats(0, 1), share=st.floats(0, 0.3), put=st.binary(max_size=20))
def test_nothing_raises_whatever_is_damaged(records: list[Any], at: float, share: float, put: bytes) -> None:
    data = json.dumps({"messages": records, "z": 1}).encode()
    start = int(at * len(data))
    read(data[:start] + put + data[start + int(share * len(data)) :])
    read(put + data)


@given(records=RECORDS, at=st.floats(0, 1))
def test_what_stands_before_a_cut_is_read(records: list[Any], at: float) -> None:
    data = json.dumps({"messages": records}).encode()
    members, skipped = read(data[: int(at * (len(data) - 1))])
    found = [value for path, value in members if path == "messages[]"]
    assert found == json.loads(data)["messages"][: len(found)]
    assert skipped == ([CUT_OFF] if data[: int(at * (len(data) - 1))] else [])


def test_a_part_that_is_too_large_is_passed_over() -> None:
    big = json.dumps({"id": "big", "text": 'a "quoted\\" } ] text' * (LINE_MAX // 6)})
    members, skipped = read(f'{{"messages": [{{"id": 1}}, {big}, {{"id": 2}}], "z": 1}}'.encode())
    assert [value["id"] for path, value in members if path == "messages[]"] == [1, 2]
    assert skipped == [TOO_LARGE] and ("z", 1) in members


def test_text_behind_the_end_is_counted() -> None:
    assert read(b'{"messages": []}\n')[1] == []
    assert read(b'{"messages": []}]}]')[1] == [BEHIND]


def test_the_head_tells_what_a_document_is() -> None:
    data = json.dumps({"info": {"id": 1}, "messages": [{"role": "user"}] * 9_000, "z": 1}).encode()
    assert head_keys(data[:65_536]) == {"info", "messages"}
    assert head_root(data[:65_536]) == {"info": {"id": 1}}
    assert head_keys(b"MIT License") == frozenset() == head_keys(b"")
