"""What we export comes back equal; a damaged file gives everything that is whole, and names the rest by its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.care import Imported
from lessonbook.core.lesson import MEMORY_TYPES, VERACITIES, Kept, Lesson, Scope
from lessonbook.core.tidy import tidy_lesson
from lessonbook.memory.importing import json_lines, lines
from lessonbook.memory.importing.json_lines import header, line, matches, origin_of, read
from lessonbook.memory.importing.values import ReadProblem

text = st.text(max_size=60)
maybe = st.none() | text
times = st.none() | st.floats(0, 4e9)
part = st.floats(0, 1)
kept_lessons = st.builds(
    Kept,
    st.integers(1, 10**9).map(str),
    st.builds(
        Lesson,
        text.filter(bool),
        maybe,
        st.sampled_from(Scope),
        text.filter(bool),
        part,
        st.sampled_from(VERACITIES),
        st.sampled_from(MEMORY_TYPES),
        st.dictionaries(text, text, max_size=3),
        maybe,
        st.lists(text, max_size=3).map(tuple),
        maybe,
        maybe,
        maybe,
        maybe,
        st.none() | part,
        times,
        maybe,
    ).map(lambda lesson: tidy_lesson(lesson).lesson),
    text,
    st.floats(0, 4e9),
    st.floats(0, 4e9),
    st.integers(0, 10**6),
    times,
    st.none(),
    forgotten=times,
    pinned=st.booleans(),
).filter(lambda kept: kept.lesson.text and kept.lesson.source)


def parted(found: Iterator[Imported | ReadProblem]) -> tuple[list[Imported], list[ReadProblem]]:
    """The lessons, and the problems."""
    everything = list(found)
    return (
        [one for one in everything if isinstance(one, Imported)],
        [one for one in everything if isinstance(one, ReadProblem)],
    )


def written(folder: Path, *these: str | bytes) -> Path:
    path = folder / "lessons.jsonl"
    path.write_bytes(b"".join((one.encode() if isinstance(one, str) else one) + b"\n" for one in these))
    return path


def kept(text: str = "A rule.", id: str = "1", **fields: object) -> Kept:
    return Kept(id, Lesson(text).but(**fields), "app-1", 1_777_636_800.5, 1_777_636_801.0)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(kept_lessons, max_size=4))
def test_what_is_exported_comes_back_equal(tmp_path: Path, these: list[Kept]) -> None:
    exported = [line(one) for one in these]
    assert not any("\n" in one for one in exported)
    found, problems = parted(read(written(tmp_path, header(), *exported)))
    assert problems == []
    assert [one.lesson for one in found] == [one.lesson for one in these]
    for one, before in zip(found, these, strict=True):
        for name in ("created", "seen", "recalled", "recalled_at", "forgotten", "pinned"):
            assert getattr(one, name) == getattr(before, name)
    again, _ = parted(read(written(tmp_path, header(), *exported)))
    assert [one.origin for one in again] == [one.origin for one in found]


def test_every_field_of_a_lesson_and_of_what_a_bank_keeps_has_a_reader() -> None:
    known = {*json_lines._FIELDS, "id", "lesson"}
    assert {*Lesson._fields, *Kept._fields} - known == set()


def test_an_origin_is_one_lesson_on_all_machines() -> None:
    mine, other = kept(), kept("Another.").but(created=1_777_636_999.0)
    assert origin_of(mine) != origin_of(other)  # both are the first lesson of a bank of one name
    assert origin_of(mine) == origin_of(mine.but(lesson=mine.lesson.but(text="Edited."), seen=9e9))


def test_an_imported_lesson_keeps_its_origin_and_what_replaced_it(tmp_path: Path) -> None:
    path = written(tmp_path, header(), line(kept(), origin="mnemopi:default:0a", superseded_by="mnemopi:default:1b"))
    (one,), _ = parted(read(path))
    assert (one.origin, one.superseded_by, one.bank) == ("mnemopi:default:0a", "mnemopi:default:1b", "app-1")


def test_a_line_says_only_what_there_is() -> None:
    found = json.loads(line(kept()))
    assert found == {
        "text": "A rule.",
        "scope": "project",
        "source": "coding-agent-learn",
        "importance": 0.8,
        "veracity": "tool",
        "memory_type": "fact",
        "id": "1",
        "bank": "app-1",
        "created": 1_777_636_800.5,
        "seen": 1_777_636_801.0,
        "recalled": 0,
        "origin": "lessonbook:app-1:1:1777636800.500000",
    }


def test_a_hand_written_line(tmp_path: Path) -> None:
    times = {"created": "2026-05-01T12:00:00Z", "seen": "2026-05-01 14:00:00+02:00"}
    path = written(tmp_path, header(), '{"text": "Short."}', json.dumps({"text": "Short.", "context": "x", **times}))
    found, problems = parted(read(path))
    assert problems == []
    assert [one.lesson.veracity for one in found] == ["imported", "imported"]
    assert [one.lesson.source for one in found] == ["import", "import"]
    assert (found[1].created, found[1].seen) == (1_777_636_800.0, 1_777_636_800.0)
    assert found[0].origin != found[1].origin


def test_damage_is_read_past_and_named(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        b"\xef\xbb\xbf" + header().encode(),
        line(kept("One.")),
        b"\xff\x00 not json",
        "[1, 2]",
        '{"text": 7}',
        "",
        '{"text": "' + "x" * 40 + '", "nested": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"text": "Two.", "tags": "no list", "pinned": "yes", "importance": ' + "9" * 400 + ', "metadata": 3}',
        '{"text": "' + "y" * lines.LINE_MAX + '"}',
        '{"text": "<>`"}',
        '{"text": "bad \\udc88 byte", "context": "\\u0000"}',
        line(kept("Last."))[:-9],
    )
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    found, problems = parted(read(path))
    assert [one.lesson.text for one in found] == ["One.", "Two.", "bad \ufffd byte"]
    said = [problem.sentence.partition("line ")[2] for problem in problems]
    assert said == [
        "3: it is not a lesson in JSON.",
        "4: it is not a lesson in JSON.",
        "5: it has no text.",
        "7: it is not a lesson in JSON.",
        "8: tags, metadata, pinned cannot be read; its text was.",
        f"9: it is longer than {lines.LINE_MAX:,} characters.",
        "10: it has no text.",
        "12: it is not a lesson in JSON; the file ends in the middle of it.",
    ]


def test_a_newer_format_is_refused_whole(tmp_path: Path) -> None:
    found, problems = parted(read(written(tmp_path, '{"lessonbook": 2}', line(kept()))))
    assert found == []
    assert len(problems) == 1
    assert "newer" in problems[0].sentence


def test_a_damaged_first_line_costs_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path, "{torn", line(kept()))
    assert matches(path, path.read_bytes())
    found, problems = parted(read(path))
    assert ([one.lesson.text for one in found], len(problems)) == (["A rule."], 1)


@pytest.mark.parametrize("head", [b"", b"{}\n", b'{"type": "user", "text": "hi"}\n', b"- a\n", b"SQLite format 3\0"])
def test_other_files_do_not_match(tmp_path: Path, head: bytes) -> None:
    assert not matches(tmp_path / "session.jsonl", head)


def test_secrets_are_redacted_in_every_field(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    names = (*Lesson._fields, *Imported._fields)
    strings = {name: f"x {secret}" for name in names if name not in ("scope", "metadata", "lesson")}
    wholly = {**strings, "tags": [secret], "derived_from": [secret], "metadata": {secret: [secret]}}
    (one,), _ = parted(read(written(tmp_path, header(), json.dumps(wholly))))
    assert secret not in repr(one)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary())
def test_no_file_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes(data)
    for one in read(path):
        assert isinstance(one, Imported | ReadProblem)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*json_lines._FIELDS, "lessonbook", "id"]), json_values))
def test_any_value_in_any_field_is_taken_or_named(tmp_path: Path, fields: dict[str, object]) -> None:
    for one in read(written(tmp_path, header(), json.dumps(fields))):
        assert isinstance(one, Imported | ReadProblem)
        if isinstance(one, Imported):
            again = Kept("1", one.lesson, one.bank, one.created or 0.0, one.seen or 0.0, one.recalled)
            assert json.loads(line(again))["text"] == one.lesson.text
