"""Signs of poisoning in what a candidate brings, and that a person who accepts it has to have seen them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lessonbook.book.candidates import Waiting
from lessonbook.book.content import shown
from lessonbook.book.sentences import SIGNS
from lessonbook.core.errors import InputError

if TYPE_CHECKING:
    from lessonbook.core.suspicion import Sign

Acknowledged = bool | Iterable[str]
"""What a person has seen: everything (``True``), nothing, or signs of these kinds."""

_NAMED = 5
_RECORDED = 50


@dataclass(frozen=True, slots=True)
class Seen:
    """What the person who decides was shown: the commit of each candidate by its id, and the signs they have seen."""

    commits: Mapping[str, str] = field(default_factory=dict)
    acknowledged: Acknowledged = False


def signs_of(w: Waiting, blobs: Mapping[str, bytes]) -> tuple[Sign, ...]:
    """Return the signs in the lines a candidate brings and in its trailers; ``blobs`` are its old and new files."""
    from lessonbook.core.suspicion import Sign, from_trailers, signs

    found = list(from_trailers(w.proposal.trailers))
    for change in w.changes:
        old, new = (blobs.get(entry.oid, b"") if entry else b"" for entry in (change.old, change.new))
        if b"\0" in new:
            why = "A binary file, which nobody can read here."
            found.append(Sign("hidden", shown(change.path), 1, "(binary)", why))
        else:
            texts = (side.decode("utf-8", "replace") for side in (old, new))
            found += signs(shown(change.path), *texts)
    return tuple(found)


def check_acknowledged(w: Waiting, signs: Sequence[Sign], acknowledged: Acknowledged, shown: Sequence[Sign]) -> None:
    """Raise ``InputError`` that names the signs which the person has not said to have seen, or was not shown."""
    kinds = _kinds(acknowledged, signs)
    known = {_words(sign) for sign in shown}
    left = [sign for sign in signs if sign.kind not in kinds or _words(sign) not in known]
    if left:
        names = "; ".join(f"{place(sign)}: {sign.why.rstrip('.')}" for sign in left[:_NAMED])
        more = f"; and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        raise InputError(SIGNS.format(names=names + more, id=w.id, commit=w.commit))


def _kinds(acknowledged: Acknowledged, signs: Sequence[Sign]) -> frozenset[str]:
    if isinstance(acknowledged, str):
        return frozenset([acknowledged])
    if isinstance(acknowledged, Iterable):
        return frozenset(acknowledged)
    return frozenset(sign.kind for sign in signs) if acknowledged else frozenset()


def _words(sign: Sign) -> tuple[str, ...]:
    """What makes it the same sign wherever the lines above it have moved it."""
    return sign.kind, sign.path, sign.excerpt, sign.why


def place(sign: Sign) -> str:
    """Return what a sign is and where: ``override in AGENTS.md line 3``."""
    return f"{sign.kind} in {sign.path} line {sign.line}"


def recorded(signs: Sequence[Sign]) -> list[str]:
    """Return the signs as the values of trailers, the first ``50`` of them."""
    rows = [f"{sign.kind} {sign.path} line {sign.line}" for sign in signs[:_RECORDED]]
    return rows + ([f"{len(signs) - _RECORDED} more"] if len(signs) > _RECORDED else [])
