"""All the tools there are. A new tool is one value of ``Tool``, and one line here."""

from __future__ import annotations

from lessonbook.hosts.mcp import editing, learning, queue, remembering, skills
from lessonbook.hosts.mcp.tools import Tool
from lessonbook.system.settings import Settings

ALWAYS = (
    remembering.RECALL,
    remembering.REMEMBER,
    remembering.LESSONS,
    skills.READ_SKILL,
    skills.MANAGE_SKILL,
    editing.MEMORY_EDIT,
    queue.PENDING,
    queue.DIFF,
)


def offered(settings: Settings) -> tuple[Tool, ...]:
    """Return the tools there are under ``settings``, always in the same order. None of them accepts a candidate."""
    learn = learning.tool(settings)
    reflect = remembering.reflecting(settings)
    return tuple(tool for tool in (learn, *ALWAYS, reflect) if tool)
