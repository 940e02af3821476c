"""Looks after a bank as a whole for a person: counts, checks, backups, and what it does while nobody waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lessonbook.actions.memory import Answer, amount, excerpt, rows_text
from lessonbook.core.care import OFTEN, Extracted, Slept, Stats, Summary
from lessonbook.core.care_ports import Counting, Filing, Tending
from lessonbook.system.settings import Places, Settings


def stats(care: Counting) -> Answer:
    """Return what the bank's file holds."""
    found = care.stats()
    document = {**found.as_dict(), "bytes_per_lesson": found.bytes_per_lesson, "file": care.place}
    return {"ok": True, **document}, rows_text(_stats_rows(found, care.place))


def diagnose(care: Tending, *, deep: bool = False) -> Answer:
    """Look the bank's file over and change nothing; ``ok`` is whether nothing is wrong with it."""
    found = care.diagnose(deep=deep)
    wrong = sum(one.problem for one in found)
    lines = [f"{'WRONG' if one.problem else 'ok':<5}  {one.about}: {one.said}" for one in found]
    end = (
        f"{wrong} to repair; a backup that is whole, or what import reads of this one, helps"
        if wrong
        else "nothing is wrong"
    )
    return {"ok": not wrong, "findings": [one.as_dict() for one in found]}, "\n".join([*lines, "", end])


def vacuum(care: Filing) -> Answer:
    """Give back the room in the file that nothing uses any more."""
    before, after = care.vacuum()
    return {"ok": True, "before": before, "after": after}, f"{before:,} → {after:,} bytes"


def back_up(care: Filing, target: Path) -> Answer:
    """Copy the bank's file while others use it. Raises ``InputError`` where ``target`` is there already."""
    size = care.back_up(target)
    return {"ok": True, "file": str(target), "bytes": size}, f"backed up to {target}: {size:,} bytes, checked"


def sleep(
    care: Tending,
    where: Places,
    settings: Settings,
    *,
    summarise: bool = False,
    extract: bool = False,
    step: Callable[[str], None] = lambda what: None,
) -> Answer:
    """Let the bank do what it does while nobody waits.

    A model is asked only with ``summarise``, to sum up old episodes, and with ``extract``, for what lessons name and
    state. ``ok`` is false where it did not answer, or what it answered was refused; all else was done then. Raises
    ``SetupError``, with nothing done, where a model is to be asked and no editor model is configured.
    """
    if (summarise or extract) and settings.editor is None:
        from lessonbook.system.chat import needed

        raise needed(where, "summary" if summarise else "extract")
    slept = care.sleep(step)
    summaries, left = _summarised(care, where, step) if summarise else ([], 0)
    read = _extracted(care, where, step) if extract else Extracted()
    document = {**slept.as_dict(), "summaries": [one.as_dict() for one in summaries], "groups_left": left}
    document |= {"extracted": read.as_dict()} if extract else {}
    lines = [*_slept_lines(slept), *_summary_lines(summaries, left, asked=summarise), *_extracted_lines(read)]
    ok = not read.problem and not any(one.problem for one in summaries)
    return {"ok": ok, **document}, "\n".join(lines) or "there was nothing to do"


def _summarised(care: Tending, where: Places, step: Callable[[str], None]) -> tuple[list[Summary], int]:
    from lessonbook.system.chat import ask_editor

    step("summaries")
    return care.summarise(lambda prompt: ask_editor(prompt, where, "summary"))


def _extracted(care: Tending, where: Places, step: Callable[[str], None]) -> Extracted:
    from lessonbook.system.chat import ask_editor

    step("names and facts")
    return care.extract(lambda prompt: ask_editor(prompt, where, "extract"))


def _slept_lines(slept: Slept) -> Iterator[str]:
    if slept.reindexed:
        yield "the index of words was made anew"
    if slept.embedded:
        yield f"{amount(slept.embedded, 'vector')} made"
    if slept.unembedded:
        yield f"{amount(slept.unembedded, 'lesson')} without a vector, which the extra `vectors` makes"
    if slept.twins:
        yield f"{amount(slept.twins, 'pair')} of near twins found: `lessonbook memory merges` shows them"
    if slept.uncompared:
        yield f"{amount(slept.uncompared, 'lesson')} to compare with the others at the next sleep"
    if slept.expired:
        yield f"{amount(slept.expired, 'lesson')} held until a time that has passed"


def _summary_lines(summaries: Sequence[Summary], left: int, *, asked: bool) -> Iterator[str]:
    for one in summaries:
        named = ", ".join(one.sources)
        if one.problem:
            yield f"not summed up: {named}: {one.problem}"
        else:
            yield f"summed up {named} as {one.lesson}  {excerpt(one.text)}"
    if left:
        yield f"{amount(left, 'group')} left for the next time"
    if asked and not summaries:
        yield "no old episodes belong together, so nothing was summed up"


def _extracted_lines(read: Extracted) -> Iterator[str]:
    if read.lessons:
        yield f"{amount(read.lessons, 'lesson')} read by the editor model for what they name and state"
    if read.refused:
        yield f"{amount(read.refused, 'answer')} of no use: what the rules find holds for these lessons"
    if read.contradictions:
        yield (
            f"{amount(read.contradictions, 'pair')} found that may not both hold:"
            " `lessonbook memory contradictions` shows them"
        )
    if read.problem:
        yield read.problem
    if read.left:
        yield f"{amount(read.left, 'lesson')} left to read the next time"


def _stats_rows(found: Stats, place: str) -> Iterator[tuple[str, str]]:
    states: dict[str, Any] = dict(found.states)
    total = states.pop("all")
    yield "lessons", f"{total:,}"
    yield "of these", _counted(states)
    for name, counts in (("banks", found.banks), ("types", found.types), ("veracity", found.veracities)):
        yield name, _counted(counts)
    yield "recalled", f"{found.never_recalled:,} never, {found.often_recalled:,} {OFTEN} times or more"
    yield "changes kept", f"{found.changes:,}"
    yield "contradictions", f"{found.contradictions:,} waiting" if found.contradictions else ""
    yield "near twins", f"{found.twins:,} pairs waiting" if found.twins else ""
    yield "vectors", f"{found.vectors:,}, {found.unembedded:,} waiting"
    yield "file", place
    per = f", {found.bytes_per_lesson:,} for each lesson" if found.bytes_per_lesson else ""
    unused = f", {found.unused_bytes:,} unused (`lessonbook memory vacuum`)" if found.unused_bytes else ""
    yield "bytes", f"{found.bytes:,}{per}{unused}"


def _counted(counts: Any) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)
