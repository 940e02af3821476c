"""How agents are run: what a guard ends, what is bounded, and what surrounds them."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lessonbook.core.agent_run import Apart, Network, Permission, Task
from lessonbook.core.errors import InputError, SetupError
from lessonbook.system.agents import guard, running
from lessonbook.system.agents.command import Command
from lessonbook.system.agents.registry import AGENTS, runner
from lessonbook.system.agents.running import can_fence, can_keep, run_agent, surroundings, ways_out
from lessonbook.system.night_settings import AgentSettings

WRITTEN = "until [ -s far ]; do sleep 0.05; done"


def task(tmp_path: Path, prompt: str = "Hello.", **more: object) -> Task:
    (tmp_path / "beside").mkdir(exist_ok=True)
    values = {"seconds": 20.0, "network": Network.OPEN} | more
    return Task(prompt, str(tmp_path), str(tmp_path / "beside"), "5f0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d", **values)  # type: ignore[arg-type]


def shell(script: str, *more: str) -> Command:
    return Command("mine", ["sh", "-c", script, *more], "claude", "", ())


def test_what_it_prints_is_its_answer(tmp_path: Path) -> None:
    ran = run_agent(shell("cat; pwd"), task(tmp_path, "A question.\n"))
    assert ran.problem is None
    assert ran.reply == f"A question.\n{tmp_path}"


def test_the_words_are_filled_in_once(tmp_path: Path) -> None:
    agent = shell('printf "%s|" "$@"', "sh", "{prompt}", "{folder}", "{session}", "{permission}", "{dollars}", "{x}")
    ran = run_agent(agent, task(tmp_path, "{folder} {session}", dollars=0.25))
    session = "5f0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d"
    assert ran.reply == f"{{folder}} {{session}}|{tmp_path}|{session}|edit|0.25|{{x}}|"
    assert agent.bounded


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo no; exit 3", "mine ended with exit code 3: no."),
        ("true", "mine did not finish."),
        ("""echo '{"result": "x", "is_error": true}'""", "mine did not finish: x."),
        ("""echo '{"result": " ", "is_error": false}'""", "mine did not finish."),
        ("kill -9 $$", "mine ended with exit code 137."),
        ("echo token ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6 >&2; exit 1", "mine ended with exit code 1: token [RE"),
    ],
)
def test_what_did_not_work_says_so_in_a_sentence(tmp_path: Path, script: str, problem: str) -> None:
    ran = run_agent(shell(script), task(tmp_path))
    assert ran.problem is not None and ran.problem.startswith(problem)


def test_at_the_deadline_all_it_started_dies(tmp_path: Path) -> None:
    script = "(setsid sh -c 'echo $$ > far; sleep 60' &); (sh -c 'echo $$ > near; sleep 60' &); sleep 60"
    started = time.monotonic()
    ran = run_agent(shell(script), task(tmp_path, seconds=3.0))
    assert ran.problem == "mine was not done within 3 seconds, and was ended."
    assert time.monotonic() - started < 20
    for name in ("near", "far"):
        assert not lives(int((tmp_path / name).read_text()))


def test_at_its_own_end_all_it_started_dies(tmp_path: Path) -> None:
    ran = run_agent(shell(f"(setsid sh -c 'echo $$ > far; sleep 60' &); {WRITTEN}; echo done"), task(tmp_path))
    assert ran.reply == "done"
    assert not lives(int((tmp_path / "far").read_text()))


def test_one_that_writes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"setsid sh -c 'echo $$ > far; exec sleep 60' & {WRITTEN}; yes"
    ran = run_agent(shell(script), task(tmp_path))
    assert ran.problem is not None and f"wrote more than {running.OUTPUT:,} bytes" in ran.problem
    assert not lives(int((tmp_path / "far").read_text()))


def test_one_that_is_not_there_is_a_matter_of_set_up(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"mine could not be run: no-such-agent cannot be started"):
        run_agent(Command("mine", ["no-such-agent"], "claude", "", ()), task(tmp_path))


def test_without_a_network_there_is_only_loopback(tmp_path: Path) -> None:
    look = "import socket; print(sorted(name for _, name in socket.if_nameindex()))"
    agent = Command("mine", [sys.executable, "-c", look], "claude", "", ())
    try:
        ran = run_agent(agent, task(tmp_path, network=Network.NONE))
    except SetupError as error:
        assert "network namespace" in str(error)
        pytest.skip("this system lets nobody make a network namespace")
    assert ran.reply == "['lo']"


def test_loopback_works_without_a_network(tmp_path: Path) -> None:
    look = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); "
        "c = socket.create_connection(s.getsockname(), 2); print('talks')"
    )
    agent = Command("mine", [sys.executable, "-c", look], "claude", "", ())
    try:
        assert run_agent(agent, task(tmp_path, network=Network.NONE)).reply == "talks"
    except SetupError:
        pytest.skip("this system lets nobody make a network namespace")


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_a_run_is_surrounded_by_nothing_that_leads_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_proxy: None
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://model.example.org:8443/v1")
    monkeypatch.setenv("GIT_DIR", "/somewhere")
    monkeypatch.setenv("CLAUDECODE", "1")
    asked = task(tmp_path, network=Network.MODEL)
    more = ("gate.example.org", "127.0.0.1:8123")
    env = surroundings(AGENTS["claude"](), asked, more)
    assert (env["PIP_NO_INDEX"], env["GIT_ALLOW_PROTOCOL"], env["GIT_CONFIG_GLOBAL"]) == ("1", "none", "/dev/null")
    assert "GIT_DIR" not in env and "CLAUDECODE" not in env
    assert "HTTPS_PROXY" not in surroundings(AGENTS["claude"](), task(tmp_path))
    if can_fence():
        assert env["HTTPS_PROXY"] == env["https_proxy"] == "http://127.0.0.1:3128"
        ways = ways_out(AGENTS["claude"](), asked, more)
        assert ways is not None
        assert ways[0] == ":8123" and {"anthropic.com", "model.example.org", "gate.example.org"} <= set(ways)
        assert not any(way in ways for way in ("127.0.0.1", "localhost"))
    else:
        assert env["HTTPS_PROXY"] == "http://127.0.0.1:9"
        assert {"127.0.0.1", "anthropic.com", "gate.example.org"} <= set(env["NO_PROXY"].split(","))


def test_a_proxy_of_the_persons_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_proxy: None) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example.org:3128")
    asked = task(tmp_path, network=Network.MODEL)
    env = surroundings(AGENTS["codex"](), asked)
    assert env["https_proxy"] == "http://proxy.example.org:3128"
    assert env["PIP_NO_INDEX"] == "1"
    assert ways_out(AGENTS["codex"](), asked) is None


@pytest.fixture
def model() -> Iterator[str]:
    """A server on this machine's loopback, as a model may be, as ``127.0.0.1:PORT``."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"{self.path} by {self.headers['Host']}".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


