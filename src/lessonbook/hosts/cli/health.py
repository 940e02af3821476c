"""``lessonbook health``: repeated defects of tools, drafts of issues about them, whether fixes hold, and growth."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from time import time

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli import which
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.core.defects import Decision, Repeated
    from lessonbook.core.growth import Bounds
    from lessonbook.system.settings import Places

EXAMPLES = """
  lessonbook health                                        what came again and again, and how histories grow
  lessonbook health drafts                                 where the draft of an issue lies for each
  lessonbook health show 1a2b3c4d                          read one
  lessonbook health dismiss 1a2b3c4d --note "by design"    never tell of it again
  lessonbook health fixed 1a2b3c4d --check "tool --test"   it is fixed; every night runs that to see
  lessonbook health fixed 1a2b3c4d --version 2.1.5         it is fixed from this version of the agent on
  lessonbook health check                                  run the checks now
  lessonbook health undo 1a2b3c4d                          take back the last decision about it"""

ACTIONS = ("list", "drafts", "show", "dismiss", "fixed", "check", "undo")
_NEEDS_ID = ("show", "dismiss", "fixed", "undo")
_OPTIONS = {
    "paths": ("from", ("list",)),
    "all": ("all", ("list", "drafts")),
    "note": ("note", ("dismiss", "fixed")),
    "check": ("check", ("fixed",)),
    "since": ("since", ("fixed",)),
    "version": ("version", ("fixed",)),
}
"""Each option, as it is typed, and the actions that take it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``health``."""
    parser.add_argument("do", nargs="?", choices=ACTIONS, default="list", help="what to do (default: list)")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="which defect: its id, or its beginning")
    which.add_from(parser, "list: read these files or folders and keep nothing, not the agents' own")
    parser.add_argument("--all", action="store_true", help="list, drafts: also what is fixed or dismissed")
    parser.add_argument("--note", metavar="TEXT", help="dismiss, fixed: why, or by what")
    parser.add_argument("--check", metavar="CMD", help="fixed: a command that ends with 0 while it holds")
    parser.add_argument("--since", metavar="WHEN", help="fixed: from this day on, such as 2026-03-01, or 3d ago")
    parser.add_argument("--version", metavar="V", help="fixed: from this version of the agent on")


def run(args: argparse.Namespace, out: Out) -> int:
    """Do what was asked and print it."""
    from lessonbook.hosts.cli.here import setup
    from lessonbook.system.night_settings import load_health

    _check(args)
    where = setup()[0]
    bounds = load_health(where)
    return {"list": _list, "drafts": _drafts, "show": _show, "check": _run_checks}.get(args.do, _decide)(
        args, out, where, bounds
    )


def _check(args: argparse.Namespace) -> None:
    """Refuse what the action does not take, before anything is opened."""
    for name, (option, actions) in _OPTIONS.items():
        if getattr(args, name) not in (None, False) and args.do not in actions:
            raise InputError(f"--{option} belongs to `lessonbook health {actions[-1]}`.")
    if args.do in _NEEDS_ID and not args.id:
        raise InputError(f"Say which defect: `lessonbook health {args.do} ID`; `lessonbook health` lists them.")
    if args.id and args.do in ("list", "drafts"):
        raise InputError(f"`lessonbook health {args.do}` takes no id; `lessonbook health show ID` shows one.")


def _list(args: argparse.Namespace, out: Out, where: Places, bounds: Bounds) -> int:
    from lessonbook.actions import health_told
    from lessonbook.actions.health import look
    from lessonbook.system.settings import environment

    with out.progress("reading sessions") as step:
        found = look(which.paths(args), where, bounds, env=environment(), now=time(), progress=step)
    which.unread(found.unread if args.paths else {}, out)
    out.result({"ok": True, **health_told.document(found)}, "\n".join(health_told.lines(found, args.all)))
    return 0


def _drafts(args: argparse.Namespace, out: Out, where: Places, bounds: Bounds) -> int:
    from lessonbook.actions import health_drafts
    from lessonbook.actions.health import known
    from lessonbook.actions.health_folder import HealthFolder

    folder = HealthFolder(where.state)
    rows = [(one, health_drafts.there(folder, one)) for one in known(where, bounds, time())]
    shown = [(one, path, health_drafts.edited(folder, one)) for one, path in rows if path is not None]
    document = {
        "ok": True,
        "drafts": [
            {"id": one.id, "path": path, "edited": edited, "title": one.told.title} for one, path, edited in shown
        ],
    }
    table = [[one.id, "edited" if edited else "", one.told.title, str(path)] for one, path, edited in shown]
    out.table(
        document, ("id", "", "what", "draft"), table, "no draft was written; `lessonbook health` looks for defects"
    )
    return 0


def _show(args: argparse.Namespace, out: Out, where: Places, bounds: Bounds) -> int:
    from lessonbook.actions import health_drafts
    from lessonbook.actions.health_decide import found
    from lessonbook.actions.health_folder import HealthFolder
    from lessonbook.actions.health_told import defects_document

    one = found(where, bounds, time(), args.id)
    folder = HealthFolder(where.state)
    text = health_drafts.shown(folder, one)
    document = {"ok": True, **defects_document([one])[0], "draft": text, "path": health_drafts.there(folder, one)}
    out.lines(document, text.splitlines())
    return 0


def _decide(args: argparse.Namespace, out: Out, where: Places, bounds: Bounds) -> int:
    from lessonbook.actions import health_decide

    now = time()
    if args.do == "undo":
        decision, one = health_decide.undo(where, bounds, now, args.id)
        said = f"taken back: {decision.kind}"
    else:
        decision = _decision(args, now)
        one = health_decide.decide(where, bounds, now, args.id, decision)
        said = f"noted as {decision.kind}"
    return _told(out, [one], said)


def _decision(args: argparse.Namespace, now: float) -> Decision:
    from lessonbook.actions.health_decide import words
    from lessonbook.core.defects import Decision, DecisionKind, parts

    if args.do == "dismiss":
        return Decision(DecisionKind.DISMISSED, now, args.note or "")
    version = args.version or ""
    if args.version is not None and not (parts(version) and re.fullmatch(r"[\w.+-]{1,60}", version)):
        raise InputError("--version is a version of the agent, such as 2.1.5.")
    check = () if args.check is None else words(args.check)
    since = None if args.since is None else which.since(args.since, now)
    return Decision(DecisionKind.FIXED, now, args.note or "", since, version, check, str(Path.cwd()) if check else "")


def _run_checks(args: argparse.Namespace, out: Out, where: Places, bounds: Bounds) -> int:
    from lessonbook.actions.health_decide import check
    from lessonbook.system.settings import environment

    told = check(where, bounds, time(), environment(), args.id)
    failed = any(one.checked and one.checked.why for one in told)
    return _told(out, told, "" if told else "no fix has a check", ok=not failed)


def _told(out: Out, defects: list[Repeated] | tuple[Repeated, ...], said: str, *, ok: bool = True) -> int:
    from lessonbook.actions.health_told import defect_lines, defects_document

    lines = [line for one in defects for line in defect_lines(one)]
    out.result({"ok": ok, "defects": defects_document(defects)}, "\n".join([*([said] if said else []), *lines]))
    return 0 if ok else 1
