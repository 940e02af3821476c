"""Looks into one skill file: the skill it holds, every name it answers to, and what is wrong with it."""

from __future__ import annotations

import codecs

from lessonbook.core import frontmatter
from lessonbook.core.clean import clean_line
from lessonbook.core.redact import redact
from lessonbook.core.skill import MAX_DESCRIPTION, is_skill_name
from lessonbook.skills.files import HEAD, SkillFile
from lessonbook.skills.found import Found, Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.skills.found import Origin


def examined(file: SkillFile, origin: Origin, agents: tuple[str, ...] = ()) -> Seen:
    """Return what the file comes to; never raises for what is in it."""
    shown = _line(file.folder)
    found = Found(shown, "", origin, agents, file.path)
    item = Seen(found, {file.folder.casefold()}, usable=False)
    text = None if file.problem else _text(file.head)
    parts = frontmatter.split(text) if text is not None else None
    reason = file.problem or ("is not UTF-8 text" if parts is None else _line(parts.problem or ""))
    if reason or parts is None:
        item.problems.append(reason)
        return item
    claimed = parts.fields.get("name", "")
    name, told = _name(claimed, file.folder)
    description, doubt = _description(parts.fields.get("description", ""))
    item.problems.extend(text for text in (told, doubt) if text)
    item.found = found.but(name=name or shown, description=description)
    if isinstance(claimed, str) and claimed.strip():
        item.names.add(claimed.strip().casefold())
    item.usable = True
    return item


def _text(head: bytes) -> str | None:
    try:
        # Only where the head was cut off may its last character be incomplete.
        return codecs.utf_8_decode(head, "strict", len(head) < HEAD)[0]
    except UnicodeDecodeError:
        return None


def _name(value: frontmatter.Value, folder: str) -> tuple[str | None, str | None]:
    if not isinstance(value, str) or not value:
        return None, "has no name in its frontmatter; its folder's name is used"
    if not is_skill_name(value):
        return (
            None,
            f"has the name {_line(value)[:80]!r}, which is not one the specification allows; its folder's is used",
        )
    if value != folder:
        return (
            value,
            f"says its name is {value!r}, but its folder is {_line(folder)!r}; agents differ in which they use",
        )
    return value, None


def _description(value: frontmatter.Value) -> tuple[str, str | None]:
    text = _line(value) if isinstance(value, str) else ""
    if not text:
        return "", "has no description, so no agent knows when to use it"
    if len(text) > MAX_DESCRIPTION:
        return text, f"has a description of {len(text):,} characters; the specification allows {MAX_DESCRIPTION:,}"
    return text, None


def _line(text: str) -> str:
    return redact(clean_line(text)).text
