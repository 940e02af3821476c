"""Which action of ``lessonbook memory`` a backend does not offer, and in one sentence what to do instead.

A new backend offers what it has no sentence for; a test tries each action on each backend.
"""

from __future__ import annotations

from collections.abc import Mapping

ONE = ("show", "edit", "forget", "invalidate", "pin", "unpin", "undo", "history", "erase")
"""What is done with one lesson."""
PAIRS = ("contradictions", "dismiss", "merges", "merge", "apart")
WHOLE = ("sleep", "stats", "diagnose", "vacuum", "backup", "export", "import")
ACTIONS = ("list", *ONE, *PAIRS, *WHOLE)

_NO_FILE = "PostgreSQL keeps no file of ours here: {}"
_SERVERS_OWN = "The server puts together by itself what it was told; {}"
_ANEW = "tell it anew under its `--key`, and the new words take the place of the old ones."
_BY_HAND = "The local memory is a file to edit by hand, {file}: {what}"
_INSTEAD: Mapping[str, Mapping[str, str]] = {
    "local": {
        "edit": _BY_HAND.format(file="{place}", what="change the line."),
        **dict.fromkeys(("forget", "erase"), _BY_HAND.format(file="{place}", what="remove the line.")),
        **dict.fromkeys(
            ("invalidate", "pin", "unpin", "undo", "history", *PAIRS, "sleep", "stats", "diagnose", "vacuum"),
            _BY_HAND.format(file="{place}", what="what it holds is all there is to a lesson."),
        ),
        "backup": _BY_HAND.format(file="{place}", what="copy it."),
        "import": _BY_HAND.format(file="{place}", what="add a line for each, or tell it with `lessonbook learn`."),
    },
    "hindsight": {
        "edit": f"A Hindsight server keeps the words as they were told; {_ANEW}",
        "forget": "A Hindsight server brings nothing back, so forgetting is `lessonbook memory erase {id}`.",
        "invalidate": f"A Hindsight server keeps no mark of that; {_ANEW}",
        **dict.fromkeys(("pin", "unpin"), f"A Hindsight server keeps no mark of that; {_ANEW}"),
        **dict.fromkeys(("undo", "history"), f"A Hindsight server keeps no earlier words of a lesson; {_ANEW}"),
        **dict.fromkeys(PAIRS, _SERVERS_OWN.format("`lessonbook memory erase ID` removes one that is wrong.")),
        "sleep": _SERVERS_OWN.format("there is nothing to do for us."),
        "stats": "`lessonbook status` says how many lessons there are; the server's own page says more.",
        "diagnose": "`lessonbook doctor` says whether the server answers, and what waits for it.",
        "vacuum": "The server looks after its own room; `lessonbook outbox` shows what waits here.",
        "backup": "The server is backed up by who keeps it; `lessonbook memory export` writes this project's lessons.",
    },
    "postgres": {
        "vacuum": _NO_FILE.format("the server gives back room by itself (autovacuum)."),
        "backup": _NO_FILE.format(
            "`pg_dump --schema {schema} ADDRESS` backs up the team's schema; `lessonbook memory export` writes lessons."
        ),
    },
}


def instead(backend: str, action: str) -> str | None:
    """Return what to do instead of an action that a backend does not offer; ``None`` where it does.

    ``{place}``, ``{schema}`` and ``{id}`` in it are for the caller to fill in.
    """
    return _INSTEAD.get(backend, {}).get(action)
