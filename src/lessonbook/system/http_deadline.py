"""How ``http`` keeps its deadline: connections that a timer can cut, and an opener that follows no redirect."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request
from typing import Any


class Cut:
    """Cuts every connection it was given once its time is up. Used as a context, which it ends with."""

    def __init__(self, seconds: float) -> None:
        self.made = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Cut:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def watch(self, connection: socket.socket) -> None:
        """Cut this connection too when the time is up, or now where it is up already."""
        with self._lock:
            self._sockets.append(connection)
            if self.made:
                _end(connection)

    def _cut(self) -> None:
        with self._lock:
            self.made = True
            for connection in self._sockets:
                _end(connection)


def _end(connection: socket.socket) -> None:
    try:
        # Not the TLS object's own shutdown, which may not be called while another thread reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:  # it has ended by itself
        pass


def opener(cut: Cut, *, direct: bool) -> urllib.request.OpenerDirector:
    """Return an opener whose connections ``cut`` ends and which hands a redirect back as the answer.

    With ``direct`` the environment's proxies are not used.
    """

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            cut.watch(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            cut.watch(self.sock)

    class OpenPlain(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Plain, req)

    class OpenSecure(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Secure, req)

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    proxies = [urllib.request.ProxyHandler({})] if direct else []
    return urllib.request.build_opener(OpenPlain, OpenSecure, Stay, *proxies)
