"""Several failing commands with one that works are one lesson: ``bin/test`` for ``pytest`` and ``python -m pytest``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from lessonbook.core.candidate import Evidence, Proposal
from lessonbook.proposers.draft import Draft
from lessonbook.proposers.fixed_rules import FIXED
from lessonbook.proposers.wording import rule, title

JOINT = " + "
"""Between the keys of a merged proposal: knowing one of them is knowing the lesson."""

_USE = re.compile(
    r"\AUse (?P<good>`[^`]+`)(?P<link> here, not | instead of )(?P<bad>`[^`]+`)(?P<why>, which fails with .*)\Z"
)


def merged(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with those of one book that name the same working command made one."""
    return _grouped(_grouped(drafts, _same_good), _same_programs)


def _grouped(drafts: Sequence[Draft], alike: Callable[[re.Match[str]], str | None]) -> list[Draft]:
    groups: dict[tuple[object, ...], list[Draft]] = defaultdict(list)
    rest: list[Draft] = []
    for draft in drafts:
        match = _USE.match(draft.proposal.rule or "") if draft.proposal.evidence.kind == FIXED else None
        name = alike(match) if match is not None else None
        if name is None:
            rest.append(draft)
        else:
            groups[draft.proposal.book, draft.proposal.repo or draft.proposal.cwd, name].append(draft)
    return rest + [_joined(group) if len(group) > 1 else group[0] for group in groups.values()]


def _same_good(match: re.Match[str]) -> str | None:
    return match["good"]


def _same_programs(match: re.Match[str]) -> str | None:
    """``npm`` and ``pnpm`` of ``npm test`` and ``pnpm test``: the same words after another program."""
    bad, good = match["bad"].strip("`").split(), match["good"].strip("`").split()
    return f"{bad[0]} {good[0]}" if bad[0] != good[0] and bad[1:] == good[1:] and len(bad) > 1 else None


def _joined(group: list[Draft]) -> Draft:
    ordered = sorted(group, key=lambda draft: -draft.worth)
    best = ordered[0].proposal
    matches = [_USE.match(draft.proposal.rule or "") for draft in ordered]
    found = [match for match in matches if match is not None]
    first = found[0]
    good, names = first["good"], either(list(dict.fromkeys(match["bad"] for match in found)))
    if len({match["good"] for match in found}) > 1:
        bad, better = (first[side].strip("`").split()[0] for side in ("bad", "good"))
        good, names = f"`{better} …`", f"`{bad} …`"
    text = rule(f"Use {good}{first['link']}{names}{first['why']}") or best.rule
    marks = _marks([draft.proposal for draft in ordered])
    proposal = replace(
        best,
        title=title(f"Use {good}, not {names}".replace("`", "")),
        rule=text,
        key=JOINT.join(sorted(draft.proposal.key for draft in ordered)),
        evidence=_evidence([draft.proposal for draft in ordered], marks),
    )
    return Draft(
        proposal, len(marks), max(draft.certainty for draft in ordered), max(draft.chance for draft in ordered)
    )


def either(names: list[str]) -> str:
    """Return ``a, b or c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _marks(proposals: list[Proposal]) -> tuple[str, ...]:
    """One mark per session, first seen first."""
    first: dict[str, str] = {}
    for mark in (mark for proposal in proposals for mark in proposal.evidence.sessions):
        first.setdefault(mark.split(" turn ", 1)[0], mark)
    return tuple(first.values())


def _evidence(proposals: list[Proposal], marks: tuple[str, ...]) -> Evidence:
    parts = [proposal.evidence for proposal in proposals]
    return replace(
        parts[0],
        agents=tuple(dict.fromkeys(agent for part in parts for agent in part.agents)),
        sessions=marks,
        count=sum(part.count for part in parts),
        times=tuple(at for part in parts for at in part.times),
        first=min((part.first for part in parts if part.first is not None), default=None),
        last=max((part.last for part in parts if part.last is not None), default=None),
    )
