"""Every verb of the command line and the module that answers it. Adding a verb is one module and one line here.

Modules are named, not imported: a verb costs nothing until it is asked for.
"""

from __future__ import annotations

from lessonbook.core.value import Value


class Verb(Value):
    """Where a verb lives and what it is for, in one line.

    The module has ``EXAMPLES`` (text), ``configure(parser)`` and ``run(args, out) -> int``.
    """

    module: str
    help: str


_CLI = "lessonbook.hosts.cli."

VERBS: dict[str, Verb] = {
    "learn": Verb(f"{_CLI}learn", "keep one lesson in memory"),
    "recall": Verb(f"{_CLI}recall", "find lessons in memory"),
    "memory": Verb(f"{_CLI}memory", "look through the lessons in memory; change, check, back up, import, export"),
    "outbox": Verb(f"{_CLI}outbox", "what waits for the server of the memory: list, flush, retry, drop"),
    "skills": Verb(f"{_CLI}skills", "list the skills agents find here; show, undo or delete one"),
    "propose": Verb(f"{_CLI}propose", "find lessons in past sessions and offer them for review"),
    "findings": Verb(f"{_CLI}findings", "single mistakes of past sessions, as rates"),
    "report": Verb(f"{_CLI}report", "whether mistakes get fewer, week by week, beside what was accepted"),
    "export": Verb(f"{_CLI}export", "write one past session as ATIF, which other programs read"),
    "watch": Verb(f"{_CLI}watch", "whether accepted lessons helped; propose to rewrite or take out the others"),
    "health": Verb(f"{_CLI}health", "repeated defects of tools, drafts of issues about them, and how histories grow"),
    "learned": Verb(f"{_CLI}learned", "review what was offered: review, list, diff, accept, reject"),
    "review": Verb(f"{_CLI}review", "open the review page in the browser: look, decide with one key, undo"),
    "nightly": Verb(f"{_CLI}nightly", "do a night of it: expire, propose, replay, judge, offer, and one note"),
    "schedule": Verb(f"{_CLI}schedule", "have the night started every day; check it; take it back"),
    "brief": Verb(f"{_CLI}brief", "print what the next session here starts with"),
    "mcp": Verb(f"{_CLI}mcp", "serve agents over the Model Context Protocol (agents start this)"),
    "status": Verb(f"{_CLI}status", "books, memory, skills and switches in one look"),
    "doctor": Verb(f"{_CLI}doctor", "say what is wrong here and what to do about it"),
    "setup": Verb(f"{_CLI}setup", "connect the coding agents on this machine; check it; take it back"),
    "config": Verb(f"{_CLI}config", "read or change a setting"),
    "completion": Verb(f"{_CLI}completion", "print the completion script for your shell"),
}

HOOKS = Verb("lessonbook.hosts.hooks", "answer a coding agent's hook (agents call this; --help shows the set-up)")
"""``lessonbook hook EVENT``: answered before any parser is built, because an agent waits for it at every start."""
