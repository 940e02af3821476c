"""``lessonbook findings``: single mistakes of past sessions, by kind and by session."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from lessonbook.hosts.cli import which
from lessonbook.hosts.cli.output import Out, amount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.findings import Account, Seen
    from lessonbook.core.finding import Finding

EXAMPLES = """
  lessonbook findings                             every kind, as a rate per 100 calls
  lessonbook findings --since 30d --agent claude  the same of one agent, of the last 30 days
  lessonbook findings --project shop --each       and each single mistake
  lessonbook findings --kind bypass --each        of one kind"""

_SESSIONS = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``findings``."""
    which.configure(parser)
    parser.add_argument("--kind", metavar="KIND", help="only this kind of finding, such as repeat_failure")
    parser.add_argument("--each", action="store_true", help="list each finding, with the session and turn it is in")


def run(args: argparse.Namespace, out: Out) -> int:
    """Read sessions and tell what was found in them."""
    from lessonbook.core.errors import InputError
    from lessonbook.core.finding import FindingKind

    kinds = [kind.value for kind in FindingKind]
    if args.kind and args.kind not in kinds:
        raise InputError(f"There is no kind of finding {args.kind!r}; there are {', '.join(kinds)}.")
    found = which.read(args, out)
    if args.kind:
        for seen in found.sessions:
            seen.findings = [finding for finding in seen.findings if finding.kind == args.kind]
    which.said(found, out)
    out.result(_document(found), "\n".join(_lines(found, args.each)))
    return 0


def _document(found: Account) -> dict[str, Any]:
    from lessonbook.core.rates import interval, per_hundred

    kinds = {
        kind: {
            "count": count,
            "sessions": found.in_sessions(kind),
            "per_100_calls": per_hundred(count, found.calls),
            "interval": interval(count, found.calls),
        }
        for kind, count in found.kinds.most_common()
    }
    return {
        "ok": True,
        "sessions": [_session(seen) for seen in found.sessions],
        "calls": found.calls,
        "kinds": kinds,
        "unread": dict(found.reading.unread),
    }


def _session(seen: Seen) -> dict[str, Any]:
    fields = ("agent", "id", "path", "project", "model", "started", "calls", "failed", "refused")
    return {name: getattr(seen, name) for name in fields} | {"findings": [_finding(one) for one in seen.findings]}


def _finding(finding: Finding) -> dict[str, Any]:
    from lessonbook.proposers.wording import example

    return {
        "kind": str(finding.kind),
        "turn": finding.turn,
        "call": finding.call_id,
        "tool": finding.tool,
        "what": finding.what,
        "detail": example(finding.detail),
    }


def _lines(found: Account, each: bool) -> Iterator[str]:
    from lessonbook.core.rates import per_hundred

    if not found.sessions:
        yield "no session was found; `--from PATH` reads them from anywhere"
        return
    total = found.kinds.total()
    yield f"{amount(total, 'finding')} in {amount(found.calls, 'call')} of {amount(len(found.sessions), 'session')}"
    for kind, count in found.kinds.most_common():
        share = per_hundred(count, found.calls) or 0.0
        yield f"  {kind:<18} {count:>6,}  {share:>6.2f} per 100 calls  in {amount(found.in_sessions(kind), 'session')}"
    worst = sorted((seen for seen in found.sessions if seen.findings), key=lambda seen: -len(seen.findings))
    if each:
        yield from (line for seen in found.sessions if seen.findings for line in _each(seen))
    elif worst:
        yield ""
        yield from map(_row, worst[:_SESSIONS])
    if not each and len(worst) > _SESSIONS:
        yield f"  … and {amount(len(worst) - _SESSIONS, 'session')} more; --each lists every finding"


def _row(seen: Seen) -> str:
    name = f"{seen.project or '(no project)'} {seen.agent}"
    return f"  {len(seen.findings):>4} in {amount(seen.calls, 'call')}  {name}  {seen.id}"


def _each(seen: Seen) -> Iterator[str]:
    yield ""
    yield f"{_row(seen).strip()}  {seen.path}"
    for finding in seen.findings:
        told = _finding(finding)
        detail = f": {told['detail']}" if told["detail"] else ""
        yield f"  turn {finding.turn}  {finding.kind}  {finding.tool or ''}  {finding.what}{detail}"
