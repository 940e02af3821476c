"""``lessonbook learned review``: shows what waits one by one, and takes a letter for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import time
from typing import TYPE_CHECKING

from lessonbook.actions.walking import Shown, Walk, start
from lessonbook.book.wording import commit_line, look_lines, notes
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.hosts.cli.output import Out

if TYPE_CHECKING:
    from lessonbook.actions.review import NamedBook
    from lessonbook.system.settings import Places

HELP = """\
a  accept it: the next session is briefed with it        (also y)
r  reject it, and say why: nobody proposes it again
e  edit it in your editor, then look again
s  split it by file or paragraph, then look at each
n  leave it for another time                             (also just Enter)
u  undo the last decision of this walk
q  quit; what is left stays in the queue
?  this help"""
_ASK = "[a]ccept [r]eject [e]dit [s]plit [n]ext [u]ndo [q]uit [?] "
_LAST = "That was the last one. [u]ndo the last decision, or Enter to leave "


def run(where: Places, books: Sequence[NamedBook], ids: Sequence[str], out: Out) -> int:
    """Walk. Exit code 0, also where the person quits; ``InputError`` where a program asks."""
    from lessonbook.system.settings import reviewer

    if out.json:
        raise InputError("`learned review` asks a person; programs use `learned list`, `diff`, `accept` and `reject`.")
    walk = start(books, ids, reviewer(where.config_file), time)
    named, told = len(books) > 1, 0
    while True:
        shown = walk.look()
        for line in walk.gone[told:]:
            out.note(f"lessonbook: {line}")
        told = len(walk.gone)
        if shown is None:
            if walk.has_decided and _ask(_LAST) == "u":
                out.text(walk.undo())
                continue
            break
        _show(walk, shown, named, out)
        if not _decided(walk, shown, out):
            break
    out.text(walk.summary() if walk.total else "nothing is pending")
    return 0


def _show(walk: Walk, shown: Shown, named: bool, out: Out) -> None:
    row = shown.row
    book = f"  {shown.book.name}" if named else ""
    head = [f"({walk.place}/{walk.total}){book}  {row.id}  {', '.join(row.files)}", row.subject, commit_line(row)]
    stale = [f"  ({note})" for note in notes(row.but(signs=(), twins=()))]
    evidence = [f"  {key}: {value}" for key, value in row.trailers]
    out.text("\n".join([*head, *stale, *evidence, *look_lines(row), ""]))
    if out.on_terminal:
        from lessonbook.hosts.cli.patch_view import show

        show(shown.diff)
    else:
        out.text(shown.diff or "(no change)")


def _decided(walk: Walk, shown: Shown, out: Out) -> bool:
    """Ask until this candidate is done with, or has to be shown again; ``False`` where the person quits."""
    while True:
        letter = _ask(_ASK)
        if letter is None or letter == "q":
            return False
        if letter in ("", "n"):
            walk.skip()
            return True
        act = _ACTS.get(letter)
        if act is None:
            out.text(HELP)
            continue
        before = (list(walk.todo), shown.row.commit)
        try:
            said = act(walk, shown)
        except LessonbookError as error:  # such as an editor that does not start: nothing was changed
            said = str(error)
        out.text(said)
        if before[0] != walk.todo or letter == "e":
            return True


def _accept(walk: Walk, shown: Shown) -> str:
    if not shown.row.signs:
        return walk.accept(shown)
    kinds = ", ".join(dict.fromkeys(sign.kind for sign in shown.row.signs))
    answer = _ask(f"It shows signs of poisoning ({kinds}), named above. Accept it all the same? [y/N] ")
    return walk.accept(shown, acknowledged=True) if answer in ("y", "yes") else "not accepted"


def _reject(walk: Walk, shown: Shown) -> str:
    reason = _ask("Why? One line, for whoever meets it again (Enter: no reason; Ctrl-D: do not reject) ", lower=False)
    return "not rejected" if reason is None else walk.reject(shown, reason)


def _edit(walk: Walk, shown: Shown) -> str:
    from lessonbook.system.editor import edited

    return walk.edit(shown, edited)


_ACTS: dict[str, Callable[[Walk, Shown], str]] = {
    **dict.fromkeys(("a", "y"), _accept),
    "r": _reject,
    "e": _edit,
    "s": lambda walk, shown: walk.split(shown),
    "u": lambda walk, shown: walk.undo(),
}


def _ask(question: str, *, lower: bool = True) -> str | None:
    """Return what a person types, without blanks around it; ``None`` at the end of the input."""
    if sys.stdin is None or sys.stdout is None:
        return None
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stdout.write("\n")
        return None
    return line.strip().lower() if lower else line.strip()
