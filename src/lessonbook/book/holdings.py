"""What a book's HEAD holds that could expire: each paragraph, each skill, each dated file, with who wrote it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from lessonbook.book import blame
from lessonbook.book.authorship import authors
from lessonbook.book.blame import Hand
from lessonbook.book.content import AGENTS, DATED, refusal, shown
from lessonbook.book.pins import words
from lessonbook.book.repository import Book
from lessonbook.core import expiry
from lessonbook.core.expiry import Part
from lessonbook.system.gitbatch import Change, Entry, read_objects

MARK = b"\xef\xbb\xbf"
PERSONS = "a person wrote it, or a part of it"

Tree = Mapping[bytes, Entry]


def parts(book: Book, head: str, tree: Tree) -> list[Part]:
    """Return every part in the order of the book: paragraphs, skills by name, dated files. Raises ``StoreError``."""
    skills, dated = _skills(tree), sorted(path for path in tree if DATED.match(path))
    hands = authors(book, head, [*dated, *(path for paths in skills.values() for path in paths)])
    found = list(_paragraphs(book, head, tree))
    found += [_skill(book.folder, name, paths, tree, hands) for name, paths in sorted(skills.items())]
    return found + [_dated(path, tree[path], hands[path]) for path in dated]


def files_of(part: Part, tree: Tree) -> list[bytes]:
    """Return the files of HEAD that make up a skill or a dated file of an expected name."""
    name = part.path.encode()
    return [path for path in tree if path == name or path.startswith(name + b"/")]


def agents(book: Book, tree: Tree) -> bytes:
    """Return the bytes of HEAD's ``AGENTS.md``; empty where there is none or it is not a regular file."""
    entry = tree.get(AGENTS)
    return read_objects(book.folder, [entry.oid])[entry.oid].data if entry and entry.mode == "100644" else b""


def _paragraphs(book: Book, head: str, tree: Tree) -> Iterator[Part]:
    text = agents(book, tree).removeprefix(MARK).decode("utf-8", "surrogateescape")
    if not text:
        return
    for item in blame.written(text, blame.hands(book, head, text)):
        paragraph = item.paragraph
        if paragraph.text:
            yield Part(
                kind=expiry.PARAGRAPH,
                path=AGENTS.decode(),
                key=expiry.paragraph_key(paragraph.text),
                text=words(paragraph.text),
                since=item.at,
                line=paragraph.line + 1,
                held=None if item.proposed else PERSONS,
            )


def _skills(tree: Tree) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = defaultdict(list)
    for path in tree:
        folders = path.split(b"/")
        if folders[0] == b"skills" and len(folders) > 2:
            found[folders[1].decode("utf-8", "surrogateescape")].append(path)
    return found


def _skill(folder: Path, name: str, paths: list[bytes], tree: Tree, hands: Mapping[bytes, Hand]) -> Part:
    held = refusal(Change(path, tree[path], None) for path in paths)
    if held is None and not all(hands[path].proposed for path in paths):
        held = PERSONS
    extra = None if held else _uncommitted(folder, name, paths)
    return Part(
        kind=expiry.SKILL,
        path=f"skills/{_shown(name)}",
        key=expiry.skill_key(name),
        text=_shown(name),
        since=max(hands[path].at for path in paths),
        held=f"it holds {extra}, which is not committed" if extra else held,
    )


def _dated(path: bytes, entry: Entry, hand: Hand) -> Part:
    until = expiry.dated_until(path.decode())
    held = refusal([Change(path, entry, None)]) or (None if hand.proposed else PERSONS)
    return Part(
        kind=expiry.DATED,
        path=path.decode(),
        key="",
        text=path.decode(),
        # What waited long for review was not old news to the person who accepted it.
        since=max(until or 0, hand.at),
        held=held or (None if until else "its name is not a day"),
    )


def _uncommitted(folder: Path, name: str, paths: list[bytes]) -> str | None:
    """A file in the skill's folder that HEAD does not hold: somebody's work, which must not lose its skill."""
    known = {path.decode("utf-8", "surrogateescape") for path in paths}
    for path in sorted((folder / "skills" / name).rglob("*")):
        relative = path.relative_to(folder).as_posix()
        if relative not in known and (path.is_symlink() or not path.is_dir()):
            return _shown(relative)
    return None


def _shown(name: str) -> str:
    return shown(name.encode("utf-8", "surrogateescape"))
