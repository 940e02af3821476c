"""Stands between us and an agent: starts it, and leaves nothing of it alive, whoever ends first.

Run as a program of its own (``python -I -S guard.py SECONDS WAYS PLACES WORD…``), with nothing of ours imported. It is
the parent of the agent and of everything whose parent ended before (on Linux), so what the agent started in another
session or process group is found, too. All is killed when the agent ends, at the deadline, when it is told to end, and
when the process that started it is gone, however that ended.

``WAYS`` is ``open``, or what may be reached from a network namespace of the agent's own, separated by commas: hosts
(and all below them), by a proxy at ``127.0.0.1:3128`` in there, and ports of this machine's loopback (``:8123``), which
answer there as they do here. Nothing else leads out. The proxy and the ports are served by the guard, outside.

``PLACES`` is ``anywhere``, or the folders and files that may be written to, separated by colons: the agent and all it
starts see everything else as a disk that nobody can write to (Linux 5.12 and later).
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

LATE, NO_NAMESPACE, NOT_THERE = 124, 125, 127
"""Exit codes of its own: the deadline passed, no namespace may be made, the program cannot be started."""
_SLICE = 0.05
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_NEW_USER, _NEW_NET, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x00020000
_BIND, _PRIVATE = 0x5000, 0x44000  # MS_BIND | MS_REC, MS_PRIVATE | MS_REC
_MOUNT_SETATTR, _HERE, _RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_KILLING = 10.0
PROXY = 3128
"""The port of the proxy, inside."""
_HEAD = 1 << 16
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def main(words: list[str]) -> int:
    """Guard one program; return its exit code, or one of ours."""
    seconds, ways, places, *program = words
    parent = os.getppid()
    told: list[int] = []
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, _: told.append(number))
    _adopt()
    until = time.monotonic() + float(seconds)
    try:
        child = _started(program, ways, None if places == "anywhere" else tuple(filter(None, places.split(":"))))
    except OSError as error:
        sys.stderr.write(f"{program[0]} cannot be started: {error.strerror}\n")
        return NOT_THERE
    except subprocess.SubprocessError:
        sys.stderr.write("this system lets nobody make a network namespace\n")
        return NO_NAMESPACE
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


def _started(program: list[str], ways: str, places: tuple[str, ...] | None) -> subprocess.Popen[bytes]:
    if ways != "open":
        return _fenced(program, [way for way in ways.split(",") if way], places)
    if places is None:
        return subprocess.Popen(program, start_new_session=True)
    return subprocess.Popen(program, start_new_session=True, preexec_fn=lambda: _alone(0, places))


def _fenced(program: list[str], ways: list[str], places: tuple[str, ...] | None) -> subprocess.Popen[bytes]:
    """Start a program in a network namespace with these ways out, and serve them."""
    ports = [int(way[1:]) for way in ways if way.startswith(":")]
    hosts = tuple(way.lower() for way in ways if not way.startswith(":"))
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    child = subprocess.Popen(
        program, start_new_session=True, preexec_fn=lambda: _enter(there, ports, bool(hosts), places)
    )
    _, handles, _, _ = socket.recv_fds(here, 1, len(ports) + 1)
    listening = [socket.socket(fileno=handle) for handle in handles]
    for server, port in zip(listening, ports, strict=False):
        _serve(server, partial(_forward, port))
    if hosts:
        _serve(listening[-1], partial(_proxy, hosts))
    return child


def _enter(there: socket.socket, ports: list[int], proxy: bool, places: tuple[str, ...] | None) -> None:
    """Between fork and exec: enter the namespace, listen there, and hand the listening sockets to those outside."""
    _alone(_NEW_NET, places)
    servers = [socket.create_server(("127.0.0.1", port)) for port in (*ports, *([PROXY] if proxy else []))]
    socket.send_fds(there, [b"."], [server.fileno() for server in servers])


def _alone(net: int, places: tuple[str, ...] | None) -> None:
    """Enter namespaces. Raises ``OSError``.

    With ``net``, one that has nothing but loopback; with ``places``, one where nothing else can be written to.
    """
    _unshare(_NEW_USER | net | (0 if places is None else _NEW_MOUNTS))
    if net:
        _loopback_up()
    if places is not None:
        _only(places)
        _unshare(_NEW_USER | _NEW_MOUNTS)  # in there nobody can take back what was made read-only out here


def _unshare(kinds: int) -> None:
    import ctypes

    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None, use_errno=True).unshare(kinds):
        raise OSError(ctypes.get_errno(), "no namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123  nothing is imported that need not be
            file.write(text)


def _only(places: tuple[str, ...]) -> None:
    """Let nothing be written to but these places, which become mounts of their own. Raises ``OSError``."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
    number, text, flags = ctypes.c_long, ctypes.c_char_p, ctypes.c_uint
    libc.syscall.argtypes = (number, ctypes.c_int, text, flags, text, ctypes.c_size_t)
    libc.syscall.restype = ctypes.c_long

    def done(code: int) -> None:
        if code:
            raise OSError(ctypes.get_errno(), "no mounts of its own")

    def writable(path: bytes, *, yes: bool, below: int = _RECURSIVE) -> None:
        asked = struct.pack("QQQQ", *((0, _READ_ONLY) if yes else (_READ_ONLY, 0)), 0, 0)
        done(libc.syscall(_MOUNT_SETATTR, _HERE, path, below, asked, len(asked)))

    here = os.getcwd()  # noqa: PTH109
    own = [os.fsencode(os.path.realpath(place)) for place in places if os.path.exists(place)]  # noqa: PTH110
    done(libc.mount(None, b"/", None, _PRIVATE, None))
    for path in own:
        done(libc.mount(path, path, None, _BIND, None))
    writable(b"/", yes=False)
    for path in own:
        writable(path, yes=True)
    writable(b"/proc", yes=True, below=0)  # it is no disk, and a namespace is set up by writing there
    os.chdir(here)  # where it stands is the same folder, by its new mount


