"""The proposers we have: one line each. A proposer is made anew for every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lessonbook.core.ports import Proposer
from lessonbook.proposers.edited import Edited
from lessonbook.proposers.means import Means
from lessonbook.proposers.procedures import Procedures
from lessonbook.proposers.recorded import Recorded
from lessonbook.proposers.repeats import Repeats

PROPOSERS: Mapping[str, Callable[[Means], Proposer]] = {
    "repeats": lambda means: Repeats(),
    "procedures": lambda means: Procedures(),
    "recorded": lambda means: Recorded(),
    "edited": Edited,
}

ASKING = frozenset({"edited"})
"""Those that ask a model, and so cost money."""
