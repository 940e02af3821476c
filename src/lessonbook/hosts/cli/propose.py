"""``lessonbook propose``: finds lessons in past sessions and offers them for review."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from time import time
from typing import TYPE_CHECKING, Any

from lessonbook.hosts.cli import which
from lessonbook.hosts.cli.output import Out, amount

REFUSED = "refused: "

if TYPE_CHECKING:
    from lessonbook.actions.propose import LeftOut, Offered, Report
    from lessonbook.actions.sessions import AgentCounts
    from lessonbook.system.settings import Settings

EXAMPLES = """
  lessonbook propose                            the sessions of every agent on this machine
  lessonbook propose --from ~/old-sessions      these files or folders instead
  lessonbook propose --proposer procedures      only sequences of commands, as skills
  lessonbook propose --dry-run                  show what would be offered and write nothing"""

_SHOWN = 5
_LINES = 8
_MEMORIES = 500


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``propose``."""
    which.add_from(parser)
    parser.add_argument(
        "--proposer",
        dest="proposers",
        action="append",
        metavar="NAME",
        help="find lessons this way, not as configured: repeats, procedures, recorded, edited; may come again",
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing; only show what would be offered")


def run(args: argparse.Namespace, out: Out) -> int:
    """Read, offer, and say what was read, found and offered."""
    from secrets import token_hex

    from lessonbook.actions.propose import asks, propose
    from lessonbook.hosts.cli.here import editor, setup
    from lessonbook.system.settings import environment

    where, settings = setup()
    with out.progress("reading sessions") as step:
        report = propose(
            which.paths(args),
            where,
            settings,
            now=int(time()),
            random_hex=lambda: token_hex(3),
            env=environment(),
            dry_run=args.dry_run,
            remembered=_remembered(settings, out),
            progress=step,
            proposers=args.proposers or (),
            chat=editor(where, settings, "propose") if asks(settings, args.proposers or ()) else None,
        )
    for failure in report.failed if not out.json else ():
        out.note(f"lessonbook: {failure}")
    out.result(_document(report), "\n".join(_lines(report)))
    return report.failed[0].exit_code if report.failed else 0


def _document(report: Report) -> dict[str, Any]:
    return {
        "ok": not report.failed,
        "note": report.note,
        "dry_run": report.dry_run,
        "agents": {agent: _fields(counts) for agent, counts in report.agents.items()},
        "unread": dict(report.unread),
        "findings": dict(report.findings),
        "calls": report.calls,
        "rates": report.rates,
        "offered": [_fields(one) for one in report.offered],
        "left_out": [_fields(one) for one in report.left_out],
        "failed": [str(error) for error in report.failed],
    }


def _fields(value: AgentCounts | Offered | LeftOut) -> dict[str, Any]:
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: dict(part) if isinstance(part, Mapping) else part for name, part in found.items()}


def _remembered(settings: Settings, out: Out) -> Sequence[str]:
    """Return what this folder's memory holds, so that it is not proposed as well; nothing where it cannot be read."""
    from lessonbook.core.errors import LessonbookError
    from lessonbook.hosts.cli.remembering import opened

    if settings.memory_backend == "off":
        return ()
    try:
        with opened(None) as memory:
            return [lesson.text for lesson in memory.recent(_MEMORIES)]
    except LessonbookError as error:
        out.note(f"lessonbook: memory was left out: {error}")
        return ()


def _lines(report: Report) -> Iterator[str]:
    if report.note:
        yield f"{report.note}; `lessonbook learned on` turns it on."
        return
    for agent, counts in sorted(report.agents.items()):
        yield _read(agent, counts)
    if not report.agents:
        yield "no session was found; `--from PATH` reads them from anywhere"
    for path, why in list(report.unread.items())[:_SHOWN]:
        yield f"not read: {path}: {why}"
    if len(report.unread) > _SHOWN:
        yield f"not read: {len(report.unread) - _SHOWN:,} more files (--json names them)"
    if report.findings:
        yield f"findings: {_counted(report.findings)} in {report.calls:,} calls"
    yield ""
    yield from _offered(report)
    if report.left_out:
        reasons = Counter(one.reason for one in report.left_out).most_common()
        yield f"left out: {', '.join(f'{count:,} ({reason})' for reason, count in reasons)}; --json names each"
        yield from (f"  like {one.twin}" for one in report.left_out if ", rejected: " in one.twin)
        yield from (f"  refused edit of {one.title}: {one.text}" for one in report.left_out if _refused(one))


def _refused(one: LeftOut) -> bool:
    return one.reason.startswith(REFUSED)


def _read(agent: str, counts: AgentCounts) -> str:
    if not counts.sessions:
        return f"{agent}: {amount(counts.files, 'file')}, no session read"
    amounts = ((counts.sessions, "session"), (counts.turns, "turn"), (counts.calls, "call"))
    text = f"{agent}: {amount(counts.files, 'file')}, {', '.join(amount(*one) for one in amounts)}"
    text += f" ({counts.failed:,} failed, {counts.denied:,} refused)"
    skipped = sum(counts.skipped.values())
    return f"{text}; {amount(skipped, 'line')} skipped ({_counted(counts.skipped)})" if skipped else text


def _offered(report: Report) -> Iterator[str]:
    if not report.offered:
        yield "nothing new to offer"
        return
    yield f"{len(report.offered)} {'would be offered' if report.dry_run else 'offered for review'}:"
    for one in report.offered:
        yield ""
        yield f"  {one.id or '(dry run)'}  {_book(one)}  {one.title}"
        yield from (f"      {line}" for line in _body(one.text)[:_LINES])
        yield f"      why: {one.why}"
    yield ""
    if not report.dry_run:
        yield f"see one: lessonbook learned diff {report.offered[0].id}"


def _body(text: str) -> list[str]:
    """The lines of a rule, or of a skill without its frontmatter and blank lines."""
    lines = text.splitlines()
    if lines[:1] == ["---"] and "---" in lines[1:]:
        lines = [line for line in lines[lines.index("---", 1) + 1 :] if line.strip()]
    return lines


def _book(one: Offered) -> str:
    return f"project {one.project}" if one.project else "global"


def _counted(counts: Mapping[str, int]) -> str:
    found = Counter(dict(counts))
    return ", ".join(f"{name} {count:,}" for name, count in found.most_common())
