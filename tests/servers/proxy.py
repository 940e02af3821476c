"""A line to a server that can be held, cut, and made to lose what the server answers; on loopback."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Proxy:
    """Forwards every connection to a port of this machine, until it is told otherwise."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._open: list[socket.socket] = []
        self._is_held = threading.Event()
        self._is_mute = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self) -> None:
        """Take connections, and forward nothing."""
        self._is_held.set()

    def drop_answers(self) -> None:
        """Forward what is asked, and lose what is answered."""
        self._is_mute.set()

    def forward(self) -> None:
        """Be a line again, for new connections."""
        for line in self._open:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        self._is_held.clear()
        self._is_mute.clear()

    def end(self) -> None:
        self.forward()
        self._listening.close()
        for line in self._open:
            line.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(client)
            if self._is_held.is_set():
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            self._open.append(server)
            for source, target, mute in ((client, server, None), (server, client, self._is_mute)):
                threading.Thread(target=self._pump, args=(source, target, mute), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, mute: threading.Event | None) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if not (mute is not None and mute.is_set()):
                    target.sendall(data)
            target.shutdown(socket.SHUT_WR)
