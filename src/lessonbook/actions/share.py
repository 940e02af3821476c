"""Carries lessons further: an accepted one into a project's own repository, a whole book to and from a team's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lessonbook.actions.review import NamedBook
from lessonbook.book.promoting import promote
from lessonbook.book.pulling import pull
from lessonbook.book.pushing import push
from lessonbook.core.screen import short


def promoted(book: NamedBook, id: str, project: Path, now: int) -> tuple[dict[str, Any], str]:
    """Promote an accepted candidate: its result, with the text for a person."""
    told = promote(book.folder, id, project, now)
    if not told["ok"]:
        return told, told["error"]
    return (
        told,
        f"made branch {told['branch']} in {told['project']} ({', '.join(told['files'])}); review and merge it there",
    )


def pulled(book: NamedBook, remote: str, now: int) -> tuple[dict[str, Any], str]:
    """Pull a team's book: its result, with the text for a person."""
    told = pull(book.folder, remote, now)
    if not told["ok"]:
        return told, told["error"]
    parts = [f"the book is at {told['commit']} now" if told["commit"] else "the book is up to date"]
    parts += _lists(told, new="new: {}", gone="decided by others: {}", stale="{} no longer apply: reject them")
    bare = [short(ref.removeprefix("refs/heads/").removeprefix("refs/lessonbook/")) for ref in told.get("skipped", ())]
    parts += _lists(
        {"skipped": bare}, skipped="left out, because it cannot be fetched from there or holds too much: {}"
    )
    return told, "; ".join(parts)


def pushed(book: NamedBook, remote: str) -> tuple[dict[str, Any], str]:
    """Push to a team's book: its result, with the text for a person."""
    told = push(book.folder, remote)
    if not told["ok"]:
        return told, told["error"]
    parts = [f"{told['remote']} is at {told['commit']} now" if told["commit"] else f"{told['remote']} is up to date"]
    kept = "{} held back: each holds what looks like a secret"
    return told, "; ".join([*parts, *_lists(told, new="new there: {}", gone="decided: {}", withheld=kept)])


def _lists(told: dict[str, Any], **texts: str) -> list[str]:
    return [text.format(", ".join(told[key])) for key, text in texts.items() if told[key]]
