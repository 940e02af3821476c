"""``skills lint``: every fault once, nothing a reference validator finds is missed, and 500 skills in a moment."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import skills_ref

from lessonbook.skills.lint import Fault, lint


def put(root: Path, name: str, text: str | bytes) -> Path:
    path = root / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


CASES = {
    "good-one": ("---\nname: good-one\ndescription: Use it.\nlicense: MIT\nmetadata:\n  a: b\n---\n\nGo.\n", []),
    "no-block": ("Go.\n", ["has no frontmatter"]),
    "not-yaml": ("---\nname: [\n---\nGo.\n", ["not YAML"]),
    "not-text": (b"---\nname: \xff\n---\nGo.\n", ["is not UTF-8"]),
    "no-name": ("---\ndescription: Use it.\n---\nGo.\n", ["has no name"]),
    "Bad_Name": ("---\nname: Bad_Name\ndescription: Use it.\n---\nGo.\n", ["has the name 'Bad_Name'"]),
    "two-names": ("---\nname: another\ndescription: Use it.\n---\nGo.\n", ["says its name is 'another'"]),
    "no-about": ("---\nname: no-about\n---\nGo.\n", ["has no description"]),
    "long-about": (f"---\nname: long-about\ndescription: {'x' * 1025}\n---\nGo.\n", ["description of 1,025"]),
    "empty-body": ("---\nname: empty-body\ndescription: Use it.\n---\n\n", ["says nothing below"]),
    "odd-meta": ("---\nname: odd-meta\ndescription: U.\nmetadata:\n  a: [1]\n---\nGo.\n", ["values are no texts: a"]),
    "list-meta": ("---\nname: list-meta\ndescription: Use it.\nmetadata: [1]\n---\nGo.\n", ["no table of texts"]),
    "odd-license": ("---\nname: odd-license\ndescription: U.\nlicense: [a]\n---\nGo.\n", ["license that is no text"]),
    "long-fit": (f"---\nname: long-fit\ndescription: U.\ncompatibility: {'x' * 501}\n---\nGo.\n", ["of 501 char"]),
    "extra": ("---\nname: extra\ndescription: U.\nmodel: x\nzeta: y\n---\nGo.\n", ["does not know", "model, zeta"]),
    "tools": ("---\nname: tools\ndescription: U.\nallowed-tools: [a]\n---\nGo.\n", ["allowed-tools that are a list"]),
    "huge": ("---\nname: huge\ndescription: U.\n---\n" + "x" * 64_001, ["bytes, all of which"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_fault_is_named_once(tmp_path: Path, name: str) -> None:
    text, told = CASES[name]
    path = put(tmp_path, name, text)
    count, faults = lint(tmp_path)
    assert count == 1 and all(isinstance(fault, Fault) and fault.path == path for fault in faults)
    assert len(faults) == (1 if told else 0) and all(word in faults[0].text for word in told)
    assert lint(path.parent) == lint(path) == (count, faults)
    errors = [] if name == "not-text" else skills_ref.validate(path.parent)  # it raises on that one
    assert not errors or faults


def test_one_name_twice_side_by_side_is_said_of_the_second(tmp_path: Path) -> None:
    text = "---\nname: same\ndescription: Use it.\n---\nGo.\n"
    first, second = put(tmp_path, "a", text), put(tmp_path, "same", text)
    _, faults = lint(tmp_path)
    assert [(fault.path, str(first) in fault.text) for fault in faults if "claims" in fault.text] == [(second, True)]
    assert put(tmp_path / "deep/er", "same", text) and sum("claims" in f.text for f in lint(tmp_path)[1]) == 1


def test_odd_folders_end_well(tmp_path: Path) -> None:
    assert lint(tmp_path / "not there") == (0, [])
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "SKILL.md").mkdir()
    _, faults = lint(tmp_path)
    assert {fault.path.name for fault in faults} == {"dangling", "SKILL.md"}


@pytest.mark.shared
def test_five_hundred_real_skills_in_a_moment(shared: Path) -> None:
    began = time.process_time()
    count, faults = lint(shared / "data" / "skills")
    took = time.process_time() - began
    assert count >= 500 and took < 2.0 * count / 500
    assert len({(fault.path, fault.text) for fault in faults}) == len(faults)
    found = {fault.path for fault in faults}
    for path in sorted((shared / "data" / "skills").rglob("SKILL.md")):
        try:
            errors = skills_ref.validate(path.parent)
        except Exception:  # noqa: BLE001  the reference itself breaks on some files
            continue
        assert not errors or path in found, (path, errors)
