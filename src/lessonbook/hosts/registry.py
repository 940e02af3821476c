"""Every verb of the command line and the module that answers it. Adding a verb is one module and one line here.

Modules are named, not imported: a verb costs nothing until it is asked for.
"""

from __future__ import annotations

VERBS: dict[str, str] = {}
"""Verb → the module with ``HELP`` (one line), ``configure(parser)`` and ``run(args) -> int``."""
