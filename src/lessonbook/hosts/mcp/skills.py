"""The tools of skills: ``read_skill`` and ``manage_skill``."""

from __future__ import annotations

from secrets import token_hex

from lessonbook.hosts.mcp.schemas import answer, anything, arguments, text, things, whole
from lessonbook.hosts.mcp.surroundings import Here
from lessonbook.hosts.mcp.tools import Answer, Given, Tool


def _read_skill(here: Here, given: Given) -> Answer:
    if "name" not in given:
        return _list_skills(here)
    from lessonbook.actions.catalogue import skill_text

    name = given["name"]
    found = skill_text(here.places, here.settings, here.cwd, name, given.get("version"), int(here.now()))
    return Answer(found, {"name": name, "text": found})


def _list_skills(here: Here) -> Answer:
    from lessonbook.actions.catalogue import all_skills

    found = [s for s in all_skills(here.places, here.settings, here.cwd).skills if s.shadowed_by is None]
    rows = [{"name": s.name, "description": s.description, "origin": s.origin} for s in found]
    lines = [f"- {row['name']}: {row['description']} ({row['origin']})" for row in rows]
    return Answer("\n".join(lines) or "There is no skill here.", {"skills": rows})


def _manage_skill(here: Here, given: Given) -> Answer:
    from lessonbook.actions.managing import Asked, manage
    from lessonbook.actions.skill_review import skill_offer

    offer = skill_offer(here.places, here.cwd, here.session_id, here.now, lambda: token_hex(3))
    asked = Asked(given["action"], given["name"], given.get("description", ""), given.get("body", ""))
    done = manage(here.places.home, here.settings, here.cwd, asked, here.session_id, offer)
    waits = {"pending": done.pending} if done.pending else {}
    return Answer(done.text, {"text": done.text, "skill": done.skill, **waits})


READ_SKILL = Tool(
    "read_skill",
    "Read a skill",
    "Read the whole text of a skill before work that it fits. Without a name, it lists the skills there are here: "
    "those people wrote, those that were accepted by review, and those agents manage.",
    arguments(
        name=text("The skill's name; leave it out to see which there are."),
        version=whole("An older version of a managed skill, by its number.", 1, 999_999),
    ),
    answer(
        name=text("The skill's name."),
        text=text("Its SKILL.md."),
        skills=things("Without a name: name, description and origin of each."),
    ),
    _read_skill,
    read_only=True,
)
MANAGE_SKILL = Tool(
    "manage_skill",
    "Change a managed skill",
    "Create, update or delete a managed skill: a procedure with several steps that will come up again. Only skills "
    "that agents manage are ever changed, never one that a person wrote or accepted. Every version is kept, and a "
    "person can bring it back with `lessonbook skills undo NAME`. Where review is on, the skill waits for a person "
    "instead.",
    arguments(
        ("action", "name"),
        action=text("What to do.", ("create", "update", "delete")),
        name=text("Lower-case letters, digits and single hyphens, at most 64 characters, such as release-check."),
        description=text("For create and update: one line, when to use it, then what it does."),
        body=text("For create and update: the steps in Markdown, without frontmatter."),
    ),
    answer(
        ("text", "skill"),
        text=text("What was done."),
        skill=anything("The skill's name, or null where it waits for review."),
        pending=text("The candidate it waits for review as."),
    ),
    _manage_skill,
    destructive=True,
)
