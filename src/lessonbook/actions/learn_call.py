"""What a call of the ``learn`` tool holds: the schema an agent is shown, and the check of what it then sends.

Objects may arrive as JSON text, as some hosts send them; text stays exactly the text it is, also where it looks like
JSON. ``null`` for an optional field is the same as leaving it out. Anything else that is not as the schema says is
refused by the name of its field, before anything is stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lessonbook.core.errors import LearnError
from lessonbook.core.lesson import Scope
from lessonbook.core.skill import Action, SkillDraft

DESCRIPTION = """\
Keep one lesson for future sessions, and where it is a procedure worth repeating, a skill with it.

Use it sparingly: when something you found out would have saved real work had you known it at the start. One precise \
lesson is worth more than several vague ones. Write it so that it stands alone: what to do or avoid, when it applies, \
and why. Do not keep what the code, the documentation or the project's instructions already say, what only matters \
today, or anything secret.

Give `skill` only for a procedure with several steps that will come up again; a plain fact needs none. Use the action \
`create` for a new skill and `update` to change one that you made before. Skills that people wrote are never changed."""

_SKILL_FIELDS = ("action", "name", "description", "body")
_ACTIONS: tuple[Action, ...] = ("create", "update")


@dataclass(frozen=True, slots=True)
class LearnCall:
    """A call whose every field has the right type."""

    memory: str
    context: str | None = None
    skill: SkillDraft | None = None
    scope: Scope = Scope.PROJECT


def schema(*, with_scope: bool) -> dict[str, Any]:
    """Return the JSON Schema of the tool's arguments: plain objects only, as every host understands them."""
    properties: dict[str, Any] = {
        "memory": _text("The lesson, on its own understandable: what, when it applies, and why."),
        "context": _text("Where it comes from, such as the task, file or error."),
        "skill": _skill_schema(),
    }
    if with_scope:
        properties["scope"] = _text(
            "project (the default) for what only holds in this project, global for what holds everywhere.",
            enum=[scope.value for scope in Scope],
        )
    return _object(properties, ["memory"])


def parse(params: object) -> LearnCall:
    """Return the checked call; raises ``LearnError`` that names the field that is missing, unknown or of wrong type."""
    fields = _fields(params, "The arguments", ("memory", "context", "skill", "scope"), ("memory",))
    scope = _text_of(fields, "scope") or Scope.PROJECT.value
    if scope not in list(Scope):
        raise _refusal('scope must be "project" or "global"')
    skill = fields.get("skill")
    return LearnCall(
        memory=_text_of(fields, "memory") or "",
        context=_text_of(fields, "context"),
        skill=None if skill is None else _draft(skill),
        scope=Scope(scope),
    )


def _draft(value: object) -> SkillDraft:
    fields = _fields(value, "skill", _SKILL_FIELDS, _SKILL_FIELDS)
    wanted, name, description, body = (_text_of(fields, field, "skill.") or "" for field in _SKILL_FIELDS)
    action = next((known for known in _ACTIONS if known == wanted), None)
    if action is None:
        raise _refusal('skill.action must be "create" or "update"')
    return SkillDraft(action, name, description, body)


def _fields(value: object, what: str, known: tuple[str, ...], required: tuple[str, ...]) -> Mapping[str, object]:
    found = _decoded(value) if isinstance(value, str) else value
    if not isinstance(found, Mapping):
        raise _refusal(f"{what} must be an object, not {_kind(value)}")
    unknown = [str(name)[:40] for name in found if name not in known]
    if unknown:
        raise _refusal(f"{what} holds the unknown field {unknown[0]!r}; known are {', '.join(known)}")
    missing = [name for name in required if found.get(name) is None]
    if missing:
        raise _refusal(f"{what} must hold {missing[0]}")
    return found


def _text_of(fields: Mapping[str, object], name: str, prefix: str = "") -> str | None:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _refusal(f"{prefix}{name} must be text, not {_kind(value)}")


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _kind(value: object) -> str:
    kinds = ((bool, "true or false"), (int | float, "a number"), (str, "text"), (list | tuple, "a list"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null" if value is None else "an object")


def _refusal(what: str) -> LearnError:
    return LearnError(f"{what}. Nothing was stored.")


def _skill_schema() -> dict[str, Any]:
    fields = {
        "action": _text("create a new skill, or update one made with this tool before.", enum=list(_ACTIONS)),
        "name": _text("Lower-case letters, digits and single hyphens, at most 64 characters, such as release-check."),
        "description": _text("One line: when to use it, then what it does."),
        "body": _text("The steps in Markdown, without frontmatter."),
    }
    return {"description": "A repeatable procedure to keep as a skill.", **_object(fields, list(_SKILL_FIELDS))}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}
