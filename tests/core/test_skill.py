"""The name rule (LS-01, SE-01), the file's text (FM-01), its size (LS-03), and secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core import frontmatter
from lessonbook.core.errors import InputError
from lessonbook.core.skill import Skill, SkillDraft, prepare, skill_name, updated

KEY = "ghp_" + "a1B2" * 9


def draft(name: str = "tidy", description: str = "Tidy a branch", body: str = "Do it.") -> SkillDraft:
    return SkillDraft("create", name, description, body)


def checked(skill: Skill, folder: Path) -> list[str]:
    """What the reference implementation of the specification says against a skill."""
    from skills_ref.validator import validate

    (folder / skill.name).mkdir()
    (folder / skill.name / "SKILL.md").write_text(skill.text, encoding="utf-8", newline="")
    return list(validate(folder / skill.name))


@pytest.mark.parametrize(
    ("raw", "name"),
    [("tidy", "tidy"), (" UPPER-ok ", "upper-ok"), ("2fa", "2fa"), ("a" * 64, "a" * 64), ("a-b-c\n", "a-b-c")],
)
def test_a_name_is_trimmed_and_lowered(raw: str, name: str) -> None:
    assert skill_name(raw) == name


NO_NAMES = [
    "部署流程", "回滚流程", "🚀🚀", "...", "---", "", " ", "Ünïcode Ñame", "重构 pipeline v2", "snake_case",
    "two words",
    "-x", "x-", "a--b", "a" * 65, "\u212aelvin", "../x", "..", ".", "/etc/x", "a/../../x", "..%2fx", "%2e%2e", "..\\x",
    "C:\\x", "~/x", "x\0.md", "．．／x", "x/SKILL.md", ".git",
    "x.", "ｘ", "x\u200b", "ß",
]  # fmt: skip


@pytest.mark.parametrize("raw", NO_NAMES)
def test_what_is_no_name_is_refused_with_the_rule(raw: str) -> None:
    with pytest.raises(InputError, match="letters a-z, digits and single hyphens"):
        skill_name(raw)


@given(st.text(alphabet="abAB-_. 1é\u212a", max_size=70))
def test_every_accepted_name_is_stable_and_only_lowered(raw: str) -> None:
    try:
        name = skill_name(raw)
    except InputError:
        return
    assert skill_name(name) == name == raw.strip().lower()
    assert 1 <= len(name) <= 64
    assert "--" not in name


def test_the_file_is_frontmatter_a_blank_line_the_body_and_one_newline() -> None:
    skill = prepare(draft(body="\n\n# Steps\n\n1. go\n\n"), {"session": "s-1", "empty": ""})
    assert skill.text == (
        "---\nname: tidy\ndescription: Tidy a branch\nmetadata:\n  session: s-1\n---\n\n# Steps\n\n1. go\n"
    )


DESCRIPTIONS = [
    "Use when: building", "@team rules", "`make` first", "fix #12 then ship", "*.md files", "!important x",
    "%TEMP% dir",
    "'a' or b", "on", "2024-06-01", "12:30:45", 'a: "b\\c"', "tab\tinside", "  spaces  ", "a\x85b", "a\u2028b",
    "a\x1bb",
    "x" * 300, "a --- b", "x\n---\nname: evil", "123", "~", "null", "[a]", "{a: b}", "- a", "👨‍👩‍👧", "é" * 1024,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(DESCRIPTIONS)))
def test_every_description_stands_on_one_line_and_passes_the_reference(number: int, tmp_path: Path) -> None:
    skill = prepare(draft(description=DESCRIPTIONS[number], body="---\nname: evil\n---\n# Hi"), {"cwd": "/a: b #c"})
    assert checked(skill, tmp_path) == []
    fields = frontmatter.split(skill.text).fields
    assert fields["description"] == skill.description
    assert fields["metadata"] == {"cwd": "/a: b #c"}
    assert sum(line.startswith("description: ") for line in skill.text.splitlines()) == 1


@pytest.mark.parametrize("name", ["on", "null", "true", "123", "1e3", "2024-06-01", "y"])
def test_names_that_yaml_would_turn_into_something_else(name: str, tmp_path: Path) -> None:
    assert checked(prepare(draft(name=name), {}), tmp_path) == []


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (draft(description=" \n "), "non-empty description"),
        (draft(body=" \n\t"), "non-empty body"),
        (draft(description="é" * 1025), "1,025 characters; the limit is 1,024"),
        (draft(body="あ" * 21_400), "limit is 64,000"),
        (SkillDraft("remove", "tidy", "d", "b"), "action"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_refused_whole(given: SkillDraft, word: str) -> None:
    with pytest.raises(InputError, match=word):
        prepare(given, {})


def test_the_whole_file_counts_in_bytes() -> None:
    rest = len(prepare(draft(body="x"), {}).text.encode()) - 1
    assert len(prepare(draft(body="x" * (64_000 - rest)), {}).text.encode()) == 64_000
    with pytest.raises(InputError, match=r"64,001 bytes; the limit is 64,000\. Shorten"):
        prepare(draft(body="x" * (64_001 - rest)), {})
    with pytest.raises(InputError, match="limit is 64,000"):
        prepare(draft(description="d" * 900, body="x " * 31_900), {})


def test_size_is_measured_after_redaction() -> None:
    body = "\n".join([f"token {KEY}"] * 1_400) + "\nend"
    assert len(body) < 66_000
    over = body + "\nword" * 200
    assert len(over.encode()) > 64_000
    assert len(prepare(draft(body=over), {}).text) < 64_000


def test_secrets_leave_every_field_and_refuse_the_name() -> None:
    skill = prepare(draft(description=f"Use {KEY}", body=f"export TOKEN={KEY}"), {"context": f"said {KEY}"})
    assert KEY not in skill.text
    assert skill.text.count("[REDACTED]") == 3
    for name in ("AKIA" + "Q7B2" * 4, KEY):
        with pytest.raises(InputError) as told:
            prepare(draft(name=name), {})
        assert name not in str(told.value)


def test_an_update_keeps_other_keys_and_counts_them() -> None:
    old = "---\r\nname: tidy\r\ndescription: old\r\nenabled: true\r\nx: [1]\r\n---\r\n\r\nold\r\n"
    assert updated(prepare(draft(), {"session": "s"}), old).text == (
        "---\nname: tidy\ndescription: Tidy a branch\nenabled: true\nx: [1]\nmetadata:\n  session: s\n---\n\nDo it.\n"
    )
    rest = len(prepare(draft(body="x"), {}).text.encode()) - 1
    with pytest.raises(InputError, match="limit is 64,000"):
        updated(prepare(draft(body="x" * (64_000 - rest)), {}), "---\nname: tidy\nextra: key\n---\nold\n")


@pytest.mark.parametrize("old", ["no block\n", "---\nname: a\nname: b\n---\n", "---\nname: 'x\n---\n", "---\n# Rule\n"])
def test_an_update_of_what_cannot_be_read_is_refused(old: str) -> None:
    with pytest.raises(InputError, match="nothing was changed"):
        updated(prepare(draft(), {}), old)
