"""One big JSON document, read member by member: what is held is one element of a list, however long the list is.

Only the containers that are asked for are entered; everything else is one value. Damage costs the element it lies in:
reading goes on at the next whole one. A document that is cut off gives all that stands before the cut.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from lessonbook.transcripts.lines import LENIENT, LINE_MAX, Skip
from lessonbook.transcripts.window import CHUNK, CutOff, Damaged, TooLarge, Window

TORN_PART = "torn part of a document"
NO_OBJECT = "part of a document that is not an object"
DEEP_PART = "part of a document nested too deeply"
NO_UTF8 = "document with bytes that are not UTF-8 (replaced)"
CUT_OFF = "rest of a document that is cut off"
TOO_LARGE = f"part of a document over {LINE_MAX // (1024 * 1024)} MiB"
BEHIND = "text behind the end of a document"
START, END = object(), object()
"""The values of a container that is entered, before and after its members."""
_TRIES = 200
_STARTS = (re.compile(r'(?<=[,\[\s])\{\s*"'), re.compile(r'\{\s*"'))
"""Where an element may begin: most likely behind a comma; behind torn text, anywhere."""
_AFTER = re.compile(r"\s*[,\]]|\s*\Z")
IsRecord = Callable[[dict[str, Any]], bool]


class Member(NamedTuple):
    """A value and where it stands: ``title``, ``messages[]``, ``samples[].id``; ``[]`` for elements of the root."""

    path: str
    value: Any


def read_document(file: BinaryIO, enter: frozenset[str], is_record: IsRecord) -> Iterator[Member | Skip]:
    """Yield every member in order, and a ``Skip`` for everything that could not be read.

    ``enter`` names the containers whose members are wanted one by one, the root aside. ``is_record`` tells an element
    of such a list from a part of one: behind damage, reading goes on at the next object it accepts. Several documents
    one behind the other are read in turn; ``Member("", END)`` comes after each.
    """
    text = Window(file)
    try:
        text.skip_space()
        while text.peek() and text.peek() in "{[":
            yield from _container(text, "", enter, is_record)
            yield Member("", END)
            text.skip_space()
        if text.peek():
            yield Skip(BEHIND)
    except CutOff:
        yield Skip(CUT_OFF)
    except Damaged:
        yield Skip(TORN_PART)
    except RecursionError:
        yield Skip(DEEP_PART)
    if text.replaced:
        yield Skip(NO_UTF8)


@lru_cache(maxsize=4)
def head_members(head: bytes) -> tuple[Member, ...]:
    """Return the members of a document's first bytes, at most 60, the elements of its lists one by one."""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return ()
    every = read_document(io.BytesIO(head), _ANY, lambda value: True)
    return tuple(islice((one for one in every if isinstance(one, Member)), 60))


def head_keys(head: bytes) -> frozenset[str]:
    """Return the names of the root's members that a document's first bytes show."""
    return frozenset(one.path.partition("[")[0] for one in head_members(head) if "." not in one.path)


def head_root(head: bytes) -> dict[str, Any]:
    """Return the root's members that a document's first bytes show, with as much of them; its lists are left out."""
    root: dict[str, Any] = {}
    for path, value in head_members(head):
        outer, dot, inner = path.partition(".")
        if value in (START, END) or "[" in path:
            continue
        if dot:
            within = root.setdefault(outer, {})
            if isinstance(within, dict):  # a name with a dot in it may meet one without
                within[inner] = value
        else:
            root[path] = value
    return root


def head_elements(head: bytes, path: str) -> list[dict[str, Any]]:
    """Return the elements of one list that a document's first bytes show."""
    return [one.value for one in head_members(head) if one.path == f"{path}[]" and isinstance(one.value, dict)]


class _Any(frozenset[str]):
    """Every list that is a member of the root."""

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and "[" not in path and "." not in path


_ANY = _Any()


def _container(text: Window, path: str, enter: frozenset[str], is_record: IsRecord) -> Iterator[Member | Skip]:
    if path:
        yield Member(path, START)
    if text.peek() == "[":
        yield from _list(text, path, enter, is_record)
    else:
        yield from _object(text, path, enter, is_record)
    if path:
        yield Member(path, END)


def _object(text: Window, path: str, enter: frozenset[str], is_record: IsRecord) -> Iterator[Member | Skip]:
    text.take("{")
    while text.peek() != "}":
        key = text.value()
        if not isinstance(key, str):
            raise Damaged
        text.take(":")
        yield from _member(text, f"{path}.{key}".lstrip("."), enter, is_record)
        text.skip_space()
        if text.peek() == ",":
            text.take(",")
        elif text.peek() != "}":
            raise Damaged if text.peek() else CutOff
    text.at += 1


def _list(text: Window, path: str, enter: frozenset[str], is_record: IsRecord) -> Iterator[Member | Skip]:
    text.take("[")
    while text.peek() != "]":
        try:
            yield from _element(text, f"{path}[]", enter, is_record)
            text.skip_space()
            if text.peek() not in ",]{" or not text.peek():
                raise Damaged if text.peek() else CutOff
        except (Damaged, RecursionError) as error:
            yield Skip(TORN_PART if isinstance(error, Damaged) else DEEP_PART)
            _behind_damage(text, is_record)
        if text.peek() == ",":
            text.take(",")
    text.at += 1


def _element(text: Window, path: str, enter: frozenset[str], is_record: IsRecord) -> Iterator[Member | Skip]:
    for member in _member(text, path, enter, is_record):
        if isinstance(member, Member) and member.path == path and not isinstance(member.value, dict):
            yield member if member.value in (START, END) else Skip(NO_OBJECT)
        else:
            yield member


def _member(text: Window, path: str, enter: frozenset[str], is_record: IsRecord) -> Iterator[Member | Skip]:
    text.skip_space()
    if path in enter and text.peek() in "{[" and text.peek():
        yield from _container(text, path, enter, is_record)
        return
    try:
        yield Member(path, text.value())
    except (TooLarge, RecursionError) as error:
        if isinstance(error, RecursionError) and path.endswith("[]"):  # may not even end: the list looks for the next
            raise
        if not text.pass_over():
            raise CutOff from error
        yield Skip(TOO_LARGE if isinstance(error, TooLarge) else DEEP_PART)


def _behind_damage(text: Window, is_record: IsRecord) -> None:
    """Move to the next whole element behind the place that is no JSON, else behind its brackets."""
    while len(text.window) - text.at < LINE_MAX and text.more(max(CHUNK, len(text.window) - text.at)):
        if _next_record(text, is_record):
            return
    if _next_record(text, is_record):
        return
    if text.peek() not in "{[" or not text.pass_over():
        raise CutOff
    text.skip_space()
    if text.peek() not in ",]":
        raise CutOff


def _next_record(text: Window, is_record: IsRecord) -> bool:
    for starts in _STARTS:
        for start in islice(starts.finditer(text.window, text.at + 1), _TRIES):
            try:
                value, end = LENIENT.raw_decode(text.window, start.start())
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and is_record(value) and _AFTER.match(text.window, end):
                text.at = start.start()
                return True
    return False
