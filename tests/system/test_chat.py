"""Both doors to a model, against a real server on loopback and real commands."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.errors import LessonbookError, ModelError, SetupError
from lessonbook.core.ports import Reply
from lessonbook.system.chat import LOG, ask, ask_editor
from lessonbook.system.http import ANSWER, check_address
from lessonbook.system.settings import Editor, parse, places

SECRET = "sk-" + "Zq9x" * 10


def answered(text: Any, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}], **more}).encode()


class Service:
    """A server that answers each request with ``act`` and remembers it."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.act: Callable[[BaseHTTPRequestHandler], None] = self.plainly(200, answered("hello"))
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.seen.append((self.path, dict(self.headers), json.loads(body)))
                try:
                    service.act(self)
                except OSError:  # the other side has hung up, which some tests are about
                    pass

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def plainly(self, status: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
        def act(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)

        return act

    def says(self, status: int, body: bytes, **headers: str) -> None:
        self.act = self.plainly(status, body, **headers)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def editor(service: Service, monkeypatch: pytest.MonkeyPatch) -> Editor:
    monkeypatch.setenv("MY_KEY", SECRET)
    return Editor(url=service.url, model="small", key_env="MY_KEY", timeout=10)


def why(editor: Editor) -> str:
    with pytest.raises(LessonbookError) as error:
        ask(editor, "a prompt")
    text = str(error.value)
    assert SECRET not in text and "\n" not in text and len(text) < 500
    return text


def test_one_turn_at_an_address(service: Service, editor: Editor) -> None:
    service.says(200, answered("hé\n", usage={"prompt_tokens": 7, "completion_tokens": 2, "cost": 0.25}))
    assert ask(editor, "Ask é \ud800.") == Reply("hé\n", 7, 2, 0.25)
    path, headers, body = service.seen[0]
    assert path == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {SECRET}"
    assert body == {"model": "small", "messages": [{"role": "user", "content": "Ask é \ud800."}]}
    ask(Editor(url=service.url + "/chat/completions/", model="small"), "x")
    assert service.seen[1][0] == "/v1/chat/completions" and "Authorization" not in service.seen[1][1]


@pytest.mark.parametrize(
    "usage", [None, [], {"prompt_tokens": "7", "completion_tokens": -1, "cost": True}, {"cost": 1e999}]
)
def test_odd_counts_are_left_out(service: Service, editor: Editor, usage: Any) -> None:
    service.says(200, answered("x", usage=usage))
    assert ask(editor, "x") == Reply("x")


def test_a_redirect_carries_the_key_nowhere(service: Service, editor: Editor) -> None:
    other = Service()
    try:
        for status in (301, 302, 303, 307, 308):
            service.says(status, b"", Location=f"{other.url}/chat/completions?x=1")
            assert "redirects to http://127.0.0.1, which is not followed" in why(editor)
        assert other.seen == [] and len(service.seen) == 5
    finally:
        other.server.shutdown()
        other.server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (
            401,
            {"error": {"message": f"Incorrect key: {SECRET}"}},
            "answered 401: Incorrect key: [REDACTED] (the key is taken from MY_KEY).",
        ),
        (
            404,
            {"error": "model 'small' not found"},
            "answered 404: model 'small' not found (editor.url must be the base",
        ),
        (429, {"message": "slow down"}, "answered 429: slow down."),
        (500, "<html>oops</html>", "answered 500."),
        (503, "", "answered 503."),
        (204, "", "answered 204."),
    ],
)
def test_each_status_is_one_sentence(service: Service, editor: Editor, status: int, body: Any, told: str) -> None:
    service.says(status, (body if isinstance(body, str) else json.dumps(body)).encode())
    assert told in why(editor)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>welcome</html>", "not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "without a message"),
        (b"[]", "without a message"),
        (b'{"choices": []}', "without a message"),
        (b'{"choices": [{"message": null}]}', "without a message"),
        (answered(None), "gave an empty answer"),
        (answered(" \n"), "gave an empty answer"),
        (
            json.dumps({"choices": [{"message": {"content": "ha"}, "finish_reason": "length"}]}).encode(),
            "before the end",
        ),
    ],
)
def test_each_odd_answer_is_one_sentence(service: Service, editor: Editor, body: bytes, told: str) -> None:
    service.says(200, body)
    assert told in why(editor)


