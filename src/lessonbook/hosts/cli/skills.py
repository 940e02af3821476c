"""``lessonbook skills``: every skill agents find here, and the past of the managed ones."""

from __future__ import annotations

import argparse
from time import localtime, strftime, time

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook skills                          every skill here: name, origin, what it is for; and what is wrong
  lessonbook skills show release-check       its SKILL.md
  lessonbook skills history release-check    the kept versions of a managed skill
  lessonbook skills undo release-check       bring back the version before; also a deleted one
  lessonbook skills delete release-check
  lessonbook skills publish                  put managed and accepted skills where agents look for them
  lessonbook skills lint ~/src/app/skills    what is wrong with the skills of a folder"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``skills``."""
    actions = ["list", "show", "history", "undo", "delete", "publish", "lint"]
    parser.add_argument("do", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    parser.add_argument("name", nargs="?", metavar="NAME|DIR", help="the skill, or the folder to lint")
    parser.add_argument("--to", type=int, metavar="N", help="for show and undo: a version that history lists")


def run(args: argparse.Namespace, out: Out) -> int:
    """List, show, or change one."""
    from lessonbook.actions import skills
    from lessonbook.hosts.cli.here import setup

    if args.do == "list":
        return _list(out)
    if args.do in ("publish", "lint"):
        from lessonbook.hosts.cli import skills_more

        return skills_more.publish(out) if args.do == "publish" else skills_more.lint(args.name, out)
    if not args.name:
        raise InputError(f"Say which one: `lessonbook skills {args.do} NAME`; `lessonbook skills` lists them.")
    if args.do == "show":
        return _show(args.name, args.to, out)
    _, settings = setup()
    if args.do == "history":
        kept = skills.skill_history(settings, args.name)
        if not kept:
            raise InputError(
                f"No version of {args.name!r} was kept: only managed skills, which agents write, have a past."
            )
        document = {"ok": True, "name": args.name, "versions": [_version(v) for v in kept]}
        rows = [[str(v.number), strftime("%Y-%m-%d %H:%M", localtime(v.at)), f"{v.size:,} bytes"] for v in kept]
        out.table(document, ["version", "kept", "size"], rows, "")
    elif args.do == "undo":
        path = skills.undo_skill(settings, args.name, args.to)
        _republish(out)
        out.result({"ok": True, "name": args.name, "path": path}, f"brought back {args.name}: {path}")
    else:
        skills.delete_skill(settings, args.name)
        _republish(out)
        said = f"deleted {args.name}; `lessonbook skills undo {args.name}` brings it back"
        out.result({"ok": True, "name": args.name}, said)
    return 0


def _republish(out: Out) -> None:
    """Bring what is published in step, where anything is."""
    from lessonbook.hosts.cli import skills_more

    skills_more.republish(out)


def _list(out: Out) -> int:
    from lessonbook.actions.catalogue import all_skills
    from lessonbook.hosts.cli.here import folder, setup

    where, settings = setup()
    found = all_skills(where, settings, folder(None))
    document = {
        "ok": True,
        "skills": [
            {
                "name": skill.name,
                "description": skill.description,
                "origin": skill.origin,
                "agents": list(skill.agents),
                "path": str(skill.path),
                "shadowed_by": str(skill.shadowed_by) if skill.shadowed_by else None,
            }
            for skill in found.skills
        ],
        "problems": [{"name": p.name, "path": str(p.path), "reason": p.reason} for p in found.problems],
    }
    rows = [[s.name, s.origin, ", ".join(s.agents), s.description] for s in found.skills if s.shadowed_by is None]
    out.table(document, ["skill", "origin", "read by", "what it is for"], rows, "no skill was found here")
    for problem in found.problems if not out.json else ():
        out.note(f"{problem.path} {problem.reason}")
    return 0


def _show(name: str, to: int | None, out: Out) -> int:
    from lessonbook.actions.catalogue import skill_text
    from lessonbook.hosts.cli.here import folder, setup

    where, settings = setup()
    text = skill_text(where, settings, folder(None), name, to, int(time()))
    out.result({"ok": True, "name": name, "text": text}, text.rstrip("\n"))
    return 0


def _version(version: object) -> dict[str, object]:
    return {key: getattr(version, key) for key in ("number", "at", "size", "restores")}
