"""A text brought up to date with what works now: the command that failed is replaced where it stands as code."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lessonbook.core.candidate import Proposal
from lessonbook.core.cited import warned
from lessonbook.proposers.fixed_rules import FIXED

_USED = re.compile(r"\AUse `(?P<good>[^`]+)`(?: here, not | instead of |, not )`(?P<bad>[^`]+)`, which fails with ")


def corrected(skills: Mapping[str, str], found: Proposal, add: bool) -> dict[str, str]:
    """Return the changed texts of the skills, by path: those that tell to run what ``found`` says fails.

    ``add``: whether a skill that does not run it is told of it in a paragraph at its end.
    """
    texts = {path: corrected_text(text, found) for path, text in skills.items()}
    changed = {path: text for path, text in texts.items() if text != skills[path]}
    if not changed and add and found.rule:
        changed = {path: f"{text.rstrip()}\n\n{found.rule}\n" for path, text in skills.items()}
    return changed


def corrected_text(text: str, found: Proposal) -> str:
    """Return a text with what ``found`` says works in the place of what it says fails; as it was where nothing fits."""
    match = _USED.match(found.rule or "") if found.evidence.kind == FIXED else None
    if match is None:
        return text
    bad, good = (match[side].replace("…", "").strip() for side in ("bad", "good"))
    if ("…" in match["bad"]) != ("…" in match["good"]):
        return text  # what follows the one does not follow the other
    end = r"(?=[ \t]|`|$)"

    def replaced(at: re.Match[str]) -> str:
        return at[0] if warned(text, at.start(0)) else f"{at[1]}{good}"

    return re.sub(rf"(?m)(`|^[ \t]*(?:\$ )?){re.escape(bad)}{end}", replaced, text)
