"""What a verb prints: plain text for people, one JSON document for programs, tables only on a terminal.

Text of lessons and candidates is somebody else's: control and hidden characters in it are shown as escapes, so that
it cannot move the cursor, colour the terminal or hide a word from the person who reviews it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from lessonbook.core.errors import StoreError, reason
from lessonbook.core.screen import printable
from lessonbook.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Out(Value):
    """Where one command's answer goes. ``json`` is whether a program asked."""

    json: bool = False

    @property
    def on_terminal(self) -> bool:
        """Whether a person looks at this answer, not a program or a pipe."""
        return not self.json and sys.stdout is not None and sys.stdout.isatty()

    def result(self, document: Mapping[str, Any], text: str) -> None:
        """Print the answer: ``document`` to a program, ``text`` to a person."""
        if self.json:
            _write(_as_json(document))
        else:
            self.text(text)

    def text(self, text: str) -> None:
        """Print text for a person; nothing for empty text."""
        if text:
            _write(printable(text))

    def table(
        self, document: Mapping[str, Any], head: Sequence[str], rows: Sequence[Sequence[str]], empty: str
    ) -> None:
        """Print rows: a table on a terminal, tab-separated lines in a pipe, ``empty`` where there are none."""
        if self.json or not rows:
            self.result(document, empty)
        elif self.on_terminal:
            _rich_table(head, rows)
        else:
            _write("\n".join("\t".join(_cell(cell) for cell in row) for row in rows))

    def lines(self, document: Mapping[str, Any], lines: Sequence[str]) -> None:
        """Print the lines of a file as they are, but for a terminal; ``document`` to a program that asked for one."""
        if self.json or self.on_terminal:
            self.result(document, "\n".join(lines))
        else:
            _write("\n".join(lines))

    def note(self, text: str) -> None:
        """Say something beside the answer, on standard error."""
        if sys.stderr is None:
            return
        try:
            sys.stderr.buffer.write(f"{printable(text)}\n".encode("utf-8", "backslashreplace"))
            sys.stderr.buffer.flush()
        except OSError:  # closed or full: the exit code still tells
            pass

    def error(self, sentence: str) -> None:
        """Say what went wrong: the JSON document a program waits for, or a sentence on standard error.

        A sentence may repeat what was typed, and what was typed may be a secret; terminals and agents keep what they
        are shown.
        """
        from lessonbook.core.redact import redact

        sentence = redact(sentence).text
        if self.json:
            try:
                _write(_as_json({"ok": False, "error": sentence}))
            except StoreError:  # a full disk: standard error is left
                self.note(f"lessonbook: {_cell(sentence)}")
        else:
            self.note(f"lessonbook: {_cell(sentence)}")

    @contextmanager
    def progress(self, what: str) -> Iterator[Any]:
        """Show progress of long work on standard error, on a terminal only; gives ``step(done, total, name)``."""
        if self.json or sys.stderr is None or not sys.stderr.isatty():
            yield lambda done, total, name="": None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total, name="": bar.update(
                task, completed=done, total=total, description=f"{what} {_cell(name)[-40:]}".replace("[", r"\[")
            )


def amount(number: int, what: str) -> str:
    """Return ``1 file`` or ``2,000 files``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _as_json(document: Mapping[str, Any]) -> str:
    import json  # people, who wait for it to load, never see it

    return json.dumps(document, ensure_ascii=False, indent=2, default=str)


def _cell(text: str) -> str:
    return printable(" ".join(text.split()))


def _write(text: str) -> None:
    """Print in UTF-8 whatever the locale says, as the files we keep are. Raises ``StoreError`` for a full disk."""
    data = f"{text}\n".encode("utf-8", "backslashreplace")
    if sys.stdout is None:  # closed by who called us: nobody wants the answer
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StoreError(f"The answer could not be written: {reason(error)}.") from error


def _rich_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for at, name in enumerate(head):
        table.add_column(name, overflow="fold", no_wrap=at == 0)  # the first is what a person copies
    for row in rows:
        table.add_row(*(Text(_cell(cell)) for cell in row))
    Console().print(table)
