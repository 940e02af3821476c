"""The proposers we have: one line each. A proposer is made anew for every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lessonbook.proposers.repeats import Repeats

PROPOSERS: Mapping[str, Callable[[], Repeats]] = {"repeats": Repeats}
