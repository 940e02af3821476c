"""What telling takes with the ``hindsight`` backend, beside the same call on the local bank, the server up or down."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.learner import DOWN
from benchmarks.table import Row, in_turns

CALLS, TIMES = 100, 7
SLACK = 1.5
WORKER = [sys.executable, "-m", "benchmarks.learner"]


def run() -> list[Row]:
    """Measure the call of the tool in one process, with a server that answers, one that hangs and none."""
    rows = []
    for what, answers in (("server up", True), ("server hangs", False), ("server down", None)):
        with _server(answers) as url:
            ours, bank = in_turns(TIMES, partial(_told, f"hindsight={url}"), partial(_told, "mnemopi"))
        rows.append(Row(f"learn, hindsight, {what}: one lesson", ours, "the same on the bank", bank, at_most=SLACK))
    return rows


def _told(backend: str) -> float:
    """Seconds one lesson took, of ``CALLS`` told one after another by a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        command = [*WORKER, backend, place, "0", str(CALLS)]
        done = subprocess.run(command, input="go\n", capture_output=True, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
    return float(found["end"] - found["start"]) / CALLS


@contextmanager
def _server(answers: bool | None) -> Iterator[str]:
    """Give the address of a server that takes everything, of one that never answers, or one that nobody listens at."""
    if answers is None:
        yield DOWN
        return
    release = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            if not answers:
                release.wait(60)
            body = b'{"success": true, "status": "completed"}'
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    release.set()
    server.shutdown()
