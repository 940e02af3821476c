"""Stands between us and an agent: starts it, and leaves nothing of it alive, whoever ends first.

Run as a program of its own (``python -I -S guard.py SECONDS NETWORK WORD…``), with nothing of ours imported. It is the
parent of the agent and of everything whose parent ended before (on Linux), so what the agent started in another
session or process group is found, too. All is killed when the agent ends, at the deadline, when it is told to end, and
when the process that started it is gone, however that ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

LATE, NO_NAMESPACE, NOT_THERE = 124, 125, 127
"""Exit codes of its own: the deadline passed, no network namespace may be made, the program cannot be started."""
_SLICE = 0.05
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_KILLING = 10.0


def main(words: list[str]) -> int:
    """Guard one program; return its exit code, or one of ours."""
    seconds, network, *program = words
    parent = os.getppid()
    told: list[int] = []
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, _: told.append(number))
    _adopt()
    if network == "none" and not _alone():
        sys.stderr.write("this system lets nobody make a network namespace\n")
        return NO_NAMESPACE
    until = time.monotonic() + float(seconds)
    try:
        child = subprocess.Popen(program, start_new_session=True)
    except OSError as error:
        sys.stderr.write(f"{program[0]} cannot be started: {error.strerror}\n")
        return NOT_THERE
    late = False
    try:
        while child.poll() is None and not told and os.getppid() == parent and not late:
            time.sleep(_SLICE)
            late = time.monotonic() > until
    finally:
        _end(child)
    if late:
        return LATE
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _adopt() -> None:
    """Become the parent of every process below us whose own parent ends; Linux only."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _alone() -> bool:
    """Enter a network namespace of our own that has nothing but loopback; say whether that was possible."""
    if sys.platform != "linux":
        return False
    import ctypes

    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER | _NEW_NET):
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123  nothing is imported that need not be
                file.write(text)
        _loopback_up()
    except OSError:
        return False
    return True


def _loopback_up() -> None:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(handle, 0x8914, request + b"\0" * 14)  # SIOCSIFFLAGS


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left below us, again and again until nothing is: killing takes longer than starting."""
    until = time.monotonic() + _KILLING
    while time.monotonic() < until:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        left = _below(os.getpid())
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        child.poll()
        _reap(child.pid)
        if not left and child.returncode is not None:
            return
        time.sleep(0.01)


def _reap(own: int) -> None:
    """Take the exit codes of those we adopted; the agent's own is taken where it is waited for."""
    for pid in _below(os.getpid()):
        if pid != own:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def _below(top: int) -> list[int]:
    """Return every process whose parents lead to ``top``."""
    parents = _parents()
    found, ring = list[int](), {top}
    while ring:
        ring = {pid for pid, parent in parents.items() if parent in ring}
        found += ring
    return found


def _parents() -> dict[int, int]:
    if sys.platform != "linux":
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=False).stdout.split()
        numbers = list(map(int, listed))
        return dict(zip(numbers[::2], numbers[1::2], strict=False))
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:  # it ended meanwhile
                pass
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
