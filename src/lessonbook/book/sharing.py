"""What pulling and pushing a team's book share: where to, what travels, and what counts as decided.

HEAD's branch travels, the pending branches, what was rejected (with the reasons) or left the queue with another
candidate, and pins. A pin that was taken away stays where others have it: nothing says that they meant it too. It is
fast-forward only, and nothing of anybody's is overwritten. A candidate that somebody decided leaves everybody's queue;
one that no longer applies shows as stale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lessonbook.book.candidates import message_of
from lessonbook.book.history import accepted, history
from lessonbook.book.marks import unmarked
from lessonbook.book.remembered import candidate_commit, id_of_ref
from lessonbook.book.repository import ALONG_REFS, PIN_REFS, REJECTED_REFS, Book, exists, is_pin
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.core.remote import Remote, remote
from lessonbook.core.screen import short
from lessonbook.system import git
from lessonbook.system.gitbatch import read_objects

KEPT = (REJECTED_REFS, ALONG_REFS, PIN_REFS)
"""Where the refs lie that travel beside the branches."""


def shared(folder: Path, where: str, act: Callable[[Remote], dict[str, Any]]) -> dict[str, Any]:
    """Return what ``act`` does with the remote ``where`` names; any trouble is ``{ok: False, remote, error}``."""
    from lessonbook.core.redact import redact

    named = redact(where).text
    try:
        address = _address(folder, where)
        return {"ok": True, "remote": address.address, **act(address)}
    except LessonbookError as error:
        return {"ok": False, "remote": named, "error": redact(str(error)).text}
    except OSError as error:
        return {"ok": False, "remote": named, "error": f"{folder} cannot be worked on: {error.strerror or error}"}


def _address(folder: Path, where: str) -> Remote:
    """The remote that is named; a plain name is looked up in the book's repository, as text and nothing else."""
    name = where.strip()
    if name.replace("-", "").replace("_", "").isalnum() and not name.startswith("-") and exists(folder):
        url = git.attempt(folder, "config", "--get", f"remote.{name}.url").stdout.decode("utf-8", "replace").strip()
        if not url:
            raise InputError(f"{folder} has no remote called {short(name)}; say a path or an address")
        return remote(url, str(folder))
    return remote(name, str(Path.cwd()))


def is_kept(ref: str) -> bool:
    """Whether a ref of ``KEPT`` is named as we name them; any other could stand in the way of one that is."""
    start = next((start for start in (REJECTED_REFS, ALONG_REFS) if ref.startswith(start)), "")
    id, dot, number = ref.removeprefix(start).partition(".")
    return is_pin(ref) or (bool(start) and is_candidate_id(id) and bool(number.isdecimal() or not dot))


def check_whole(folder: Path) -> None:
    """Raise ``InputError`` for a clone without its whole history: it cannot say what it lacks."""
    if git.run(folder, "rev-parse", "--is-shallow-repository").strip() == b"true":
        raise InputError(f"{folder} is a shallow clone, too little to be shared; run `git fetch --unshallow` there")


def is_above(folder: Path, old: str, new: str) -> bool:
    """Say whether the history of ``new`` holds ``old``."""
    return git.attempt(folder, "merge-base", "--is-ancestor", old, new).returncode == 0


def decided_by(book: Book, kept: Mapping[str, str]) -> dict[str, set[bytes]]:
    """Return the candidates that HEAD accepted or ``kept`` says were rejected: id → the messages they came with."""
    found: dict[str, set[bytes]] = {}
    for id, step in accepted(history(book)).items():
        found.setdefault(id, set()).add(unmarked(step.message.raw))
    refs = {ref: oid for ref, oid in kept.items() if ref.startswith(REJECTED_REFS)}
    records = read_objects(book.folder, refs.values())
    commits = {ref: candidate_commit(oid, records.get(oid)) for ref, oid in refs.items()}
    texts = read_objects(book.folder, commits.values())
    for ref, oid in commits.items():
        if oid in texts:
            found.setdefault(id_of_ref(ref), set()).add(unmarked(message_of(texts[oid].data).raw))
    return found
