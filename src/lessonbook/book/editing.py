"""Edits a candidate before it is accepted: the proposer stays its author, the reviewer becomes its committer.

The edit is laid on HEAD, so it is also the way out of staleness: the files a person gives are what accepting will
make of them, whatever has changed in the book meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lessonbook.book import single
from lessonbook.book.accepting import check_secrets
from lessonbook.book.candidates import Message
from lessonbook.book.content import refusal, shown
from lessonbook.book.messages import EDITED, with_trailer
from lessonbook.book.queue import told
from lessonbook.book.repository import Book
from lessonbook.book.sentences import MARKERS, SECRET
from lessonbook.book.settling import move
from lessonbook.book.single import Single
from lessonbook.core.errors import InputError
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.core.screen import quoted
from lessonbook.core.tidy_file import tidy_file
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import Change, Entry, NewCommit, RefMove, Write, blob_id, write_commits

Files = Mapping[str, str | bytes | None]

OURS, THEIRS = "accepted", "proposed"
"""What the conflict markers call HEAD's side and the candidate's, in the drafts that an editor opens."""


def edit(
    folder: Path, id: str, files: Files, now: int, by: Reviewer = TOOL, commit: str | None = None
) -> dict[str, Any]:
    """Replace files of the candidate: ``{ok, id, files, redacted, changed, commit}``; never raises.

    ``files`` maps a path to all of its new text, or to ``None`` where accepting shall leave no such file; other files
    of the candidate stay as proposed. ``files`` of the answer names what the candidate changes now, ``redacted`` counts
    the secrets taken out, ``changed`` is false where the edit comes to what was proposed, and ``commit`` is the
    candidate's commit now. The ``commit`` that is given is as for ``queue.accept``. ``{ok: False, id, error}`` where it
    cannot be done, with nothing changed.
    """
    return told(folder, id, lambda book, id: _edit(book, id, _given(files), now, by, commit), lock=True)


def drafts(folder: Path, id: str, commit: str | None = None) -> dict[str, Any]:
    """Return the candidate's text files as accepting would make them: ``{ok, id, files, conflicts, commit}``.

    ``files`` maps paths to bytes. Where a file conflicts with HEAD it holds both, between conflict markers, and
    ``conflicts`` names it. Files the candidate removes, and files that are not text, are not in it. ``commit`` is the
    candidate's; the one that is given is as for ``queue.accept``. Never raises.
    """
    return told(folder, id, lambda book, id: _drafts(book, id, commit))


def _given(files: Files) -> dict[bytes, bytes | None]:
    if not isinstance(files, Mapping) or not files:
        raise InputError("an edit needs at least one file and its new text")
    given: dict[bytes, bytes | None] = {}
    for name, text in files.items():
        if not isinstance(name, str) or not isinstance(text, str | bytes | None):
            raise InputError(f"an edit maps file names to text; {quoted(name)} is not so")
        try:
            path = name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise InputError(f"{quoted(name)} cannot be the name of a file") from error
        given[path] = text.replace("\0", "").encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return given


def _edit(
    book: Book, id: str, given: Mapping[bytes, bytes | None], now: int, by: Reviewer, seen: str | None
) -> dict[str, Any]:
    case = single.read(book, id, list(given), "edited", seen)
    w = case.candidate
    proposal, hidden = _without_secrets(w.proposal)
    texts = {path: _tidied(case, path, data) for path, data in given.items()}
    writes = {write.path: write for write in _others(case, given, proposal)}
    for path, (data, _) in texts.items():
        writes[path] = Write(path, data)
    changes = _changes(case, writes)
    redacted = hidden + sum(count for _, count in texts.values())
    answer = {"ok": True, "id": id, "files": [shown(change.path) for change in changes], "redacted": redacted}
    whole = case.pick()
    if whole is not None and changes and not hidden and set(whole.entries) == set(changes):
        return {**answer, "changed": False, "commit": w.commit}
    _check(case, changes)
    message = with_trailer(proposal, EDITED, by.signature)
    new = tuple(writes[change.path] for change in changes)
    commit = NewCommit(case.head, w.proposal.author, message, new, w.proposal.encoding, by.ident)
    made = write_commits(book.folder, [commit], now)[0]
    point("edit.written")
    move(book, [RefMove(w.ref, w.commit, made)], f"lessonbook: edit {id}")
    point("edit.moved")
    return {**answer, "changed": True, "commit": made}


def _without_secrets(proposal: Message) -> tuple[Message, int]:
    """The message without secrets, and how many it held: a branch somebody made by hand went through no proposer."""
    from lessonbook.core.redact import redact

    found = redact(proposal.raw.decode("utf-8", "surrogateescape"))
    if not found.count:
        return proposal, 0
    return proposal.but(raw=found.text.encode("utf-8", "surrogateescape")), found.count


def _others(case: Single, given: Mapping[bytes, bytes | None], proposal: Message) -> tuple[Write, ...]:
    """What the candidate's other files come to on HEAD. Raises ``InputError`` where they conflict or hold a secret."""
    others = tuple(change for change in case.candidate.changes if change.path not in given)
    pick = case.pick(others)
    if pick is None:
        names = ", ".join(shown(change.path) for change in others if case.pick([change]) is None)
        raise InputError(f"what {case.candidate.id} does to {names} no longer applies; edit that too")
    check_secrets(case.candidate.but(proposal=proposal, changes=others), case.target)
    return pick.writes


