"""``lessonbook setup``: connects the coding agents on this machine, checks that it works, and takes it back."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.hosts.cli.output import Out, amount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.actions.setup import Plan
    from lessonbook.actions.setup_entries import Wanted, Where
    from lessonbook.hosts.agents.agent import Agent

EXAMPLES = """
  lessonbook setup                     every agent found here: shows what it would change, then asks
  lessonbook setup claude codex        these two, also where they were never started yet
  lessonbook setup --dry-run           only show it
  lessonbook setup --yes --autolearn   do it, and offer agents the learn tool
  lessonbook setup --check             try everything for real and say what works
  lessonbook setup --remove            take all of it back
  lessonbook setup --plugin claude DIR build a plugin folder instead"""

NO_SERVER = (
    "The hooks work as they are; the tools (learn, recall, …) need the extra `mcp`: install `lessonbook[mcp]`, as you "
    "installed lessonbook."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``setup``."""
    agents = parser.add_argument("agents", nargs="*", metavar="AGENT", help="which agents (default: all found here)")
    agents.completer = _names  # type: ignore[attr-defined]  # where argcomplete looks for it
    parser.add_argument("--yes", "-y", action="store_true", help="write without asking")
    parser.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")
    parser.add_argument("--autolearn", action="store_true", help="turn the learn tool on, and a memory where none is")
    parser.add_argument("--remove", action="store_true", help="take back what setup wrote")
    parser.add_argument("--check", action="store_true", help="try out what is set up and say what works")
    parser.add_argument(
        "--plugin", nargs=2, metavar=("AGENT", "DIR"), help="build a plugin folder for claude or codex in DIR"
    )


def run(args: argparse.Namespace, out: Out) -> int:
    """Set up, check, remove, or build a plugin."""
    if sum(map(bool, (args.remove, args.check, args.plugin, args.autolearn))) > 1:
        raise InputError("Say one of --check, --remove, --plugin and --autolearn.")
    if args.plugin:
        return _plugin(args, out)
    return _check(args, out) if args.check else _change(args, out)


def _names(**_: object) -> list[str]:
    """The agents a shell completes."""
    from lessonbook.hosts.agents.registry import AGENTS

    return list(AGENTS)


def surroundings() -> tuple[Where, Wanted, Path]:
    """Return where agents keep their files, what is to be set up, and our state folder."""
    from lessonbook.actions.setup_entries import Wanted, Where
    from lessonbook.hosts.cli.here import setup
    from lessonbook.system.settings import environment, moving
    from lessonbook.system.surroundings import found, own_command

    where, settings = setup()
    env = environment()
    wanted = Wanted(own_command(), prompt=settings.recall_on_prompt, env=moving(env))
    return Where(where.home, env, found), wanted, where.state


