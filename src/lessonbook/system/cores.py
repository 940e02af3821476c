"""Where many pieces of work are done side by side: here, on several cores, or on a cluster. One is chosen here.

Every kind takes the same function and gives its results in the order of the work, whatever was done first.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from lessonbook.core.errors import SetupError, reason
from lessonbook.system.ordered import in_order

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Work = TypeVar("Work")
Result = TypeVar("Result")

AUTO, ALL = "auto", "all"
WORTH = 48_000_000
"""Bytes of sessions from which on starting processes costs less than it gains.

As measured with two cores, where it costs 0.2 seconds: from 15 MB of Claude Code's on, and 70 MB of Ramabana's.
"""
EACH = 16_000_000
"""How many of them each process is started for."""
_IN_ONE = "`lessonbook config set propose.cores 1` reads sessions in one."
_ENDED = f"A process that read sessions ended before it was done, as where memory runs out: {_IN_ONE}"


_STARTING = threading.Lock()


class Runner(AbstractContextManager["Runner"], Protocol):
    """Does work while it is entered; left before the end, what is not done yet is dropped and what is running killed.

    ``map`` takes only little work ahead of its results, so that memory stays small. What ``function`` raises is raised.
    """

    here: bool
    """Whether work is done in this process, one after the other, when its result is asked for."""

    def map(self, function: Callable[[Work], Result], works: Iterable[Work]) -> Iterator[Result]:
        """Yield the result of each work, in order."""
        ...


class Here:
    """Does it in this process."""

    here = True

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, function: Callable[[Work], Result], works: Iterable[Work]) -> Iterator[Result]:
        """Yield the result of each work, in order."""
        return map(function, works)


class Cores:
    """Does it in ``count`` processes of this machine, which start with nothing of this one's but its modules."""

    here = False

    def __init__(self, count: int, load: tuple[str, ...] = ()) -> None:
        """``load`` names the modules the work needs: they are loaded once for all the processes."""
        self.count = count
        self._load = load
        self._processes: set[BaseProcess] = set()

    def __enter__(self) -> Cores:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        ways = get_context("forkserver")  # quick, and holds no lock, thread or open file of ours
        ways.set_forkserver_preload([__name__, *self._load])
        try:
            _start_server()
            self._pool = ProcessPoolExecutor(self.count, ways, _begin)
        except (OSError, ImportError, RuntimeError) as error:  # no semaphores, no more processes
            raise SetupError(f"Processes cannot be started here ({reason(error)}): {_IN_ONE}") from error
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:  # such as Ctrl-C: nobody wants the rest
            for process in self._processes:
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, function: Callable[[Work], Result], works: Iterable[Work]) -> Iterator[Result]:
        """Yield the result of each work, in order. Raises ``SetupError`` where a process was killed."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            yield from in_order(lambda work: self._start(function, work), works, 2 * self.count + 1)
        except BrokenProcessPool as error:
            raise SetupError(_ENDED) from error

    def _start(self, function: Callable[[Work], Result], work: Work) -> Callable[[], Result]:
        from multiprocessing import active_children

        if len(self._processes) >= self.count:
            return self._pool.submit(function, work).result
        try:
            # One that is just starting could not be ended yet.
            with _STARTING, _no_main(), _ctrl_c_later():
                before = set(active_children())
                wait = self._pool.submit(function, work).result
                self._processes |= set(active_children()) - before
            return wait
        except OSError as error:
            raise SetupError(f"Processes cannot be started here ({reason(error)}): {_IN_ONE}") from error


def _start_server() -> None:
    """Start what starts the processes, such that Ctrl-C never reaches it or them."""
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Put off Ctrl-C; in another thread than the main one, which alone hears of it, there is nothing to do."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda sign, _: pressed.append(sign))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def _no_main() -> Iterator[None]:
    """Hide the program that runs: a new process would run it again, whole where it has no guard against that."""
    ours = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = ours


def _begin() -> None:
    """Set up a process of ``Cores``: it ends when the one that started it does, whatever ended that."""
    import gc

    gc.set_threshold(100_000)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def available() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _on_cluster(address: str, load: tuple[str, ...]) -> Runner:
    from lessonbook.system.cluster import Cluster

    return Cluster(address)


def _on_cores(count: int, load: tuple[str, ...]) -> Runner:
    return Cores(count, load) if count > 1 else Here()


KINDS: Mapping[str, Callable[[Any, tuple[str, ...]], Runner]] = {"cores": _on_cores, "cluster": _on_cluster}
"""Where work can be done: one line each."""


def runner(cores: str | int, cluster: str, size: int, load: tuple[str, ...] = ()) -> Runner:
    """Return where work on ``size`` bytes is done: on the ``cluster`` where one is named, else on ``cores``.

    ``cores`` is a number, ``all``, or ``auto``: as many as the work is worth, this process alone for little. Raises
    ``SetupError`` when it is entered and the cluster cannot be used.
    """
    if cluster:
        return KINDS["cluster"](cluster, load)
    if cores == AUTO:
        count = min(available(), size // EACH) if size >= WORTH else 1
    else:
        count = available() if cores == ALL else int(cores)
    return KINDS["cores"](count, load)
