"""The ``learn`` tool, where the configuration offers it (contract §1)."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex

from lessonbook.hosts.mcp.schemas import answer, anything, text
from lessonbook.hosts.mcp.surroundings import Here
from lessonbook.hosts.mcp.tools import Answer, Given, Tool
from lessonbook.system.settings import Settings

NAME = "learn"
NOT_OFFERED = (
    "The learn tool is off here: it needs a memory (`lessonbook config set memory.backend mnemopi`) and "
    "`lessonbook config set autolearn.enabled true`. Nothing was stored."
)
_ANSWERS = answer(
    ("text", "skill"),
    text=text("What was stored, and what was not."),
    skill=anything("The managed skill that was written, or null."),
    shadowed={"type": "boolean", "description": "Whether a skill that a person wrote has that name already."},
    pending=text("The candidate the skill waits for review as."),
)


def tool(settings: Settings) -> Tool | None:
    """Return the tool, or ``None`` where learning on one's own is off or there is no memory to keep lessons in."""
    if not settings.autolearn_enabled:
        return None
    from lessonbook.actions.learn import LearnSession, LearnTool

    found = LearnTool.create_if(settings, LearnSession(Path(), "", None))
    if found is None:
        return None
    # What it says about arguments that are wrong is the contract's.
    shown = (NAME, "Keep a lesson", found.description, found.parameters)
    return Tool(*shown, _ANSWERS, _learn, is_checked=False)


def _learn(here: Here, given: Given) -> Answer:
    from lessonbook.actions.learn import LearnSession, LearnTool
    from lessonbook.actions.skill_review import skill_offer

    offer = skill_offer(here.places, here.cwd, here.session_id, here.now, lambda: token_hex(3))
    session = LearnSession(here.cwd, here.session_id, here.memory, here.places.home, offer)
    result = LearnTool(here.settings, session).execute(given)
    said = result.content[0]["text"]
    return Answer(said, {"text": said, **result.details}, result.is_error)