def _tidied(case: Single, path: bytes, data: bytes | None) -> tuple[bytes | None, int]:
    """The new bytes cleaned and redacted, and how many secrets were taken out; what is not text stays as it is."""
    if data is None:
        return None, 0
    if f"<<<<<<< {OURS}\n".encode() in data or f">>>>>>> {THEIRS}\n".encode() in data:
        raise InputError(MARKERS.format(name=shown(path)))
    text = _text(data)
    if text is None:
        from lessonbook.core.redact import redact

        if redact(data.decode("utf-8", "replace")).count:
            raise InputError(SECRET.format(name=shown(path)))
        return data, 0
    found = tidy_file(_text(case.text(path)) or "", text)
    return found.text.encode("utf-8", "surrogatepass"), found.count


def _text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def _changes(case: Single, writes: Mapping[bytes, Write]) -> list[Change]:
    changes = []
    for path, write in sorted(writes.items()):
        old = case.target.tree.get(path)
        oid = blob_id(write.data, case.head) if write.data is not None else write.oid
        new = Entry("100644", oid) if oid else None
        if old != new:
            changes.append(Change(path, old, new))
    return changes


def _check(case: Single, changes: Sequence[Change]) -> None:
    if not changes:
        raise InputError(f"with this edit {case.candidate.id} would change nothing; reject it instead")
    why = refusal(changes)
    if why:
        raise InputError(why)
    if case.target.pick(changes) is None:
        raise InputError("a file and a folder of one name cannot be in a book at once; choose another name")


def _drafts(book: Book, id: str, seen: str | None) -> dict[str, Any]:
    from lessonbook.system.gitmerge import with_markers

    case = single.read(book, id, what="edited", commit=seen)
    found: dict[str, bytes] = {}
    conflicts: list[str] = []
    for change in case.candidate.changes:
        pick = case.pick([change])
        ours, blobs = case.text(change.path), case.target.blobs
        old, new = (blobs.get(entry.oid, b"") if entry else b"" for entry in (change.old, change.new))
        if pick is None:
            conflicts.append(shown(change.path))
            data = with_markers(ours, old, new, (OURS, THEIRS)) if b"\0" not in old + new + ours else b"\0"
        else:
            data = ours
            for write in pick.writes:
                data = new if write.data is None else write.data
        if change.new is not None and b"\0" not in data:
            found[shown(change.path)] = data
    return {"ok": True, "id": id, "files": found, "conflicts": conflicts, "commit": case.candidate.commit}