def _loopback_up() -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(handle, 0x8914, request + b"\0" * 14)  # SIOCSIFFLAGS


def _serve(server: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    """Answer every connection in a thread of its own; what goes wrong in one ends that one."""

    def one(client: socket.socket) -> None:
        with client:
            try:
                answer(client)
            except (OSError, ValueError):
                pass

    def every() -> None:
        while True:
            client, _ = server.accept()
            threading.Thread(target=one, args=(client,), daemon=True).start()

    threading.Thread(target=every, daemon=True).start()


def _forward(port: int, client: socket.socket) -> None:
    _join(client, socket.create_connection(("127.0.0.1", port), 10))


def _proxy(hosts: tuple[str, ...], client: socket.socket) -> None:
    """Be an HTTP proxy for one connection: to hosts that are allowed, and to no other."""
    client.settimeout(60)
    data = b""
    while b"\r\n\r\n" not in data:
        part = client.recv(_HEAD)
        data += part
        if not part or len(data) > _HEAD:
            return
    method, target, rest = data.split(b" ", 2)
    tunnel = method == b"CONNECT"
    place, _, path = (target, b"", b"") if tunnel else target.removeprefix(b"http://").partition(b"/")
    host, _, port = place.decode("ascii").lower().rpartition(":") if b":" in place else (place.decode(), "", "80")
    if not any(host == own or host.endswith(f".{own}") for own in hosts):
        client.sendall(_REFUSED)
        return
    upstream = socket.create_connection((host, int(port)), 30)
    if tunnel:
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        upstream.sendall(b"%s /%s %s" % (method, path, rest))
    _join(client, upstream)


def _join(client: socket.socket, upstream: socket.socket) -> None:
    """Pass on what each says to the other, until both are done."""
    with upstream:
        client.settimeout(None)
        upstream.settimeout(None)
        back = threading.Thread(target=_pass, args=(upstream, client), daemon=True)
        back.start()
        _pass(client, upstream)
        back.join()


def _pass(source: socket.socket, target: socket.socket) -> None:
    try:
        while part := source.recv(_HEAD):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


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
