"""lessonbook: what coding agents learned, reviewed by a person, briefed to the next session."""

from lessonbook.core.version import __version__

__all__ = ["__version__"]
