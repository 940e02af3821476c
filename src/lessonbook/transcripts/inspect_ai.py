"""Inspect: evaluation logs, a zip file of JSON documents (``.eval``) or one document; each sample is a session."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from lessonbook.core.errors import LessonbookError, StoreError
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.documents import END, START, head_elements, head_keys, head_root, read_document
from lessonbook.transcripts.inspect_talk import AGENT, COPY, InspectTalk
from lessonbook.transcripts.lines import HEAD_BYTES, Skip, opened
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import mapping, text

NO_MEMBER = "member of a zip file that cannot be read"
_ZIP = b"PK\x03\x04"
_LISTS = ("messages", "events", "attachments")
_SAMPLES = ("", "sample", "samples[]")
"""Where a sample may stand: as the document, in a bundle, in a log."""
_ENTER = frozenset(
    ("samples", "samples[]", "sample", *(f"{at}.{name}".lstrip(".") for at in _SAMPLES for name in _LISTS))
)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
_SMALL = 8 * 1024 * 1024


class InspectReader:
    """Reads ``*.eval`` and the same logs as ``.json``."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a log of Inspect, or one sample of it."""
        if head.startswith(_ZIP):
            return path.endswith(".eval") or b"_journal/" in head[:4_000]
        keys, root = head_keys(head), head_root(head)
        if "eval" in keys and {"status", "version"} <= keys:
            return True
        if any(map(_is_sample, (root, mapping(root.get("sample"))))):
            return True
        return "epoch" in root and any(map(_is_message, head_elements(head, "messages")))

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return the folder ``INSPECT_LOG_DIR`` names, if any; else logs lie where it was started."""
        named = env.get("INSPECT_LOG_DIR")
        return [named] if named else []

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the samples of the file, then one report. Never raises for what is in it.

        With ``seen``, samples another file already gave are left out and counted.
        """
        tally = Tally(path, AGENT)
        known = seen if seen is not None else Seen()
        try:
            with opened(path) as file:
                head = file.read(HEAD_BYTES)
                file.seek(0)
                talks = _zipped(path, file, tally) if head.startswith(_ZIP) else _samples(path, file, tally, {})
                for talk in talks:
                    session = talk.freeze()
                    if session.turns and not known.first("inspect sample", talk.key):
                        tally.skipped[COPY] += 1
                    elif session.turns:
                        yield tally.add(session)
        except LessonbookError as error:
            tally.problem = str(error)
        yield tally.report()


def _zipped(path: str, file: BinaryIO, tally: Tally) -> Iterator[InspectTalk]:
    try:
        archive = zipfile.ZipFile(file)
    except _BROKEN as error:
        raise StoreError(f"{path} is no whole zip file: {error}.") from error
    facts = _header(archive)
    for name in sorted(one for one in archive.namelist() if one.startswith("samples/") and one.endswith(".json")):
        try:
            with archive.open(name) as member:
                yield from _samples(path, member, tally, facts)  # type: ignore[arg-type]
        except _BROKEN:
            tally.skipped[NO_MEMBER] += 1


def _header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return what the log says of the whole evaluation."""
    for name in ("header.json", "_journal/start.json"):
        try:
            with archive.open(name) as member:
                return mapping(json.loads(member.read(_SMALL)))
        except (KeyError, RecursionError, *_BROKEN):
            continue
    return {}


def _samples(path: str, file: BinaryIO, tally: Tally, facts: dict[str, Any]) -> Iterator[InspectTalk]:
    """Yield the samples of one document: a log of many, a bundle, or one sample by itself."""
    talk = InspectTalk(path, facts)
    for item in read_document(file, _ENTER, _is_record):
        if isinstance(item, Skip):
            tally.skipped[item.reason] += 1
            continue
        below = _below(item.path)
        if below == "" and item.value is END:
            yield talk
            talk = InspectTalk(path, facts)
        elif item.path == "eval":
            facts = {**facts, "eval": mapping(item.value)}
            talk = InspectTalk(path, facts)
        elif item.value not in (START, END):
            if below.endswith("[]"):
                kind = text(mapping(item.value).get("role" if below == "messages[]" else "event"))
                tally.types[f"{below[:-3]}/{kind}"] += 1
            talk.take(below, item.value)
    if talk.talk.turns:  # a sample by itself, or one that is cut off
        yield talk


def _below(path: str) -> str:
    """Return a path as it is within its sample."""
    for at in ("samples[]", "sample"):
        if path == at or path.startswith(f"{at}."):
            return path[len(at) + 1 :]
    return path or "-"


def _is_record(item: dict[str, Any]) -> bool:
    return _is_message(item) or isinstance(item.get("event"), str) or _is_sample(item)


def _is_message(item: dict[str, Any]) -> bool:
    return item.get("role") in ("system", "user", "assistant", "tool") and "content" in item


def _is_sample(item: dict[str, Any]) -> bool:
    return "epoch" in item and "input" in item and ("target" in item or "messages" in item)
