"""What happens to an error nobody foresaw: its details go to a file, the person gets one sentence."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from lessonbook.core.errors import LessonbookError
from lessonbook.core.redact import redact
from lessonbook.core.version import __version__
from lessonbook.system import settings
from lessonbook.system.files import write_atomic


def report(error: Exception, words: Sequence[str]) -> str:
    """Keep the details of ``error`` and return the sentence that says where; never raises.

    With ``LESSONBOOK_DEBUG`` set the details are printed on standard error instead. Only the verb is kept of the
    command line: the rest may hold what a person would not want in a file.
    """
    details = redact("".join(traceback.format_exception(error))).text
    told = f"Something unexpected happened ({type(error).__name__})"
    if settings.debug_asked():
        sys.stderr.write(details)
        return f"{told}; the details are above."
    target = settings.places().state / "last-error.txt"
    try:
        text = f"lessonbook {__version__}, Python {sys.version.split()[0]}, verb {' '.join(words[:1])}\n{details}"
        write_atomic(target, text.encode("utf-8", "backslashreplace"), new_mode=0o600)
    except (LessonbookError, OSError):
        return f"{told}, and its details could not be written; run it again with LESSONBOOK_DEBUG=1 to see them."
    return f"{told}; the details are in {target}. Please report it with that file."