def _change(args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import setup

    where, wanted, state = surroundings()
    agents = _chosen(args, where, state)
    if args.remove:
        plans = [setup.removal(agent, where, wanted, state) for agent in agents]
    else:
        plans = [setup.plan(agent, where, wanted, state) for agent in agents]
    for made in plans if not out.json else ():
        _tell(made, out)
    writes = any(made.changes for made in plans)
    settings = args.autolearn and not args.dry_run
    if (writes or settings) and not args.dry_run:
        _ask(args, out, writes)
        failed = _carry_out(plans, state, out)
    else:
        failed = []
    turned_on = _turn_on(out) if settings else []
    published = _publish(args, out)
    for made in plans if args.remove and not args.dry_run else ():
        setup.tidy(made)
    problems = [*failed, *(problem for made in plans for problem in made.problems)]
    document = {
        "ok": not problems,
        "written": bool(writes and not args.dry_run),
        "agents": [_document(made, agent) for made, agent in zip(plans, agents, strict=True)],
        "settings": turned_on,
        "skills": published,
        "problems": problems,
    }
    out.result(document, _summary(plans, agents, args, writes, problems))
    if not args.remove and not out.json and find_spec("mcp") is None:
        out.note(f"lessonbook: {NO_SERVER}")
    return 1 if problems else 0


def _chosen(args: argparse.Namespace, where: Where, state: Path) -> list[Agent]:
    """The agents that were named, or those that are here; for a removal, those that were set up."""
    from lessonbook.actions import setup, setup_receipts
    from lessonbook.hosts.agents.registry import AGENTS, agents

    if args.agents:
        return agents(args.agents)
    found = [agent.name for agent in setup.present(agents(), where)]
    if args.remove:
        found = [name for name in AGENTS if name in setup_receipts.known(state)] or found
    if not found:
        raise InputError(f"No coding agent was found here; name one of {', '.join(AGENTS)} to set it up all the same.")
    return agents(found)


def _tell(made: Plan, out: Out) -> None:
    """Show one agent's plan: a diff of each file, what is left alone, and what has to be done by hand."""
    from lessonbook.actions.setup_diff import shown

    lines = [f"{made.title}:"]
    for change in made.changes:
        lines += shown(change)
    lines += [f"  note: {note}" for note in made.notes]
    lines += [f"  cannot: {problem}" for problem in made.problems]
    lines += [f"  by hand, {hint}" for hint in made.by_hand]
    if len(lines) == 1:
        lines.append("  nothing to change")
    out.text("\n".join(lines))


def _ask(args: argparse.Namespace, out: Out, writes: bool) -> None:
    """Raise ``InputError`` unless the person agrees; a program has to say --yes."""
    import sys

    if args.yes or not writes:
        return
    if out.json or sys.stdin is None or not sys.stdin.isatty():
        raise InputError("Nothing was written: say --yes to write it, or --dry-run only to look.")
    out.note("Write these changes? Files are backed up, and `lessonbook setup --remove` takes it all back. [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("Nothing was written.")


def _carry_out(plans: Sequence[Plan], state: Path, out: Out) -> list[str]:
    """Do each agent's plan; one that fails stops no other."""
    from lessonbook.actions import setup

    failed = []
    for made in plans:
        try:
            setup.carry_out(made, state)
        except LessonbookError as error:
            failed.append(str(error))
            if not out.json:
                out.note(f"lessonbook: {error}")
    return failed


def _turn_on(out: Out) -> list[str]:
    """Turn the learn tool on, and a memory where none is."""
    from lessonbook.actions import config
    from lessonbook.system.settings import places

    where, done = places(), []
    if config.get(where, "memory.backend").value == "off":
        config.change(where, "memory.backend", "mnemopi")
        done.append("memory.backend = mnemopi")
    if not config.get(where, "autolearn.enabled").value:
        config.change(where, "autolearn.enabled", "true")
        done.append("autolearn.enabled = true")
    if not out.json:
        for line in done:
            out.note(f"lessonbook: {line}")
        if not config.get(where, "autolearn.review").value:
            out.note(
                "lessonbook: skills that agents write take effect at once; to review them first: "
                "lessonbook config set autolearn.review true"
            )
    return done


def _publish(args: argparse.Namespace, out: Out) -> dict[str, Any] | None:
    """Publish skills to what is set up now, or take them out of what is not any more."""
    if args.dry_run:
        return None
    from lessonbook.hosts.cli.skills_more import published

    return published(out)


def _summary(
    plans: Sequence[Plan], agents: Sequence[Agent], args: argparse.Namespace, writes: bool, problems: Sequence[str]
) -> str:
    count = sum(len(made.changes) for made in plans)
    if args.dry_run:
        return f"\n{amount(count, 'file')} would change; nothing was written"
    if args.remove:
        return "\ntaken back" if writes else "\nnothing of ours is there"
    todo = [f"\n{agent.title}: {agent.todo}" for agent, made in zip(agents, plans, strict=True) if agent.todo]
    said = f"{amount(count, 'file')} written" if writes else "all is set up already"
    return (
        f"\n{said}; `lessonbook setup --check` tries it out{''.join(todo)}" if not problems else "\nnot all is set up"
    )


def _document(made: Plan, agent: Agent) -> dict[str, Any]:
    from lessonbook.actions.setup_diff import shown

    files = [{"path": str(change.path), "diff": "\n".join(shown(change))} for change in made.changes]
    return {
        "agent": made.agent,
        "title": made.title,
        "files": files,
        "notes": list(made.notes),
        "problems": list(made.problems),
        "by_hand": list(made.by_hand),
        "todo": agent.todo,
        "headless": list(agent.headless),
    }


def _check(args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.setup_check import check

    where, wanted, state = surroundings()
    agents = _chosen(args, where, state)
    rows = [row for agent in agents for row in check(agent, where, wanted, state)]
    wrong = [row for row in rows if not row.ok]
    lines = [f"{'ok   ' if row.ok else 'WRONG'}  {row.title}, {row.what}: {row.found}" for row in rows]
    lines.append(f"\n{len(wrong)} of {len(rows)} do not work" if wrong else "\neverything works")
    document = {"ok": not wrong, "checks": [row.as_dict() for row in rows]}
    out.result(document, "\n".join(lines))
    return 1 if wrong else 0


def _plugin(args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.publishing import carried
    from lessonbook.actions.setup_plugin import build
    from lessonbook.hosts.agents.registry import agent
    from lessonbook.hosts.cli.here import folder, setup

    name, place = args.plugin
    if args.agents:
        raise InputError("--plugin takes one agent and one folder, and no other agents.")
    where, wanted, _ = surroundings()
    target = folder(Path(place))
    written = build(agent(name), where, wanted, target, carried(*setup(), agent(name).budget))
    document = {"ok": True, "agent": name, "folder": str(target), "files": [str(path) for path in written]}
    out.result(document, "\n".join(f"wrote {path}" for path in written))
    return 0
