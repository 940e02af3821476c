"""Secrets go, look-alikes stay; identifying values go, versions and hashes stay. All keys here are made up."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.clean import clean_body, clean_line
from lessonbook.core.redact import LABEL, Redacted, redact, scrub_identity

MIX = "a1B2c3D4e5F6g7H8j9K0" * 4
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2
UP = "Q7W2E5R6T3Y4U5P2"
UUID = "123e4567-e89b-42d3-a456-426614174000"
PEM_BODY = "MIIEvQ" + "IBADANBg" * 7

KEYS = {
    "openai project": "sk-" + "proj-" + "aB3-_" * 8,
    "openai service": "sk-" + "svcacct-" + MIX[:40],
    "openai admin": "sk-" + "admin-" + MIX[:40],
    "openai old": "sk-" + MIX[:48],
    "anthropic": "sk-" + "ant-api03-" + MIX + "-" + MIX[:10] + "AA",
    "openrouter": "sk-" + "or-v1-" + HEX,
    "hindsight": "hsk-" + MIX[:24],
    "mem0": "m0-" + MIX[:40],
    "github classic": "ghp" + "_" + MIX[:36],
    "github oauth": "gho" + "_" + MIX[:36],
    "github user": "ghu" + "_" + MIX[:36],
    "github server": "ghs" + "_" + MIX[:36],
    "github refresh": "ghr" + "_" + MIX[:36],
    "github fine": "github" + "_pat_" + MIX[:22] + "_" + MIX[:59],
    "gitlab": "glpat" + "-" + MIX[:20],
    "gitlab runner": "glrt" + "-" + MIX[:20],
    "gitlab old runner": "GR1348941" + MIX[:20],
    "slack bot": "xoxb" + "-123456789012-" + MIX[:24],
    "slack rotated": "xoxe" + ".xoxp-1-" + MIX[:24],
    "slack app": "xapp" + "-1-A0B1C2D3-123456789-" + HEX,
    "aws": "AKIA" + UP,
    "aws session": "ASIA" + UP,
    "aws example": "AKIA" + "IOSFODNN7EXAMPLE",
    "google": "AIza" + MIX[:35],
    "google oauth": "ya29" + "." + MIX[:60],
    "google client": "GOCSPX" + "-" + MIX[:28],
    "stripe": "sk" + "_live_" + MIX[:24],
    "stripe restricted": "rk" + "_live_" + MIX[:24],
    "stripe webhook": "whsec" + "_" + MIX[:32],
    "twilio": "SK" + HEX[:32],
    "sendgrid": "SG" + "." + MIX[:22] + "." + MIX[:43],
    "npm": "npm" + "_" + MIX[:36],
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + MIX,
    "huggingface": "hf" + "_" + MIX[:34],
    "groq": "gsk" + "_" + MIX[:52],
    "xai": "xai" + "-" + MIX,
    "perplexity": "pplx" + "-" + MIX[:48],
    "replicate": "r8" + "_" + MIX[:37],
    "digitalocean": "dop" + "_v1_" + HEX,
    "databricks": "dapi" + HEX[:32],
    "nvidia": "nvapi" + "-" + MIX[:60],
    "age": "AGE-SECRET" + "-KEY-1" + UP * 4,
    "vault": "hvs" + "." + MIX,
    "docker": "dckr" + "_pat_" + MIX[:27],
    "shopify": "shpat" + "_" + HEX[:32],
    "linear": "lin" + "_api_" + MIX[:40],
    "telegram": "123456789" + ":AA" + MIX[:33],
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + "." + "eyJ" + MIX[:30] + "." + MIX[:43],
    "original: token_": "token" + "_" + "abc123def456",
    "original: secret-": "secret" + "-" + "abcdef123456",
    "original: pk_": "pk" + "_" + MIX[:24],
}

VALUES = [
    ("password=", "hunter2hunter2"),
    ("password: ", "hunter2hunter2"),
    ("DB_PASSWORD=", "hunter2hunter2"),
    ("DB_PASS=", "hunter2hunter2"),
    ("the password is ", "hunter2hunter2"),
    ("password is: ", "hunter2hunter2"),
    ("**Password:** ", "hunter2hunter2"),
    ("token:\n  ", MIX[:20]),
    ("--password ", "hunter2hunter2"),
    ("--api-key=", MIX[:20]),
    ("sshpass -p ", "hunter2hunter2"),
    ("mysql -u root -p", "hunter2hunter2"),
    ("redis-cli -h h -a ", "hunter2hunter2"),
    ("curl -u admin:", "hunter2hunter2"),
    ("- name: API_TOKEN\n  value: ", MIX[:20]),
    ('<add key="ApiKey" value="', MIX[:20]),
    ("client_secret: ", "ABCDEFGHIJKLMNOP"),
    ("export TOKEN=", "abc123def456"),
    ("export GITHUB_TOKEN='", MIX[:30]),
    ('"api_key": "', MIX[:20]),
    ('\\"api_key\\": \\"', MIX[:20]),
    ("'client_secret' => '", MIX[:20]),
    ("api key: ", MIX[:20]),
    ("X-Api-Key: ", HEX[:32]),
    ("HEROKU_API_KEY=", UUID),
    ("aws_secret_access_key = ", "wJalrXUtnFEMI/" + "K7MDENG/bPxRfiCYzzzzzzzKEY"),
    ("AccountKey=", MIX + "abcdef=="),
    ("Server=db;Uid=me;Pwd=", "abc123!;"[:-1]),
    ("//npm.example.org/:_authToken=", UUID),
    ("Authorization: Bearer ", MIX[:20]),
    ("authorization: token ", MIX[:20]),
    ("Authorization: Basic ", "dXNlcjpwYXNzd29yZA=="),
    ('-H "Authorization: Bearer ', MIX[:20]),
    ("machine h login me password ", "zzz123"),
    ("https://h/x?a=1&token=", "abcd1234efgh"),
    ("https://h/x?sv=2024&sig=", "aB3%2Bxyz12345%3D"),
    ("https://h/maps?key=", "AIza" + MIX[:35]),
    ("https://hooks.slack.com/services/", "T0AB12CD3/B0AB12CD3/" + MIX[:24]),
    ("Cookie: ", "session=" + HEX[:32] + "; theme=dark"),
    ("sessionid=", MIX[:32]),
]

STAYS = [
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "fixed in commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b by Ana",
    "sha256:" + HEX,
    UUID,
    "session_id: " + UUID,
    "risk-based-approach-for-teams",
    "sk-learn",
    "pip install sk-learn-contrib-wrappers",
    "apiKey: import.meta.env.KEY",
    "const token = process.env.GITHUB_TOKEN;",
    "api_key=os.environ['OPENAI_API_KEY']",
    'api_key=os.getenv("OPENAI_API_KEY")',
    "password=config.database.password2",
    "TOKEN=$GITHUB_TOKEN",
    "TOKEN=${GITHUB_TOKEN:-none}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <your-token-here>",
    "no API key needed",
    "the token is required for every request",
    "the password must have 12 characters",
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "password=",
    "password: string",
    "password: String!",
    "password=changeme",
    "password=********",
    "api_key=<your key>",
    "api_key=your-api-key-2",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "token: string | undefined",
    "max_tokens=4096",
    "total_tokens: 128000",
    "tokenizer=AutoTokenizer.from_pretrained(name)",
    "sorted(rows, key=lambda row: row.id)",
    "id = Column(Integer, primary_key=True)",
    "cache_key=" + MIX[:32],
    "key: user-settings-2",
    "password=get_password2(user)",
    "password: z.string().min(8)",
    "secret: my-app-secret",
    "secret_file=/run/secrets/db",
    "password=/run/secrets/db_password1",
    "postgres://user:$PASSWORD@host/db",
    "postgres://user:${PASSWORD}@host/db",
    "http://localhost:8080/path",
    "https://example.org/a:b/@scope/pkg",
    "git@github.com:me/app.git",
    "use basic authentication here",
    "Bearer authentication is refused",
    "token-authentication and key-base64encoded",
    "npm_config_registry and npm_package_version",
    "hf_transformers_model_configuration",
    "look for -----BEGIN PRIVATE KEY----- in the file",
    "task-1764500000-abc123def456",
    "--password-stdin",
    "docker login -p $TOKEN",
    "run with --token and retry",
    "Fehler: Passwort fehlt",
    "--- PASS: TestIsShadowBranch/7_hex_chars_numeric (0.00s)",
    "mysql -h db -P 3306 -p shop2",
    "token_a_word_and_another_word",
    "compass=n0rth2south3east",
]


@pytest.mark.parametrize("name", KEYS)
def test_every_key_shape_goes_whole_and_nothing_else_does(name: str) -> None:
    assert redact(f"use {KEYS[name]} there") == Redacted(f"use {LABEL} there", 1)
    assert redact(f"`{KEYS[name]}`.\nnext") == Redacted(f"`{LABEL}`.\nnext", 1)


@pytest.mark.parametrize(("before", "value"), VALUES)
def test_a_value_goes_and_the_name_before_it_stays(before: str, value: str) -> None:
    assert redact(before + value) == Redacted(before + LABEL, 1)


@pytest.mark.parametrize("text", STAYS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == Redacted(text, 0)


def test_only_the_password_of_an_address_goes() -> None:
    assert redact("postgres://u:pw@h/db").text == f"postgres://u:{LABEL}@h/db"
    assert redact("redis://:pa@ss@cache:6379/0").text == f"redis://:{LABEL}@cache:6379/0"
    assert redact(f"https://{MIX[:30]}@host/x").text == f"https://{LABEL}@host/x"


@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\\n"])
@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_block_goes_whole_however_its_lines_are_joined(kind: str, end: str) -> None:
    head, foot = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    whole = end.join([head, PEM_BODY, PEM_BODY, "abc=", foot])
    assert redact(f"key:\n{whole}\nafter").text == f"key:\n{LABEL}\nafter"
    assert PEM_BODY not in redact(end.join([head, PEM_BODY, PEM_BODY])).text


def test_a_pgp_private_key_goes() -> None:
    block = "-----BEGIN PGP PRIVATE KEY " + f"BLOCK-----\n\n{PEM_BODY}\n-----END PGP PRIVATE KEY BLOCK-----"
    assert redact(block) == Redacted(LABEL, 1)


def test_the_secret_beside_an_amazon_key_goes_with_it() -> None:
    assert redact(f"{KEYS['aws']} {MIX[:40]}") == Redacted(LABEL, 1)


def test_markup_around_a_value_does_not_hide_it() -> None:
    text = "<password>hunter2hunter2</password>"
    assert redact(text).text == f"<password>{LABEL}</password>"
    assert "hunter2" not in redact(clean_line(text)).text


@pytest.mark.parametrize("end", ["\n", "\r\n", "  \n    ", "\n> "])
@pytest.mark.parametrize("name", KEYS)
def test_the_rest_of_a_secret_that_was_broken_over_lines_goes_with_it(name: str, end: str) -> None:
    rest = [MIX[:40], MIX[5:38]]
    told = redact(end.join([f"it said {KEYS[name]}", *rest]) + "\nand went on").text
    assert not any(part in told for part in rest)
    assert told.endswith("\nand went on") and told.startswith("it said ")
    plain = f"it said {KEYS[name]}\nplain-words-that-are-long\nsrc/lessonbook/core/Redact2.py:\n{MIX[:40]} is said\n"
    assert redact(plain).text.endswith(plain.split("\n", 1)[1])


def test_every_secret_is_counted() -> None:
    found = redact(f"{KEYS['aws']} and {KEYS['npm']}\npassword=hunter2hunter2")
    assert found == Redacted(f"{LABEL} and {LABEL}\npassword={LABEL}", 3)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("parts", ["<>", "`", "<", "\x00"])
def test_stripping_markup_cannot_put_a_key_together(name: str, parts: str) -> None:
    key = KEYS[name]
    for at in range(1, len(key), 5):
        assert redact(clean_line(key[:at] + parts + key[at:])).text == LABEL


HIDDEN = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\u200e", "\ufe0f", "\u034f"]
HIDDEN += [
    "\u3164",
    "\u2800",
    "\U000e0041",
    "\U000e0100",
    "\x07",
    "\x1b",
    "\x9f",
    "\x1b[0m",
    "\x1b]8;;u\x07",
    "\ufdd0",
    "\u180e",
]
SECRETS = [(key, key) for key in KEYS.values()]
SECRETS += [(before + value, value) for before, value in VALUES if len(value) >= 12]


@given(
    secret=st.sampled_from(SECRETS), hidden=st.lists(st.sampled_from(HIDDEN), min_size=1, max_size=3), data=st.data()
)
@settings(max_examples=400, deadline=None)
def test_hidden_characters_cannot_carry_a_secret_through(
    secret: tuple[str, str], hidden: list[str], data: st.DataObject
) -> None:
    text, value = secret
    places = sorted(data.draw(st.integers(1, len(text))) for _ in hidden)
    split = text
    for at, each in zip(reversed(places), hidden, strict=True):
        split = split[:at] + each + split[at:]
    for clean in (clean_line, clean_body):
        left = redact(clean("note " + split)).text
        assert not any(value[i : i + 12] in left for i in range(len(value) - 11)), left


FRAGMENTS = [
    *KEYS.values(),
    *(b + v for b, v in VALUES),
    *STAYS,
    LABEL,
    "=",
    '"',
    "'",
    ":",
    "://",
    "@",
    "-",
    "_",
    " ",
    "\n",
    "key",
]
FRAGMENTS += [
    "bob@example.com",
    "+1 415 555 0100",
    "/home/ana/x",
    "C:\\Users\\Ana Lee\\x",
    "203.0.113.7",
    "2001:db8::1",
    "-Users-ana-x",
]
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(FRAGMENTS), max_size=6).map("".join))


@given(texts)
@settings(max_examples=400, deadline=None)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    for once in (redact, scrub_identity):
        first = once(text)
        assert once(first.text) == Redacted(first.text, 0)


@given(texts)
@settings(max_examples=300, deadline=None)
def test_cleaned_and_redacted_text_is_at_rest(text: str) -> None:
    for clean in (clean_line, clean_body):
        once = redact(clean(text)).text
        assert redact(clean(once)) == Redacted(once, 0)


UNITS = [
    "a",
    "A",
    "-",
    "=",
    "'",
    " ",
    "1.",
    "@",
    "a@",
    "+1",
    "e\u0301",
    "aGVsbG8gd29ybGQ",
    "sk-",
    "key=",
    'key="',
    "token_",
]
UNITS += ["eyJ", "eyJ.", "-eyJ", "password=", "password ", "://a:", "AKIA", "ghp_", "Bearer ", "Cookie: a=", "login "]
UNITS += ["BEGIN PRIVATE KEY", "-----BEGIN PRIVATE KEY-----", "AKIA" + UP, "sk-" + MIX[:20] + "/", "ssh -", "/home/"]
UNITS += ["[REDACTED]\nAb1Ab1Ab1Ab1Ab1Ab1\n", "[REDACTED]\n", "Ab1Ab1Ab1Ab1Ab1Ab1\n"]
UNITS += ["2001:", "\u200b", "a\u200b", "x\u200d", "\x1b]", "\x9d"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("work", [redact, scrub_identity, clean_line, clean_body])
def test_time_grows_with_the_text_and_no_faster(unit: str, work: Callable[[str], object]) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            work(text)
            best = min(best, time.perf_counter() - start)
        return best

    def growth() -> float:
        return seconds(80_000) / max(seconds(20_000), 0.002)

    # Four times the text: linear work takes 4 times as long, quadratic work 16 times. A busy machine gets a second go.
    assert any(growth() < 10 for _ in range(4))


IDENTITY = [
    ("bob@example.com or +1 415 555 0100", "[EMAIL] or [PHONE]"),
    ("Ana <ana.lee+x@mail.example.co.uk>,", "Ana <[EMAIL]>,"),
    ("call (415) 555-0100 or 415-555-0100", "call [PHONE] or [PHONE]"),
    ("+49 30 901820 and +14155550100", "[PHONE] and [PHONE]"),
    ("Tel: 030 901820-12", "Tel: [PHONE]"),
    ("at 203.0.113.7:8080, 8.8.8.8", "at [IP]:8080, [IP]"),
    ("http://203.0.113.7/x", "http://[IP]/x"),
    ("2001:db8::8a2e:370:7334 [2001:db8::1]:443", "[IP] [[IP]]:443"),
    ("/home/ana/app/x.py:12:3", "~/app/x.py:12:3"),
    ("cd /Users/ana", "cd ~"),
    (r"at\n/home/ana/x", r"at\n~/x"),
    ('File "/home/ana/app/x.py", line 3', 'File "~/app/x.py", line 3'),
    ("-I/home/ana/include", "-I~/include"),
    ("file:///home/ana/x", "file://~/x"),
    ("C:\\Users\\Ana Lee\\app", "~\\app"),
    ("C:\\\\Users\\\\ana\\\\app", "~\\\\app"),
    ("C:/Users/ana/app /mnt/c/Users/ana/app /c/Users/ana", "~/app ~/app ~"),
    ("~/.claude/projects/-Users-ana-src-app/x.jsonl", "~/.claude/projects/-~-src-app/x.jsonl"),
    ("/var/home/ana/app /data/home/ana", "~/app ~"),
    ("\\\\wsl$\\Ubuntu\\home\\ana\\app", "~\\app"),
    ("/tmp/claude/-home-ana-app", "/tmp/claude/-~-app"),
    ("ssh -p 22 deploy@prod.example.com ls", "ssh -p 22 [HOST] ls"),
    ("scp x deploy@box:/srv", "scp x [HOST]:/srv"),
    ("pi@raspberrypi:~$ ls", "[HOST]:~$ ls"),
    ("ssh://deploy@build.corp/x", "ssh://[HOST]/x"),
]

IDENTITY_STAYS = [
    "python 3.11.4, git 2.39.5, node v22.1.0",
    "Chrome/120.0.0.0 Safari/537.36",
    "pkg==1.2.3.4 and version 1.2.3.4",
    "127.0.0.1:8080 0.0.0.0 192.168.1.5 10.0.0.5 172.16.3.4 169.254.1.1 ::1 fe80::1",
    "x.py:12:3 at 12:34:56 on 2024-11-30T12:34:56Z",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    UUID,
    "uses: actions/checkout@v4",
    "npm i react@18.3.0-canary.rc lodash@4.17.21 @scope/pkg@latest",
    "icon@2x.png",
    "@app.route('/x') and @pytest.mark.slow and user@example",
    "git@github.com:me/app.git",
    "image@sha256:" + HEX,
    "@@ -12,7 +12,9 @@ def f():",
    "+2024-11-30 12:00",
    "1764500000 1234567890123 100-200 555 1234",
    "/home/$USER/app /Users/<name>/x /home/*/x /users/42/profile",
    "src/home/index.ts https://example.org/home/about/team",
    "std::vector a::b 2024:11:30",
    "~/app /root/x /usr/home",
]


@pytest.mark.parametrize(("text", "right"), IDENTITY)
def test_identifying_values_go(text: str, right: str) -> None:
    assert scrub_identity(text).text == right


@pytest.mark.parametrize("text", IDENTITY_STAYS)
def test_what_identifies_no_one_stays(text: str) -> None:
    assert scrub_identity(text) == Redacted(text, 0)


@pytest.mark.shared
@pytest.mark.parametrize("folder", ["agents_md"])
def test_real_rule_files_hold_nothing_that_is_taken_for_a_secret(shared: Path, folder: str) -> None:
    found = {}
    for path in sorted((shared / "data" / folder).rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if (result := redact(clean_body(text))).count:
            found[path.name] = re.findall(rf".*{re.escape(LABEL)}.*", result.text)
    assert found == {}
