"""Shows a diff on a terminal: in colour where it has some, old and new side by side where it is wide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lessonbook.core.patch import FilePatch, Row, Side, read_patch
from lessonbook.core.screen import printable

if TYPE_CHECKING:
    from typing import Any

WIDE = 120
"""Columns from which on both sides have room for a line of prose."""
_GONE, _COME = ("red", "bold red reverse"), ("green", "bold green reverse")


def show(diff: str, console: Any = None) -> None:
    """Print a diff as git prints it, for a person who looks."""
    console = console or Console(highlight=False)
    patches = read_patch(diff)
    if not patches:
        console.print(Text(printable(diff) or "(no change)"))
    for patch in patches:
        console.print(Text(printable(patch.path), style="bold"))
        for note in patch.notes:
            console.print(Text(printable(note), style="dim"))
        both = console.width >= WIDE and any(row.old for hunk in patch.hunks for row in hunk)
        console.print(_beside(patch) if both else _below(patch))


def _beside(patch: FilePatch) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, expand=True)
    for _ in range(2):
        table.add_column(justify="right", style="dim", no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
    for at, hunk in enumerate(patch.hunks):
        if at:
            table.add_row("", "…", "", "…")
        for row in hunk:
            same = row.kind == "same"
            table.add_row(*_cell(row.old, ("", "") if same else _GONE), *_cell(row.new, ("", "") if same else _COME))
    return table


def _cell(side: Side | None, styles: tuple[str, str]) -> tuple[str, Text]:
    return ("", Text("")) if side is None else (str(side.number), _line(side, styles))


def _below(patch: FilePatch) -> Text:
    lines = []
    for at, hunk in enumerate(patch.hunks):
        lines += [Text("  …")] if at else []
        lines += [line for row in hunk for line in _signed(row)]
    return Text("\n").join(lines)


def _signed(row: Row) -> Iterator[Text]:
    if row.kind == "same" and row.new:
        yield Text("  ").append_text(_line(row.new, ("", "")))
        return
    if row.old:
        yield Text("- ", style=_GONE[0]).append_text(_line(row.old, _GONE))
    if row.new:
        yield Text("+ ", style=_COME[0]).append_text(_line(row.new, _COME))


def _line(side: Side, styles: tuple[str, str]) -> Text:
    """A line with its marked words in the stronger style, except where all of it is marked."""
    whole = all(piece.marked for piece in side.pieces)
    text = Text()
    for piece in side.pieces:
        text.append(printable(piece.text), style=styles[piece.marked and not whole])
    return text
