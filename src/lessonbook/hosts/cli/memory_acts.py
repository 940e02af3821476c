"""What each action of ``lessonbook memory`` does: one call of an action, and its answer printed.

Each is given a memory that offers it (``memory.offers``): a ``core.ports.Bank``, and in ``care`` what
``core.care_ports`` says, as far as the action needs it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lessonbook.core.errors import InputError, ModelError
from lessonbook.hosts.cli.here import setup, typed
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

    from lessonbook.actions.memory import Answer

    Act = Callable[[Any, argparse.Namespace, Out], int]

_TEXTS = ("text", "title", "context", "key", "cue", "component", "evidence")


def _list(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.memory import HEAD, listed
    from lessonbook.core.care import Wanted

    if args.tag is not None and len(args.tag) > 1:
        raise InputError("`lessonbook memory list` takes one --tag.")
    about, type_, source, tag = map(_typed, (args.about, args.type, args.source, args.tag[0] if args.tag else None))
    wanted = Wanted(args.forgotten, about, type_, source, tag)
    document, rows = listed(memory.care, wanted, 20 if args.limit is None else args.limit, args.after)
    narrowed = wanted != Wanted() or args.after
    out.table(document, HEAD, rows, "")
    if not rows and not out.json:
        out.note("No lesson is like that." if narrowed else "Nothing is remembered for this project yet.")
    elif document["after"] and not out.json:
        out.note(f"There are more: --after {document['after']} goes on.")
    return 0


def _show(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.memory import shown

    return _answer(shown(memory.care, args.names[0]), out)


def _history(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.memory import history

    return _answer(history(memory, args.names[0]), out)


def _edit(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import memory_changes, memory_edit

    changes: dict[str, object] = {
        name: typed(getattr(args, name)) for name in _TEXTS if getattr(args, name) is not None
    }
    for option, field in (("type", "memory_type"), *((name, name) for name in ("veracity", "scope"))):
        if getattr(args, option) is not None:
            changes[field] = typed(getattr(args, option))
    changes |= {name: getattr(args, name) for name in ("confidence", "importance") if getattr(args, name) is not None}
    if args.tag is not None:
        changes["tags"] = tuple(map(typed, args.tag))
    if args.valid_until is not None:
        changes["valid_until"] = memory_edit.time_of(typed(args.valid_until))
    for named in args.clear or ():
        changes |= memory_edit.cleared(typed(named), changes)
    if changes:
        return _answer(memory_changes.edit(memory, args.names[0], changes), out)
    from lessonbook.system.editor import edited

    return _answer(memory_edit.edit_in(edited, memory, args.names[0]), out)


def _change(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import memory_changes as changes

    id = args.names[0]
    acts: dict[str, Callable[[], Answer]] = {
        "forget": lambda: changes.forget(memory, id),
        "invalidate": lambda: changes.invalidate(memory, id, args.by),
        "pin": lambda: changes.pin(memory, id),
        "unpin": lambda: changes.pin(memory, id, pinned=False),
        "undo": lambda: changes.undo(memory, id),
    }
    return _answer(acts[args.do](), out)


def _erase(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import memory_changes
    from lessonbook.actions.memory import excerpt

    id = args.names[0]
    text = excerpt(memory.get(id).lesson.text)
    if not args.yes:
        if not out.on_terminal or sys.stdin is None or not sys.stdin.isatty():
            raise InputError(
                f"Erasing is final, nothing brings it back: say so with `lessonbook memory erase {id} --yes`."
            )
        out.note(f"{id}  {text}\nErasing is final, nothing brings it back. Type yes to erase it:")
        if sys.stdin.readline().strip().lower() not in ("yes", "y"):
            out.note("Nothing was erased.")
            return 1
    return _answer(memory_changes.erase(memory, id), out)


def _pairs(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import memory_pairs as pairs

    care, names = memory.care, args.names
    acts: dict[str, Callable[[], Answer]] = {
        "contradictions": lambda: pairs.contradictions(care),
        "merges": lambda: pairs.merges(care, memory),
        "dismiss": lambda: pairs.dismiss(care, *names),
        "merge": lambda: pairs.merge(care, *names),
        "apart": lambda: pairs.apart(care, *names),
    }
    return _answer(acts[args.do](), out)


def _care(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import memory_care as care

    acts: dict[str, Callable[[], Answer]] = {
        "stats": lambda: care.stats(memory.care),
        "diagnose": lambda: care.diagnose(memory.care, deep=args.deep),
        "vacuum": lambda: care.vacuum(memory.care),
        "backup": lambda: care.back_up(memory.care, _path(args.names[0])),
    }
    return _answer(acts[args.do](), out)


def _sleep(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.memory_care import sleep

    where, settings = setup()
    with out.progress("sleeping") as step:
        asking = {"summarise": args.summarise, "extract": args.extract}
        told, text = sleep(memory.care, where, settings, **asking, step=lambda what: step(0, None, what))
    out.result(told, text)
    return 0 if told["ok"] else ModelError.exit_code


def _export(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import memory_files

    if args.names:
        target = _path(args.names[0])
        return _answer(memory_files.export(memory.care, target, forgotten=args.all, every_bank=args.everywhere), out)
    lines, document = memory_files.exported(memory.care, forgotten=args.all, every_bank=args.everywhere)
    out.lines(document, lines)
    return 0


def _import(memory: Any, args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.memory_files import Into, import_from
    from lessonbook.core.lesson import Scope
    from lessonbook.system.projects import identify

    into = Into(Scope(args.scope) if args.scope else None, _typed(args.bank), args.derived)
    paths = list(map(_path, args.names))
    return _answer(import_from(memory.care, paths, into, lambda folder: identify(folder).slug), out)


def _answer(answer: Answer, out: Out) -> int:
    document, text = answer
    out.result(document, text)
    return 0 if document["ok"] else 1


def _path(named: str) -> Path:
    from lessonbook.system.files import expanded

    return expanded(Path(named))


def _typed(text: str | None) -> str | None:
    return None if text is None else typed(text)


ACTS: dict[str, Act] = {
    "list": _list,
    "show": _show,
    "history": _history,
    "edit": _edit,
    **dict.fromkeys(("forget", "invalidate", "pin", "unpin", "undo"), _change),
    "erase": _erase,
    **dict.fromkeys(("contradictions", "dismiss", "merges", "merge", "apart"), _pairs),
    **dict.fromkeys(("stats", "diagnose", "vacuum", "backup"), _care),
    "sleep": _sleep,
    "export": _export,
    "import": _import,
}
