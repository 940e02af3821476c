"""A skill: the name rule, and the text of its SKILL.md; what an agent hands in becomes a value that is safe to write.

Rules of the Agent Skills specification: a name of 1-64 lower-case letters, digits and single hyphens inside, equal to
its folder; a description of 1-1,024 characters; further facts as text under ``metadata``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from lessonbook.core import frontmatter, frontmatter_writing
from lessonbook.core.clean import clean_body, clean_line
from lessonbook.core.errors import InputError
from lessonbook.core.redact import redact

Action = Literal["create", "update"]

MAX_BYTES = 64_000
MAX_NAME = 64
MAX_DESCRIPTION = 1_024
NAME_RULE = f"use 1 to {MAX_NAME} of the letters a-z, digits and single hyphens between them, such as deploy-to-staging"

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class SkillDraft:
    """A skill as an agent or a person hands it in, nothing checked yet."""

    action: Action
    name: str
    description: str
    body: str


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that may be written: cleaned, redacted, in bounds. ``text`` is the whole SKILL.md."""

    name: str
    description: str
    body: str
    text: str


def is_skill_name(text: str) -> bool:
    """Whether ``text`` is a skill's name exactly as it stands."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def skill_name(raw: str) -> str:
    """Return the name trimmed and in lower case; raises ``InputError`` with the rule where it is no name then.

    Nothing else is ever changed to make it fit, so two different names never become one.
    """
    name = raw.strip()
    # Some letters outside ASCII become ASCII ones in lower case, which would make one name of two.
    name = name.lower() if name.isascii() else name
    if not is_skill_name(name):
        shown = redact(raw[:200]).text[:80]
        raise InputError(f"{shown!r} is not a skill name: {NAME_RULE}.")
    return name


def prepare(draft: SkillDraft, provenance: Mapping[str, str]) -> Skill:
    """Return the skill that may be written for ``draft``: every field cleaned, then redacted, then measured.

    ``provenance`` becomes text under ``metadata``; its blank values are left out. Raises ``InputError`` that says what
    to change: the action, the name (also one that holds a secret), an empty field, a size over the limit. Never
    shortens anything.
    """
    if draft.action not in ("create", "update"):
        raise InputError(f'The skill action must be "create" or "update", not {str(draft.action)[:40]!r}.')
    if redact(draft.name).count:
        raise InputError("The skill name holds what looks like a secret; choose another name.")
    name = skill_name(draft.name)
    description = redact(clean_line(draft.description)).text.strip()
    body = redact(clean_body(draft.body)).text.strip()
    _check_fields(name, description, body)
    told = {key: redact(clean_line(value)).text for key, value in provenance.items()}
    block = frontmatter_writing.render(
        {
            "name": name,
            "description": description,
            "metadata": {key: value for key, value in told.items() if value},
        }
    )
    return _measured(Skill(name, description, body, _file(block, body)))


def updated(skill: Skill, existing: str) -> Skill:
    """Return ``skill`` as an update of the file text ``existing``: keys it does not set keep their value and type.

    Raises ``InputError`` where the existing text has no frontmatter that can be read, or the result is too large.
    """
    old = frontmatter.split(existing)
    try:
        if old.problem:
            raise InputError(old.problem)
        block = frontmatter_writing.merge(old.block, frontmatter.split(skill.text).block)
    except InputError as error:
        raise InputError(
            f'The file of managed skill "{skill.name}" {error}; nothing was changed. Repair it or delete the skill.'
        ) from error
    return _measured(replace(skill, text=_file(block, skill.body)))


def parsed(name: str, text: str) -> Skill:
    """Return the skill a file text holds. Raises ``InputError`` where its frontmatter cannot be read."""
    parts = frontmatter.split(text)
    if parts.problem:
        raise InputError(f'The file of skill "{name}" {parts.problem}.')
    description = parts.fields.get("description", "")
    return Skill(name, description if isinstance(description, str) else "", parts.body.strip(), text)


def _check_fields(name: str, description: str, body: str) -> None:
    if not description:
        raise InputError(f'Skill "{name}" needs a non-empty description: what it does and when to use it.')
    if len(description) > MAX_DESCRIPTION:
        raise InputError(
            f'The description of skill "{name}" has {len(description):,} characters; the limit is '
            f"{MAX_DESCRIPTION:,}. Shorten it; details belong in the body."
        )
    if not body:
        raise InputError(f'Skill "{name}" needs a non-empty body: the steps to follow.')


def _file(block: str, body: str) -> str:
    return f"---\n{block}---\n\n{body}\n"


def _measured(skill: Skill) -> Skill:
    size = len(skill.text.encode("utf-8"))
    if size > MAX_BYTES:
        raise InputError(
            f'The file of skill "{skill.name}" would have {size:,} bytes; the limit is {MAX_BYTES:,}. '
            "Shorten the body or the description, or split it into two skills."
        )
    return skill
