"""From a command that failed to the one that worked: what was changed between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lessonbook.core.failure import NEVER_RAN, Trouble
from lessonbook.core.shell import Command

_DROPPED_MOST = 3
_ADDED_MOST = 4
_WORD_LONGEST = 40
HEAD_LONGEST = 4
_MOST = 0.8
_FAMILY = 2
"""Program and verb may be those of most; any word after them belongs to the head only where all share it."""
_OVERRIDE = re.compile(
    r"--?(?:f|D|y|k|yes|hard|force(?:-.*)?|no-(?:verify|gpg-sign|sandbox|check.*)|dangerously.*|skip-.*|ignore-.*|allow-.*"
    r"|unsafe.*|insecure|privileged|break-system-packages|legacy-peer-deps)(?:=.*)?\Z"
)
_SETS_UP = frozenset({"install", "i", "add", "sync", "remove", "uninstall", "init", "create", "show"})
_OF_A_FOLDER = frozenset(
    {
        Trouble.WRONG_FOLDER,
        Trouble.NO_SCRIPT,
        Trouble.NO_FILE,
        Trouble.NOT_INSTALLED,
        Trouble.NOT_PREPARED,
        Trouble.NO_MODULE,
    }
)
"""Reasons that the right folder can cure."""

_PLAIN = re.compile(r"[A-Za-z][\w:-]*\Z")


@dataclass(frozen=True, slots=True)
class Move:
    """What turns the failed command into the one that worked; ``place`` where only the folder differs."""

    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    at_front: bool = True
    place: str | None = None


def move_between(failed: Command, worked: Command, trouble: Trouble | None, fed_alike: bool = False) -> Move | None:
    """Return what changed from ``failed`` to ``worked``; ``None`` where they are not the same errand.

    ``fed_alike``: both are stages of pipes that were the same up to here.
    """
    if failed.words == worked.words:
        moved = failed.place != worked.place and (trouble is None or trouble in _OF_A_FOLDER)
        return Move(place=worked.place or ".") if moved else None
    front, back = _common(failed.words, worked.words)
    dropped = failed.words[front : len(failed.words) - back]
    added = worked.words[front : len(worked.words) - back]
    if len(dropped) > _DROPPED_MOST or len(added) > _ADDED_MOST or any(map(overrides, added)):
        return None
    if not all(map(_short, (*dropped, *added))):
        return None
    if front:
        return Move(dropped, added, at_front=False) if _other_way(failed, worked, dropped, added, trouble) else None
    shared = failed.words[len(failed.words) - back :] if back else ()
    alike = fed_alike or any(not word.startswith("-") and len(word) > 1 for word in shared)
    same = alike and not sets_up(dropped, added)
    return Move(dropped, added) if same and (trouble is None or trouble in NEVER_RAN) else None


def sets_up(dropped: Sequence[str], added: Sequence[str]) -> bool:
    """Whether another errand was run: ``pip install pytest`` is no way to run ``pytest``."""
    return not _SETS_UP.isdisjoint(added) and _SETS_UP.isdisjoint(dropped)


def overrides(word: str) -> bool:
    """Whether an option gets its way past a guard: what worked by force is no lesson."""
    return _OVERRIDE.match(word) is not None


def head(commands: Sequence[tuple[str, ...]], most: int = HEAD_LONGEST) -> str:
    """Return how most of the commands begin, in at most ``most`` words, with ``…`` where they go on: ``bun run …``."""
    kept: list[str] = []
    alive = list(commands)
    while len(kept) < most:
        following = Counter(words[len(kept)] for words in alive if len(words) > len(kept))
        word, times = following.most_common(1)[0] if following else ("", 0)
        enough = len(alive) if len(kept) >= _FAMILY else _MOST * len(commands)
        if times < enough or (kept and not _telling(word, len(following))):
            break
        kept.append(word)
        alive = [words for words in alive if words[: len(kept)] == tuple(kept)]
    longer = any(len(words) > len(kept) for words in alive)
    return " ".join(kept) + (" …" if longer and kept else "")


def _telling(word: str, variants: int) -> bool:
    """Whether a word belongs to the head: a verb or an option; a path or a quoted text only where it never varies."""
    return _short(word) and (_PLAIN.match(word) is not None or word.startswith("-") or variants == 1)


def _other_way(
    failed: Command, worked: Command, dropped: Sequence[str], added: Sequence[str], trouble: Trouble | None
) -> bool:
    """Whether the same program was called in another way, rather than for something else."""
    changed = [*dropped, *added]
    if trouble in (Trouble.BAD_SUBCOMMAND, Trouble.NO_SCRIPT):
        return all(_PLAIN.match(word) or word.startswith("-") for word in changed)
    return failed.verb == worked.verb and all(word.startswith("-") or not word for word in changed)


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """How many words two commands share at the front, and then at the back, without overlap."""
    most = min(len(one), len(other))
    front = next((n for n in range(most) if one[n] != other[n]), most)
    back = next((n for n in range(most - front) if one[-1 - n] != other[-1 - n]), most - front)
    return front, back


def _short(word: str) -> bool:
    return len(word) <= _WORD_LONGEST and "\n" not in word
