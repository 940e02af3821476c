"""What the module of a verb offers. For type checkers only: nothing imports this while it runs."""

from __future__ import annotations

import argparse
from typing import Protocol

from lessonbook.hosts.cli.output import Out


class Module(Protocol):
    """One verb; where a common form of it needs no parser, it has ``plain(words)`` besides (see ``learned``)."""

    EXAMPLES: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments to its parser."""
        ...

    def run(self, args: argparse.Namespace, out: Out) -> int:
        """Do what was asked, print it, and return the exit code."""
        ...
