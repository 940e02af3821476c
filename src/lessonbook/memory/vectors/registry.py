"""Opens the embedder of this machine. A new one is one module, and one line here."""

from __future__ import annotations

from collections.abc import Callable

from lessonbook.memory.vectors.wordllama import open_wordllama

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.memory.vectors.embedder import Embedder

EMBEDDERS: dict[str, Callable[[], Embedder | None]] = {"wordllama": open_wordllama}
"""By name, the first that is installed is used; each returns ``None`` where it is not."""


def open_embedder() -> Embedder | None:
    """Return the embedder that is installed here; ``None`` where the extra ``vectors`` is not. Loads nothing yet."""
    return next((found for found in (opener() for opener in EMBEDDERS.values()) if found is not None), None)
