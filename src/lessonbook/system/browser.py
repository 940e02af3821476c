"""Opens an address in the person's browser, where they have one that opens a window of its own."""

from __future__ import annotations

import sys
from threading import Thread

from lessonbook.system.settings import environment


def open_soon(url: str) -> bool:
    """Open ``url`` without waiting for the browser; ``False`` where there is none that has a window.

    A browser of the terminal would take the terminal of whoever started us, so where nothing is displayed only the one
    that ``BROWSER`` names is opened.
    """
    env = environment()
    if not (env.get("BROWSER") or env.get("DISPLAY") or env.get("WAYLAND_DISPLAY") or sys.platform == "darwin"):
        return False
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    Thread(target=found.open, args=(url,), daemon=True).start()
    return True
