"""A real Dask cluster of two processes on loopback: the same function, the same result, and what is said otherwise."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.actions.test_noted import history, noted, one_after_the_other
from tests.actions.test_sessions import filled
from tests.conftest import Run

from lessonbook.core.errors import SetupError
from lessonbook.system.cluster import Cluster

LOCAL = """
import os, sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a cluster listens, which ends with this module's tests."""
    pytest.importorskip("distributed", reason="needs the extra cluster")
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "local.py").write_text(LOCAL)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(folder), "DASK_CONFIG": str(folder)}
    command = [sys.executable, str(folder / "local.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, env=env, stdin=pipe, stdout=pipe, text=True) as started:
        assert started.stdin is not None and started.stdout is not None
        yield started.stdout.readline().strip()
        started.stdin.close()


@pytest.mark.slow
def test_it_comes_to_the_same(address: str, tmp_path: Path) -> None:
    filled(tmp_path, "please fix it")
    large = tmp_path / ".config/ramabana/old-history.jsonl"
    large.write_bytes(b"\n".join(history(20, 4)) + b"\n")
    plain = one_after_the_other([tmp_path])
    with Cluster(address) as cluster:
        assert noted([tmp_path], cluster, 2_000) == plain
        assert list(cluster.map(len, ["a", "bb"])) == [1, 2]


@pytest.mark.slow
def test_what_the_work_raises_is_raised(address: str) -> None:
    with Cluster(address) as cluster, pytest.raises(ValueError, match="invalid literal"):
        list(cluster.map(int, ["1", "no number"]))


@pytest.mark.slow
def test_a_command_uses_the_one_that_is_configured(address: str, run: Run, home: Path) -> None:
    filled(home, "please fix it")
    plain = run("findings", "--json")
    assert run("config", "set", "propose.cluster", address).returncode == 0
    assert run("findings", "--json").stdout == plain.stdout
    assert run("propose", "--dry-run").returncode == 0


def test_an_address_that_does_not_answer_is_said() -> None:
    pytest.importorskip("distributed", reason="needs the extra cluster")
    with socket.create_server(("127.0.0.1", 0)) as there:
        port = there.getsockname()[1]
    with (
        pytest.raises(SetupError, match=f"No Dask scheduler answers at tcp://127.0.0.1:{port}"),
        Cluster(f"tcp://127.0.0.1:{port}"),
    ):
        pass


@pytest.mark.parametrize(
    "address", ["127.0.0.1:8786", "tcp://", "tcp://127.0.0.1", "http://127.0.0.1:8786", "tls://x:y"]
)
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(SetupError, match="is an address such as"), Cluster(address):
        pass


@pytest.mark.parametrize("host", ["scheduler.example.org", "192.0.2.7", "[2001:db8::7]", "0.0.0.0"])
def test_parts_of_sessions_go_to_no_other_machine_unencrypted(host: str) -> None:
    with pytest.raises(SetupError, match="unencrypted; use tls://"), Cluster(f"tcp://{host}:8786"):
        pass


def test_without_the_extra_it_says_what_to_install(run: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "distributed").mkdir(parents=True)
    (tmp_path / "hidden" / "distributed" / "__init__.py").write_text("raise ImportError('not installed')")
    filled(home, "please fix it")
    assert run("config", "set", "propose.cluster", "tcp://127.0.0.1:8786").returncode == 0
    path = os.pathsep.join([str(tmp_path / "hidden"), *sys.path])
    told = run("findings", env={"PYTHONPATH": path})
    assert told.returncode == 4
    assert told.stderr.count("\n") == 1 and "pip install 'lessonbook[cluster]'" in told.stderr
