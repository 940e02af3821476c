"""What of an editor model's answer may become a proposal: every edit is checked on a copy of the folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lessonbook.core.clean import clean_body
from lessonbook.core.errors import InputError, ModelError
from lessonbook.core.redact import LABELS, redact, scrub_identity
from lessonbook.core.redact_names import NAME_LABEL, Names
from lessonbook.core.skill import SkillDraft, is_skill_name, parsed, prepare, updated
from lessonbook.proposers.wording import same_rule, sentence

AGENTS = "AGENTS.md"
AGENTS_MOST = 2_000
PARAGRAPH_MOST = 500
_EDITS_MOST = 20

_BLOCK = re.compile(
    r"^<<<< (?P<path>\S{1,120})(?: +evidence:(?P<cited>[ \d,]*))?[ \t]*\n(?P<text>.*?)^>>>>[ \t]*$", re.M | re.S
)
_SKILL = re.compile(r"skills/([^/]+)/SKILL\.md\Z")
_MARKUP = re.compile(r"\A(?:#|```|~~~|>|\[kept )")


@dataclass(frozen=True, slots=True)
class Edit:
    """One block of an answer: the file, the numbers of the evidence it rests on, and what it brings."""

    path: str
    evidence: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Holds:
    """An edit that was checked: a paragraph or a skill, and the whole file as the copy has it then."""

    title: str
    file: str
    rule: str | None = None
    skill_name: str | None = None
    skill_text: str | None = None


def read(reply: str) -> list[Edit]:
    """Return the edits of an answer; none for ``NONE``. Raises ``ModelError`` where it holds neither."""
    text = reply.replace("\r\n", "\n")
    edits = [_edit(match) for match in _BLOCK.finditer(text)][:_EDITS_MOST]
    if not edits and not re.search(r"\bNONE\b", text):
        raise ModelError("The editor model answered with no edit in the form it was asked for.")
    return edits


def checked(edit: Edit, copy: Mapping[str, str], names: Names) -> Holds:
    """Return what the edit makes of the copy. Raises ``InputError`` that says why it is refused."""
    if any(label in edit.text for label in (*LABELS, NAME_LABEL)):
        raise InputError("it holds a label that stands for something taken out")
    if redact(edit.text).count or scrub_identity(edit.text).count or names.without(edit.text) != edit.text:
        raise InputError("it holds what looks like a secret, or names a person")
    if edit.path == AGENTS:
        return _paragraph(edit.text, copy.get(AGENTS, ""))
    match = _SKILL.match(edit.path)
    if match is None or not is_skill_name(match[1]):
        raise InputError("it is of a file that no edit may touch; AGENTS.md and skills/NAME/SKILL.md are")
    return _skill(match[1], edit.text, copy.get(edit.path))


def _edit(match: re.Match[str]) -> Edit:
    cited = dict.fromkeys(int(number) for number in re.findall(r"\d{1,4}", match["cited"] or ""))
    return Edit(match["path"], tuple(cited), match["text"].strip("\n"))


def _paragraph(text: str, agents: str) -> Holds:
    plain = clean_body(text).strip()
    if not plain or "\n\n" in plain or _MARKUP.match(plain):
        raise InputError("it is not one plain paragraph")
    rule = sentence(" ".join(plain.split()), PARAGRAPH_MOST + 1)
    if len(rule) > PARAGRAPH_MOST:
        raise InputError(f"its paragraph is over {PARAGRAPH_MOST} characters")
    if any(same_rule(known, rule, 0.7) for known in re.split(r"\n\s*\n", agents)):
        raise InputError("the file says it already")
    file = f"{agents.rstrip()}\n\n{rule}\n" if agents.strip() else f"{rule}\n"
    if len(file) > AGENTS_MOST:
        raise InputError(f"it would take AGENTS.md past {AGENTS_MOST:,} characters")
    return Holds(rule, file, rule=rule)


def _skill(name: str, text: str, existing: str | None) -> Holds:
    told = parsed(name, f"{text.lstrip()}\n")
    made = SkillDraft("create" if existing is None else "update", name, told.description, told.body)
    skill = prepare(made, {"source": "lessonbook"})
    if existing is not None:
        skill = updated(skill, existing)
        if skill.text == existing:
            raise InputError("it changes nothing")
    return Holds(f"{'Skill' if existing is None else 'Change skill'} {name}", skill.text, None, name, skill.text)