def test_the_deadline_holds_for_all_of_a_slow_answer(service: Service, editor: Editor) -> None:
    over = threading.Event()

    def drips(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not over.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    def drips_headers(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not over.wait(0.05):
            handler.wfile.write(b"a")
            handler.wfile.flush()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        over.wait(30)

    hurried = Editor(url=editor.url, model="small", timeout=0.4)
    for act in (drips, drips_headers, silent):
        service.act = act
        started = time.monotonic()
        assert "did not answer within 0.4 seconds" in why(hurried)
        assert time.monotonic() - started < 10
    over.set()


def test_an_answer_without_end_is_bounded(service: Service, editor: Editor) -> None:
    def floods(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(ANSWER // 65536 + 10):
            handler.wfile.write(b"x" * 65536)

    service.act = floods
    assert f"more than {ANSWER:,} bytes" in why(editor)


def test_an_answer_that_breaks_off_or_is_no_http(service: Service, editor: Editor) -> None:
    def breaks(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")

    service.act = breaks
    assert "broke off in the middle" in why(editor)
    service.act = lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n\r\n")  # type: ignore[assignment, return-value]
    assert "cannot be reached" in why(editor)


def test_an_https_address_where_nobody_speaks_it(service: Service) -> None:
    text = why(Editor(url=service.url.replace("http:", "https:"), model="m", timeout=10))
    assert "cannot be reached" in text and service.seen == []


def test_nobody_there_is_one_sentence() -> None:
    assert "127.0.0.1:9 cannot be reached" in why(Editor(url="http://127.0.0.1:9/v1", model="m"))


def test_a_proxy_is_not_used_for_this_machine(
    service: Service, editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(editor, "x").text == "hello"


@pytest.mark.parametrize("value", [None, "", "  ", "two\nlines", "schlüssel"])
def test_a_key_that_is_not_there_or_no_key_is_told_before_anything_is_sent(
    service: Service, editor: Editor, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("MY_KEY") if value is None else monkeypatch.setenv("MY_KEY", value)
    assert "MY_KEY" in why(editor) and service.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "localhost:11434",
        "http://",
        "http://u:p@127.0.0.1/v1",
        "http://x/?k=1",
        "http://x/#a",
        "http://a b/",
        "http://x:99999999/",
        "http://[::1/",
        "ftp://x",
        "http://x/\r\nA: b",
    ],
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(SetupError, match=r"editor\.url must be"):
        check_address(url, "editor.url")


# --- the command ----------------------------------------------------------------------------------------------------


def command(code: str, timeout: float = 20) -> Editor:
    return Editor(command=(sys.executable, "-c", code), timeout=timeout)


def test_a_command_reads_the_prompt_and_its_output_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_HOME", "/somewhere")
    code = "import os,sys; print(sys.stdin.read()[::-1], os.environ['AGENT_HOME'], os.listdir('.'))"
    assert ask(command(code), "abc é").text == "é cba /somewhere []\n"
    with_names = "import os; print(sorted(k for k in os.environ if k != 'LC_CTYPE'))"
    assert ask(command(with_names), "x").text == f"{sorted(k for k in os.environ if k != 'LC_CTYPE')}\n"


def test_the_json_that_agents_print_is_understood() -> None:
    told = {"type": "result", "is_error": False, "result": "short", "total_cost_usd": 0.5,
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 9}}  # fmt: skip
    assert ask(command(f"print('''{json.dumps(told)}''')"), "x") == Reply("short", 7, 9, 0.5)
    assert ask(command('print(\'{"result": "a", "usage": 3}\')'), "x") == Reply("a")
    for text in ("{not json", '{"other": 1}', "[1]"):
        assert ask(command(f"print({text!r}, end='')"), "x") == Reply(text)
    told["is_error"], told["result"] = True, f"no credit\nfor {SECRET}"
    assert "answered with an error: for [REDACTED]" in why(command(f"import json; print(json.dumps({told!r}))"))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("pass", "gave an empty answer"),
        ("print()", "gave an empty answer"),
        (
            f"import sys; print('half'); sys.exit('first\\nlog in again, {SECRET}\\n')",
            "exit code 1: log in again, [REDACTED]",
        ),
        ("print('not logged in'); raise SystemExit(3)", "exit code 3: not logged in."),
        ("import os; os.kill(os.getpid(), 15)", "was ended by signal 15."),
        ("import sys; sys.stderr.write('\\x1b[31mred\\x1b[0m <b>\\n'); sys.exit(2)", "exit code 2: red b."),
    ],
)
def test_each_failure_of_a_command_is_one_sentence(code: str, told: str) -> None:
    assert told in why(command(code))


def test_a_command_that_is_missing_or_late(tmp_path: Path) -> None:
    assert "'no-such-agent' is not there" in why(Editor(command=("no-such-agent", "-p")))
    assert "did not answer within 0.2 seconds" in why(command("import time; time.sleep(60)", timeout=0.2))


def test_the_folder_it_runs_in_is_gone_afterwards() -> None:
    where = ask(command("import os; open('left', 'w').close(); print(os.getcwd())"), "x").text.strip()
    assert where != str(Path.cwd()) and not Path(where).exists()


# --- configured -----------------------------------------------------------------------------------------------------


def configure(text: str) -> None:
    path = places().config_file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_none_configured_says_what_to_write_where() -> None:
    with pytest.raises(SetupError, match=r"needs an editor model: put `\[editor\]` into .*config\.toml"):
        ask_editor("x", places(), "compact")
    assert not (places().state / LOG).exists()


def test_what_a_turn_took_is_one_line_without_its_words(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    configure(f'[editor]\nurl = "{service.url}"\nmodel = "small"\nkey_env = "MY_KEY"\ntimeout = 5\n')
    service.says(200, answered("the answer", usage={"prompt_tokens": 7, "completion_tokens": 2, "cost": 0.25}))
    assert ask_editor("the prompt", places(), "compact").text == "the answer"
    service.says(500, b"")
    with pytest.raises(ModelError):
        ask_editor("the prompt", places(), "compact")
    log = places().state / LOG
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["ok"] for row in rows] == [True, False] and stat.S_IMODE(log.stat().st_mode) == 0o600
    first = {key: rows[0][key] for key in ("purpose", "door", "model", "tokens_in", "tokens_out", "cost")}
    assert first == {
        "purpose": "compact",
        "door": "url",
        "model": "small",
        "tokens_in": 7,
        "tokens_out": 2,
        "cost": 0.25,
    }
    assert abs(rows[0]["at"] - time.time()) < 60
    assert not [word for word in (SECRET, "the prompt", "the answer") if word in log.read_text()]


def test_an_answer_is_not_lost_because_the_log_cannot_be_written() -> None:
    configure(f"[editor]\ncommand = [{sys.executable!r}, '-c', 'print(1)']\n")
    (places().state / LOG).mkdir(parents=True)
    assert ask_editor("x", places(), "compact") == Reply("1\n")


def test_the_settings_of_an_editor() -> None:
    where = places()
    assert parse({}, where).editor is None and parse({"editor": {}}, where).editor is None
    assert parse({"editor": {"command": ["claude", "-p"]}}, where).editor == Editor(command=("claude", "-p"))
    made = parse({"editor": {"url": "http://x/v1", "model": "m", "key_env": "K", "timeout": 1}}, where).editor
    assert made == Editor(url="http://x/v1", model="m", key_env="K", timeout=1.0)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("claude -p", "editor must be a table"),
        ({"command": "claude -p"}, "must be a list of words"),
        ({"command": ["claude", 1]}, "must be a list of words"),
        ({"command": [""]}, "must be a list of words"),
        ({"command": [], "model": "m"}, "either command or url"),
        ({"command": ["x"], "url": "http://x", "model": "m"}, "not both"),
        ({"url": "http://x"}, "editor.model must name"),
        ({"command": ["x"], "model": "m"}, "belong to editor.url"),
        ({"command": ["x"], "key_env": "K"}, "belong to editor.url"),
        ({"url": 5, "model": "m"}, "editor.url must be text"),
        ({"command": ["x"], "timeout": "5"}, "editor.timeout must be"),
        ({"command": ["x"], "timeout": True}, "editor.timeout must be"),
        ({"command": ["x"], "timeout": 0}, "editor.timeout must be"),
        ({"command": ["x"], "timeout": 1e9}, "editor.timeout must be"),
        ({"command": ["x"], "timeout": float("nan")}, "editor.timeout must be"),
    ],
)
def test_wrong_settings_are_named(table: Any, told: str) -> None:
    with pytest.raises(SetupError, match=told.replace(".", r"\.")):
        parse({"editor": table}, places())


def test_the_whole_way_from_the_configuration_to_a_candidate(tmp_path: Path) -> None:
    import subprocess

    from lessonbook import learned

    folder = tmp_path / "learned"
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@x",
           "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@x"}  # fmt: skip

    def git(*args: str) -> None:
        subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True, env=env)

    folder.mkdir()
    git("init", "-q")
    (folder / "AGENTS.md").write_text("Read sizes with ls. " * 20 + "\n")
    git("add", "-A")
    git("commit", "-q", "-m", "Lesson from a replay: sizes")
    assert "needs an editor model" in learned.learned_command(folder, "compact")
    code = "import sys; sys.exit(0 if '<rules>' in sys.stdin.read() and not print('Sizes: ls.') else 1)"
    configure(f'[editor]\ncommand = ["{sys.executable}", "-c", "{code}"]\n')
    text = learned.learned_command(folder, "compact")
    id = learned.pending(folder)[0]["id"]
    assert text == f"proposed {id}: AGENTS.md goes from 401 to 11 characters; see it with /learned diff {id}"
    assert "+Sizes: ls." in learned.diff(folder, id)["diff"]
    assert json.loads((places().state / LOG).read_text())["door"] == "command"
