"""``lessonbook skills publish`` and ``lint``: skills where agents look for them, and what is wrong with a folder's."""

from __future__ import annotations

from pathlib import Path

from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.hosts.cli.output import Out, amount

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.skills.publish import Report


def publish(out: Out) -> int:
    """Bring the skill folders of every agent that is set up in step, and say what was done."""
    done = _publish()
    if done is None:
        raise InputError("No agent is set up yet: `lessonbook setup` connects them, and publishes skills to them.")
    lines = [f"published {path}" for path in done.made] + [f"took out {path}" for path in done.removed]
    for note in done.notes if not out.json else ():
        out.note(f"lessonbook: {note}")
    out.result({"ok": True, **_document(done)}, "\n".join(lines) or "all is published already")
    return 0


def published(out: Out) -> dict[str, Any] | None:
    """Publish after set-up, and return what was done; a failure is a note, as the set-up itself has happened."""
    try:
        done = _publish()
    except LessonbookError as error:
        out.note(f"lessonbook: skills were not published: {error}")
        return None
    for note in done.notes if done and not out.json else ():
        out.note(f"lessonbook: {note}")
    return _document(done) if done else None


def republish(out: Out) -> None:
    """Bring what is published in step after a skill changed, where anything is published."""
    from lessonbook.hosts.cli.here import setup
    from lessonbook.skills.publish_record import Record

    where, _ = setup()
    if Record(where.state).seal is not None:
        published(out)


def lint(place: str | None, out: Out) -> int:
    """Print every fault of the skills in a folder, or of all that agents find here; exit code 1 where there is one."""
    from lessonbook.hosts.cli.here import folder
    from lessonbook.skills.lint import lint as look

    roots = [folder(Path(place))] if place else _roots()
    if place and not roots[0].exists():
        raise InputError(f"{roots[0]} does not exist.")
    looked = [look(root) for root in roots]
    count, faults = sum(number for number, _ in looked), [fault for _, found in looked for fault in found]
    wrong = [fault for fault in faults if fault.level == "fault"]
    rows = [{"path": str(f.path), "name": f.name, "level": f.level, "text": f.text} for f in faults]
    lines = [f"{f.path} {f.text}" if f.level == "fault" else f"{f.path} (note) {f.text}" for f in faults]
    lines.append(f"{amount(count, 'skill')}, {amount(len(wrong), 'fault')}")
    out.result({"ok": not wrong, "skills": count, "faults": rows}, "\n".join(lines))
    return 1 if wrong else 0


def _roots() -> list[Path]:
    """Every folder of skills that counts here."""
    from lessonbook.hosts.cli.here import folder, setup
    from lessonbook.skills.roots import authored_roots, managed_root

    where, settings = setup()
    roots = [root.path for root in authored_roots(where.home, folder(None))] + [managed_root(settings.agent_dir)]
    return [root for root in roots if root.is_dir()]


def _publish() -> Report | None:
    """Publish to the agents that are set up; ``None`` where none is and nothing was published before."""
    from lessonbook.actions.publishing import publish_all
    from lessonbook.actions.setup_entries import Where
    from lessonbook.hosts.agents.readers import readers
    from lessonbook.hosts.cli.here import setup
    from lessonbook.skills.publish_record import Record
    from lessonbook.system.settings import environment
    from lessonbook.system.surroundings import found

    where, settings = setup()
    known = readers(Where(where.home, environment(), found), where.state)
    if not known and Record(where.state).seal is None:
        return None
    return publish_all(where, settings, known)


def _document(done: Report) -> dict[str, Any]:
    return {"published": list(done.made), "removed": list(done.removed), "notes": list(done.notes)}