ASK = """
import sys, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url, timeout=5).read().decode())
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.mark.skipif(not can_fence(), reason="this system lets nobody make a network namespace")
def test_the_model_is_all_that_can_be_reached(tmp_path: Path, model: str, no_proxy: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        urls = [f"http://{model}/a", f"http://127.0.0.1:{other.getsockname()[1]}/b", "http://example.org/c"]
        agent = Command("mine", [sys.executable, "-c", ASK, *urls], "claude", "", ())
        ran = run_agent(agent, task(tmp_path, network=Network.MODEL), (model,))
    assert ran.reply.splitlines() == [f"/a by {model}", "URLError", "URLError"]


@pytest.mark.skipif(not can_fence(), reason="this system lets nobody make a network namespace")
def test_the_proxy_leads_to_the_models_hosts_and_to_no_other(model: str) -> None:
    port = model.split(":")[1]
    asked = [
        f"CONNECT other:{port} HTTP/1.1",
        f"CONNECT localhost:{port} HTTP/1.1",
        f"GET http://LOCALHOST:{port}/plain HTTP/1.0",
        f"CONNECT notlocalhost:{port} HTTP/1.1",
        f"CONNECT localhost.example.org:{port} HTTP/1.1",
        f"CONNECT 127.0.0.1:{port} HTTP/1.1",
        "nonsense",
    ]
    words = [
        sys.executable,
        "-I",
        "-S",
        guard.__file__,
        "20",
        "localhost",
        "anywhere",
        sys.executable,
        "-c",
        TUNNEL,
        *asked,
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    forbidden = "HTTP/1.1 403 Forbidden"
    assert done.stdout.splitlines() == [
        forbidden, "/in by tunnel", "/plain by model", forbidden, forbidden, forbidden, "nothing",
    ], done  # fmt: skip


TUNNEL = """
import socket, sys
END = bytes([13, 10])
for first in sys.argv[1:]:
    with socket.create_connection(("127.0.0.1", 3128), 5) as s:
        s.sendall(first.encode() + END + b"Host: model" + END + END)
        got = s.recv(4096)
        if first.startswith("CONNECT") and b" 200 " in got:
            s.sendall(b"GET /in HTTP/1.0" + END + b"Host: tunnel" + END + END)
            got = b""
        if b" 403 " not in got:
            got += b"".join(iter(lambda: s.recv(4096), b""))
        lines = got.decode().splitlines()
        print((lines[0] if b" 403 " in got else lines[-1]) if lines else "nothing")
