"""A Dask cluster that does our work: the scheduler's address comes from the configuration. Extra ``cluster``."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

from lessonbook.core.errors import SetupError
from lessonbook.core.version import __version__
from lessonbook.system.loopback import is_loopback
from lessonbook.system.ordered import in_order

Work = TypeVar("Work")
Result = TypeVar("Result")

_SECONDS = 10
_AHEAD = 3
"""Works a worker is given at a time, so that it never waits for the next."""


class Cluster:
    """Does it on the workers of a Dask scheduler, which see the same files under the same names."""

    here = False

    def __init__(self, address: str) -> None:
        """``address`` is as Dask writes it: ``tcp://127.0.0.1:8786``, ``tls://scheduler:8786``."""
        self.address = address

    def __enter__(self) -> Cluster:
        where = checked(self.address)
        try:
            from distributed import Client
        except ImportError as error:
            raise SetupError(
                f"propose.cluster names {self.address}, which needs the extra: pip install 'lessonbook[cluster]'."
            ) from error
        with ExitStack() as opened:
            try:
                socket.create_connection(where, _SECONDS).close()  # Dask itself would go on trying
                self._client: Any = Client(self.address, timeout=_SECONDS, set_as_default=False)
            except TypeError as error:
                raise SetupError(f"Dask has no certificate for {self.address}: set distributed.comm.tls.") from error
            except (OSError, OverflowError, ValueError, RuntimeError) as error:
                raise SetupError(f"No Dask scheduler answers at {self.address} (propose.cluster).") from error
            opened.callback(self._client.close)
            self._workers = self._look()
            opened.pop_all()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._client.close()

    def map(self, function: Callable[[Work], Result], works: Iterable[Work]) -> Iterator[Result]:
        """Yield the result of each work, in order. Raises ``SetupError`` where the cluster is lost."""
        from distributed import CancelledError, KilledWorker

        try:
            yield from in_order(lambda work: self._start(function, work), works, _AHEAD * self._workers)
        except (CancelledError, KilledWorker, OSError, TimeoutError) as error:
            raise SetupError(f"The Dask cluster at {self.address} ended before the work was done.") from error

    def _start(self, function: Callable[[Work], Result], work: Work) -> Callable[[], Result]:
        wait: Callable[[], Result] = self._client.submit(function, work, pure=False).result
        return wait

    def _look(self) -> int:
        """Return how many threads do work there. Raises ``SetupError`` where none does, or not with this version."""
        threads = self._client.nthreads()
        if not threads:
            raise SetupError(f"The Dask cluster at {self.address} has no workers.")
        try:
            found = set(self._client.run(_version).values())
        except Exception as error:  # whatever a worker raises that does not have what it is sent
            raise SetupError(f"The workers of {self.address} need lessonbook {__version__} installed.") from error
        if found != {__version__}:
            other = ", ".join(sorted(found - {__version__}))
            raise SetupError(f"The workers of {self.address} need lessonbook {__version__}; they have {other}.")
        return sum(threads.values())


def _version() -> str:
    return __version__


def checked(address: str) -> tuple[str, int]:
    """Return the host and the port. Raises ``SetupError`` for what would carry parts of sessions for all to read."""
    scheme, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    host = host.strip("[]")
    if scheme not in ("tcp", "tls") or not host or not re.fullmatch("[0-9]{1,5}", port):
        raise SetupError(f"propose.cluster is an address such as tls://scheduler.example.org:8786, not {address!r}.")
    if scheme == "tcp" and host != "localhost" and not is_loopback(host):
        raise SetupError(
            f"propose.cluster: parts of sessions would go to {host} unencrypted; use tls://, as Dask is set up for it."
        )
    return host, int(port)
