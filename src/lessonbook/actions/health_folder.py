"""What health keeps in the state folder, below ``health/``: what was seen, what a person decided, drafts, measures.

Decisions are a person's and stand in a file of their own; what can be made anew stands in another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lessonbook.core.defects import Checked, Decision, as_document, decisions_of
from lessonbook.core.errors import StoreError
from lessonbook.core.growth import Measure, measures_document, measures_of
from lessonbook.system import files
from lessonbook.system.locks import locked

_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class HealthFolder:
    """The files of health in one state folder."""

    state: Path

    @property
    def top(self) -> Path:
        """Where everything about health lies."""
        return self.state / "health"

    @property
    def seen(self) -> Path:
        """The database of what was read and met."""
        return self.top / "seen.db"

    @property
    def drafts(self) -> Path:
        """The folder of drafts."""
        return self.top / "drafts"

    def draft(self, id: str) -> Path:
        """The draft of one defect."""
        return self.drafts / f"{id}.md"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold what is written here alone. Raises ``BusyError`` where another program holds it too long."""
        files.make_folder(self.top)
        with locked(self.top / ".lock", wait=_WAIT):
            yield

    def decisions(self) -> dict[str, tuple[Decision, ...]]:
        """Return what was decided about each defect, the last decision last.

        Raises ``StoreError`` where the file is not as we write it: what a person decided is not written over.
        """
        path = self.top / "decisions.json"
        try:
            return decisions_of(json.loads(files.read_bytes(path) or b"{}"))
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{path} is not as it was written; mend it, or remove it and decide again.") from error

    def keep_decisions(self, decided: Mapping[str, Sequence[Decision]]) -> None:
        """Write all decisions, whole. Raises ``StoreError``."""
        _write(self.top / "decisions.json", as_document(decided))

    def measures(self, now: float) -> list[Measure]:
        """Return the measures of the last nights, the oldest first; none that is yet to come: some clock was wrong."""
        return [one for one in measures_of(_read(self.top / "measures.json")) if one.at <= now]

    def keep_measures(self, measures: Sequence[Measure]) -> None:
        """Write the last measures. Raises ``StoreError``."""
        _write(self.top / "measures.json", measures_document(measures))

    def checked(self) -> dict[str, Checked]:
        """Return what the last run of each check came to."""
        found = _read(self.top / "checks.json")
        told = {}
        for id, row in found.items() if isinstance(found, dict) else ():
            try:
                told[str(id)] = Checked(float(row["at"]), str(row["why"]))
            except (KeyError, TypeError, ValueError, OverflowError):
                continue
        return told

    def keep_checked(self, checked: Mapping[str, Checked]) -> None:
        """Write what the last run of each check came to. Raises ``StoreError``."""
        _write(self.top / "checks.json", {id: asdict(one) for id, one in checked.items()})


def _read(path: Path) -> Any:
    try:
        return json.loads(files.read_bytes(path) or b"{}")
    except (ValueError, RecursionError):
        return {}


def _write(path: Path, document: object) -> None:
    files.remove_leftovers(path)
    data = json.dumps(document, ensure_ascii=False, indent=1)
    files.write_atomic(path, f"{data}\n".encode("utf-8", "replace"), new_mode=0o600)
