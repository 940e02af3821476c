from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.errors import StoreError
from lessonbook.transcripts.lines import LINE_MAX, Skip, head_objects, opened, read_objects

A, B = b'{"type":"a","uuid":"1"}', b'{"type":"b","uuid":"2"}'


def items(data: bytes) -> list[object]:
    return [
        item["type"] if isinstance(item, dict) and "type" in item else item for item in read_objects(io.BytesIO(data))
    ]


def objects(data: bytes) -> list[dict[str, object]]:
    return [item for item in read_objects(io.BytesIO(data)) if not isinstance(item, Skip)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (A + b" " + B, ["a", "b"]),
        (A + A + B, ["a", "a", "b"]),
        (b'{"type":"user","mess' + A, [Skip("torn line"), "a"]),
        (b'{"type":"user","message":{"content":"half a wor' + A, [Skip("torn line"), "a"]),
        (b'{"type":"user","message":' + A, [Skip("torn line"), "a"]),
        (b'{"type":"user","list":[1,' + A + b" " + B, [Skip("torn line"), "a", "b"]),
        (b'{"type":"user","text":"an escape \\' + A, [Skip("torn line"), "a"]),
        (b'{"type":"user",' + A, [Skip("torn line"), "a"]),
        (A + b'{"type":"user","mess', ["a", Skip("torn line")]),
        (b'{"type":"user","message":{"type":"text","text":"x"},"uu', [Skip("line that is not JSON")]),
        (b'{"type":"user","content":[{"type":"text","text":"x"}', [Skip("line that is not JSON")]),
        (b"\x00" * 400, [Skip("run of NUL bytes")]),
        (b"\x00" * 9 + A, [Skip("run of NUL bytes"), "a"]),
        (A + b"\x00" * 9 + B, [Skip("run of NUL bytes"), "a", "b"]),
        (b"", []),
        (b"  \r", []),
        (b"[]", [Skip("line that is not an object")]),
        (b'"x"', [Skip("line that is not an object")]),
        (b"null", [Skip("line that is not an object")]),
        (b"NaN", [Skip("line that is not an object")]),
        (b"hello", [Skip("line that is not JSON")]),
        (b"[" * 200_000, [Skip("line nested too deeply")]),
        (b'{"a":' * 200_000, [Skip("line nested too deeply")]),
        (b'{"type":"c","n":NaN,"m":-Infinity}', ["c"]),
        (b'{"type":"c","n":' + b"9" * 5_000 + b"}", ["c"]),
        (b'{"type":"c","n":1e999}', ["c"]),
        (b'{"type":"c","t":"raw\ttab"}', ["c"]),
        (b'{"type":"c","t":"\xff\xfe"}', [Skip("line with bytes that are not UTF-8 (replaced)"), "c"]),
    ],
)
def test_one_line_between_two_good_ones(line: bytes, found: list[object]) -> None:
    assert items(A + b"\n" + line + b"\n" + B + b"\n") == ["a", *found, "b"]


def test_only_a_line_feed_ends_a_record() -> None:
    three = [{"t": "one\u2028two\x85three"}, {"t": "\x0b\x0c\x1c"}, {"t": "😀"}]
    data = "\n".join(json.dumps(one, ensure_ascii=False) for one in three).encode()
    assert objects(data) == three


def test_escaped_surrogates() -> None:
    data = b'{"t":"\\udc88 lone","\\ud800k":["\\ud83d"]}\n{"t":"\\ud83d\\ude00 pair"}\n'
    assert objects(data) == [{"t": "\ufffd lone", "\ufffdk": ["\ufffd"]}, {"t": "😀 pair"}]


@pytest.mark.parametrize("cut", range(1, len(B)))
def test_a_cut_last_line_is_counted_apart(cut: int) -> None:
    assert items(A + b"\n" + B[:cut]) == ["a", Skip("unfinished last line")]


def test_a_whole_last_line_needs_no_line_feed() -> None:
    assert items(A + b"\n" + B) == ["a", "b"]


def test_mark_and_carriage_returns() -> None:
    assert items(b"\xef\xbb\xbf" + A + b"\r\n" + B + b"\r\n") == ["a", "b"]


def test_a_line_over_the_limit_is_passed_by_and_never_held() -> None:
    class Endless(io.RawIOBase):
        """A 40 MB line made on the way, between two good ones."""

        def readable(self) -> bool:
            return True

        def __init__(self) -> None:
            parts = [A + b"\n", *[b'{"t":"' + b"x" * 1_000_000] * 40, b'"}\n', B + b"\n"]
            self.left = iter(parts)
            self.rest = b""

        def readinto(self, into: memoryview) -> int:  # type: ignore[override]
            self.rest = self.rest or next(self.left, b"")
            given, self.rest = self.rest[: len(into)], self.rest[len(into) :]
            into[: len(given)] = given
            return len(given)

    tracemalloc.start()
    found = [item if isinstance(item, Skip) else item["type"] for item in read_objects(io.BufferedReader(Endless()))]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["a", Skip("line over 16 MiB"), "b"]
    assert peak < LINE_MAX * 2.5


def test_a_long_line_with_many_starts_ends_soon() -> None:
    line = b'{"a":"' * 100_000
    assert items(A + b"\n" + line + b"\n" + B + b"\n") == ["a", Skip("line that is not JSON"), "b"]


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read"), opened(str(tmp_path / "none.jsonl")):
        pass


def test_head_objects_reads_whole_lines_only() -> None:
    assert head_objects(A + b"\nnot JSON\n" + B + b"\n") == [{"type": "a", "uuid": "1"}, {"type": "b", "uuid": "2"}]
    assert head_objects(A + B) == [{"type": "a", "uuid": "1"}, {"type": "b", "uuid": "2"}]
    assert head_objects(b'{"a":"' + b"x" * 70_000) == []


RECORD = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant"]),
        "uuid": st.text(max_size=8),
        "n": st.integers() | st.text(max_size=30),
    }
)


@settings(max_examples=150, deadline=None)
@given(before=st.lists(RECORD, max_size=3), damage=st.binary(max_size=60), after=st.lists(RECORD, max_size=3))
def test_any_bytes_between_good_lines_harm_none(
    before: list[dict[str, object]], damage: bytes, after: list[dict[str, object]]
) -> None:
    """Whatever a damaged stretch holds, what stands before and after it on lines of its own is read."""
    first, last = ([json.dumps(one).encode("utf-8") for one in some] for some in (before, after))
    data = b"\n".join([*first, damage, *last]) + b"\n"
    found = objects(data)
    assert found[: len(before)] == [_clean(one) for one in before]
    assert found[len(found) - len(after) :] == [_clean(one) for one in after]


def _clean(one: dict[str, object]) -> dict[str, object]:
    return json.loads(json.dumps(one))  # type: ignore[no-any-return]