"""


class Keeping(Command):
    """A command whose state is in the folder of the run."""

    links: tuple[tuple[str, str], ...] = ()
    writes: tuple[str, ...] = ()

    def apart(self, task: Task, env: Mapping[str, str]) -> Apart:
        return Apart(self.links, self.writes)


ONLY = pytest.mark.skipif(not can_keep(), reason="this system lets nobody keep writes to a folder")
TRY = """
for file in in ../work/in ../beside/in ../out ../../login /tmp/lessonbook-out; do echo x 2>&- >> $file; done
echo ok
"""


def kept(tmp_path: Path, network: Network) -> str:
    """Run a script that tries to write everywhere; return what it said."""
    for name in ("work", "beside"):
        (tmp_path / "run" / name).mkdir(parents=True)
    (tmp_path / "login").write_text("x\n")
    agent = Keeping("mine", ["sh", "-c", TRY.replace("../out", "../../out")], "claude", "", ())
    agent.links = ((str(tmp_path / "run/beside/settings"), str(tmp_path / "login")),)
    agent.writes = (str(tmp_path / "login"), str(tmp_path / "absent"))
    asked = Task("p", str(tmp_path / "run/work"), str(tmp_path / "run/beside"), "id", seconds=20.0, network=network)
    return run_agent(agent, asked).reply


@ONLY
@pytest.mark.parametrize("network", [Network.OPEN, Network.NONE])
def test_writes_are_kept_to_the_folder_of_the_run(tmp_path: Path, network: Network) -> None:
    assert kept(tmp_path, network) == "ok"
    run = tmp_path / "run"
    assert (run / "work/in").read_text() == "x\nx\n" and (run / "beside/in").read_text() == "x\n"
    assert (run / "beside/settings").readlink() == tmp_path / "login"
    assert (tmp_path / "login").read_text() == "x\nx\n", "its login is where it was, and can be renewed"
    assert not (tmp_path / "out").exists() and not Path("/tmp/lessonbook-out").exists()


@ONLY
def test_what_is_kept_to_a_folder_cannot_free_itself(tmp_path: Path) -> None:
    script = (
        "mount -o remount,rw,bind / 2>&-; mount -o remount,rw / 2>&-; umount -l . 2>&-; echo x 2>&- > ../out; echo ok"
    )
    agent = Keeping("mine", ["sh", "-c", script], "claude", "", ())
    (tmp_path / "work").mkdir()
    (tmp_path / "work/beside").mkdir()
    asked = Task("p", str(tmp_path / "work"), str(tmp_path / "work/beside"), "id", seconds=20.0, network=Network.OPEN)
    assert run_agent(agent, asked).reply == "ok"
    assert not (tmp_path / "out").exists()


@ONLY
def test_a_person_says_what_an_agent_may_write_to(tmp_path: Path) -> None:
    for name in ("work", "work/beside", "own"):
        (tmp_path / name).mkdir()
    words = ("sh", "-c", "echo x > in; echo x > ../own/in; echo x 2>&- > ../out; echo ok")
    agent = runner("mine", AgentSettings(words, reader="claude", writes=(str(tmp_path / "own"),)))
    asked = Task("p", str(tmp_path / "work"), str(tmp_path / "work/beside"), "id", seconds=20.0, network=Network.OPEN)
    assert run_agent(agent, asked).reply == "ok"
    assert (tmp_path / "work/in").exists() and (tmp_path / "own/in").exists() and not (tmp_path / "out").exists()


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    agent = runner("mine", AgentSettings(("true",), reader="claude", writes=("/a:b",)))
    with pytest.raises(SetupError, match=r"agents\.mine\.writes names: .*a:b holds a colon"):
        run_agent(agent, task(tmp_path))


def test_omp_has_its_state_in_the_run_and_its_login_where_it_is(home: Path, tmp_path: Path) -> None:
    own, asked = home / ".omp/agent", task(tmp_path)
    own.mkdir(parents=True)
    (own / "models.yml").write_text("{}")
    (own / "sessions").mkdir()
    apart = AGENTS["omp"]().apart(asked, {})
    env = AGENTS["omp"]().environment(asked)
    agent = env["PI_CODING_AGENT_DIR"]
    assert apart == Apart(((f"{agent}/models.yml", str(own / "models.yml")),))
    assert (home / env["PI_CONFIG_DIR"]).resolve() == tmp_path / "beside/omp"
    (own / "agent.db").write_text("")
    apart = AGENTS["omp"]().apart(asked, {})
    assert (
        apart is not None
        and apart.writes == (str(own),)
        and (f"{agent}/agent.db", str(own / "agent.db")) in apart.links
    )
    for name, folder in (("OMP_PROFILE", ".omp/profiles/x/agent"), ("XDG_DATA_HOME", "data/omp")):
        (home / folder).mkdir(parents=True)
        (home / folder / "agent.db").write_text("")
        env = {name: "x" if name == "OMP_PROFILE" else str(home / "data")}
        apart = AGENTS["omp"]().apart(asked, env)
        assert apart is not None and apart.writes == (str(home / folder),)


def test_hermes_has_its_state_in_the_run_and_its_login_where_it_is(home: Path, tmp_path: Path) -> None:
    own, asked = home / ".hermes", task(tmp_path)
    own.mkdir()
    for name in ("config.yaml", "auth.json", "state.db"):
        (own / name).write_text("")
    apart = AGENTS["hermes"]().apart(asked, {})
    mine = AGENTS["hermes"]().environment(asked)["HERMES_HOME"]
    assert mine.startswith(str(tmp_path / "beside"))
    assert apart == Apart(
        ((f"{mine}/config.yaml", str(own / "config.yaml")), (f"{mine}/auth.json", str(own / "auth.json"))),
        (str(own / "auth.json"),),
    )
    assert AGENTS["hermes"]().apart(asked, {"HERMES_HOME": str(tmp_path)}) == Apart()


def test_a_name_that_is_no_agent_needs_a_command() -> None:
    with pytest.raises(SetupError, match=r"there is no agent 'mine' that can be run: say one of claude, codex"):
        runner("mine", AgentSettings())
    assert runner("mine", AgentSettings(command=("x",), reader="codex")).reader == "codex"
    own = runner("claude", AgentSettings(command=("/opt/claude",), args=("--debug",)))
    words = list(own.words(Task("p", "/f", "/s", "id")))
    assert (words[0], words[-1]) == ("/opt/claude", "--debug")


def test_a_permission_an_agent_cannot_keep_is_refused() -> None:
    with pytest.raises(InputError, match=r"hermes cannot be kept to 'read'; it can to edit, shell"):
        AGENTS["hermes"]().words(Task("p", "/f", "/s", "id", permission=Permission.READ))


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
