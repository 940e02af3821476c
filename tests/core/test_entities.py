"""What a text names is found, as it stands there; everyday words that look like names are not."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.entities import FINDERS, MOST, Entity, Kind, entities
from lessonbook.core.suspicion import signs

NAMED = {
    Kind.FILE: [
        ("Look at src/app/index.ts:12 first.", "src/app/index.ts"),
        ("Edit `package.json` by hand.", "package.json"),
        ("Keys are in ~/.ssh/.", "~/.ssh/"),
        ("Logs go to /var/log/app.", "/var/log/app"),
        ("Run ./scripts/release.sh once.", "./scripts/release.sh"),
        ("Put them in legacy/.", "legacy/"),
        ("Never commit .env.local.", ".env.local"),
        ("The Makefile has it.", "Makefile"),
        ("Tests match `tests/**/*.py`.", "tests/**/*.py"),
        (r"It is in C:\Users\ana\notes.txt.", r"C:\Users\ana\notes.txt"),
        ("See docs/adr/0001.", "docs/adr/0001"),
    ],
    Kind.COMMAND: [
        ("Run `pnpm install --frozen-lockfile` first.", "pnpm install"),
        ("Run pnpm install, then push.", "pnpm install"),
        ("Use git rebase for that.", "git rebase"),
        ("`git -C web commit` works.", "git -C web commit"),
        ("Run the database tests with make db-test.", "make db-test"),
        ("Use npm run build:prod before that.", "npm run build:prod"),
        ("Start it with `docker compose up -d`.", "docker compose up"),
        ("It needs python -m pytest.", "python -m pytest"),
        ("Run `frobnicate sync` now.", "frobnicate sync"),
        ("```sh\n$ cargo build --release\n```", "cargo build"),
        ("Use `uv run pytest` here.", "uv run pytest"),
    ],
    Kind.TOOL: [
        ("Use pnpm.", "pnpm"),
        ("The GitHub API needs it.", "GitHub"),
        ("Format with black.", "black"),
        ("We moved to Go last year.", "Go"),
        ("It needs node 20.", "node"),
        ("Run `frobnicate`.", "frobnicate"),
        ("`make test` is slow.", "make"),
    ],
    Kind.PACKAGE: [
        ("Add @scope/name to it.", "@scope/name"),
        ("It needs requests>=2.31.", "requests"),
        ("Run `pip install Flask-SQLAlchemy`.", "Flask-SQLAlchemy"),
        ("Use the serde crate.", "serde"),
        ("It comes with the npm package left-pad.", "left-pad"),
        ("Remove the `moment` package.", "moment"),
        ("Run npx create-thing once.", "create-thing"),
    ],
    Kind.ERROR: [
        ("It says TS2345 again.", "TS2345"),
        ("It fails with ERR_MODULE_NOT_FOUND.", "ERR_MODULE_NOT_FOUND"),
        ("rustc says E0502.", "E0502"),
        ("It answers HTTP 429.", "HTTP 429"),
        ("It returns a 404 error.", "404"),
        ("It ends with exit code 137.", "exit code 137"),
        ("It raises ModuleNotFoundError.", "ModuleNotFoundError"),
        ("It raises `asyncio.TimeoutError`.", "asyncio.TimeoutError"),
        ("It fails with EADDRINUSE.", "EADDRINUSE"),
        ("Ignore rule F401.", "F401"),
        ("The kernel sends SIGKILL.", "SIGKILL"),
    ],
    Kind.VERSION: [
        ("Use Python 3.11.", "3.11"),
        ("It broke in v2.0.1.", "v2.0.1"),
        ("It needs Node >=18 <21.", ">=18 <21"),
        ("It needs Node ≥ 18.", "≥ 18"),
        ("Python 3.9+ is required.", "3.9+"),
        ("It is at 1.4.2 now.", "1.4.2"),
        ("Install react@18.2.0.", "@18.2.0"),
        ("Since version 7 it works.", "7"),
    ],
    Kind.FLAG: [("Never pass --no-verify.", "--no-verify"), ("Use the -x flag.", "-x")],
    Kind.VARIABLE: [
        ("Set NODE_ENV first.", "NODE_ENV"),
        ("It reads $HOME.", "HOME"),
        ("Extend PYTHONPATH.", "PYTHONPATH"),
    ],
    Kind.SETTING: [
        ("Set core.hooksPath to nothing.", "core.hooksPath"),
        ("The setting memory.backend is off.", "memory.backend"),
        ("Run git config user.email once.", "user.email"),
    ],
    Kind.IDENTIFIER: [
        ("Call parse_config() once.", "parse_config"),
        ("The UserService is slow.", "UserService"),
        ("It is in getUserById.", "getUserById"),
        ("Use the Widget2Go class... no, `WidgetMaker`.", "WidgetMaker"),
        ("It patches session.get(url) there.", "session.get"),
    ],
    Kind.HOST: [
        ("See https://docs.example.com/a/b.html.", "docs.example.com"),
        ("Clone git@git.example.org:a/b.git.", "git.example.org"),
        ("Open localhost:3000.", "localhost"),
    ],
    Kind.BRANCH: [
        ("Never push to main.", "main"),
        ("Rebase onto `origin/develop` first.", "develop"),
        ("The `release` branch is frozen.", "release"),
        ("Make a branch named `wip-7`.", "wip-7"),
    ],
    Kind.PORT: [
        ("It listens on port 5432.", "5432"),
        ("Open http://localhost:8080/x.", "8080"),
        ("Start it with --port 9000.", "9000"),
    ],
}

NOT_NAMED = [
    ("Use tabs and/or spaces, yes/no, client/server.", Kind.FILE),
    ("It runs at 5 GB/s, 24/7, on 12/05/2024.", Kind.FILE),
    ("It uses Node.js, Vue.js and e.g. i.e. etc.", Kind.FILE),
    ("Call console.log and response.json there.", Kind.FILE),
    ("Make sure to go slow, just in case.", Kind.COMMAND),
    ("Go test it. Make changes. Use just one.", Kind.COMMAND),
    ("Make it go, find the node and react to it.", Kind.TOOL),
    ("```python\nimport pytest\n```", Kind.TOOL),
    ("Mail ana@example.com about it.", Kind.PACKAGE),
    ("The package manager installs the package.", Kind.PACKAGE),
    ("There were 404 rows and 429 columns.", Kind.ERROR),
    ("An Error or Exception is a Warning.", Kind.ERROR),
    ("It takes 3.5 s, 98.6%, $9.99 and 2.5x more.", Kind.VERSION),
    ("See section 4.5 and step 2.1.", Kind.VERSION),
    ("Connect to 127.0.0.1 on 2024-01-02 at 10:30.", Kind.VERSION),
    ("We had 20 nodes -- and more --- later.", Kind.FLAG),
    ("Never shout: NEVER, ALWAYS, TODO.", Kind.VARIABLE),
    ("It uses os.path and self.value.", Kind.SETTING),
    ("JavaScript, GitHub and PostgreSQL are names.", Kind.IDENTIFIER),
    ("He said (again) that it works (mostly).", Kind.IDENTIFIER),
    ("The main point is to master the next release.", Kind.BRANCH),
    ("It supports 80 columns and 443 rows.", Kind.PORT),
]


@pytest.mark.parametrize(
    ("kind", "text", "value"), [(kind, text, value) for kind, rows in NAMED.items() for text, value in rows]
)
def test_what_is_named_is_found(kind: Kind, text: str, value: str) -> None:
    assert (kind, value) in {(each.kind, each.value) for each in entities(text)}, entities(text)


@pytest.mark.parametrize(("text", "kind"), NOT_NAMED)
def test_everyday_words_are_no_names(text: str, kind: Kind) -> None:
    assert [each for each in entities(text) if each.kind is kind] == []


def test_every_kind_has_examples() -> None:
    assert set(NAMED) == set(Kind)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use `Node.js`.", "Use nodejs 20."),
        ("Open ./src/App.ts.", "Open src/app.ts."),
        ("It needs zope.interface>=5.1.", "It needs Zope_Interface==5.1."),
        ("It needs python >= 3.9.", "It needs Python 3.9+."),
        ("Run `git  commit -m x`.", "Run git commit."),
        ("It raises asyncio.TimeoutError.", "It raises TimeoutError."),
        ("It exits with code 2.", "It has exit status 2."),
    ],
)
def test_one_thing_has_one_key(one: str, other: str) -> None:
    first, second = ({(each.kind, each.key, each.of) for each in entities(text)} for text in (one, other))
    assert first & second


def test_a_version_says_of_what() -> None:
    found = {each.of: each.key for each in entities("Node >=18, requests==2.31.0 and actions/checkout@v4.")}
    assert found["node"] == ">=18"
    assert found["requests"] == "2.31.0"
    assert found["actions/checkout"] == "4"


def test_a_plain_sentence_reads_like_marked_code() -> None:
    marked = "Run `pnpm install`, not `npm install`, in `packages/web/`; `ERR_X_Y` means `src/a.ts` is old."
    keys = [{(each.kind, each.key) for each in entities(text)} for text in (marked, marked.replace("`", ""))]
    assert keys[0] == keys[1]


def test_each_thing_is_named_once_where_it_first_stands() -> None:
    text = "Use pnpm. pnpm is fast. PNPM install, pnpm install."
    found = [(each.value, each.start) for each in entities(text) if each.kind is Kind.TOOL]
    assert found == [("pnpm", 4)]


def test_there_are_at_most_so_many() -> None:
    assert len(entities(" ".join(f"src/file{n}.py" for n in range(3 * MOST)))) == MOST


def test_no_secret_is_named() -> None:
    secret = "ghp_" + "a1B2" * 9
    for text in (f"export API_TOKEN={secret}", f"password = src/{secret}.py", f"https://ana:{secret}@example.com/x"):
        assert not any(secret[:12] in each.value for each in entities(text))


_VOCABULARY = """
` ``` --no-verify src/a.ts @a/b requests>=2.0 v1.2.3 E123 NODE_ENV core.hooksPath parse_config() UserService İ é
https://a.example.com:80/x \u202e \x00 \ud800 🚀 ( ) . / _ = A a 1 -
"""
_PIECES = st.sampled_from(
    [
        *_VOCABULARY.split(),
        "```sh\n",
        "\n",
        " ",
        "git commit",
        "Node 20",
        "HTTP 429",
        "exit code 1",
        "push to main",
        "port 80",
    ]
)


@settings(max_examples=300)
@given(st.one_of(st.text(), st.lists(_PIECES, max_size=30).map("".join), st.lists(_PIECES, max_size=30).map(" ".join)))
def test_what_is_found_stands_in_the_text(text: str) -> None:
    found = entities(text)
    assert len(found) <= MOST
    assert [each.start for each in found] == sorted(each.start for each in found)
    assert len({(each.kind, each.key, each.of) for each in found}) == len(found)
    for each in found:
        assert text[each.start : each.end] == each.value != ""
        assert each.key == each.key.casefold() != ""
    alone = sorted((each for each in found if each.kind not in (Kind.COMMAND, Kind.TOOL)), key=lambda each: each.start)
    assert all(one.end <= other.start for one, other in pairwise(alone))


@settings(max_examples=50)
@given(st.lists(_PIECES, max_size=20).map(" ".join))
def test_names_are_of_known_kinds(text: str) -> None:
    assert all(isinstance(each, Entity) and each.kind in Kind for each in entities(text))


@pytest.mark.parametrize(
    "piece",
    [
        "a", "a.", "a/", "_a", "Aa", "`", "`a`", "--a", "1.", "1 ", "@a/b ", "a(", "$A", "npm install a ", "git -a ",
        "http://a ", "E1234 ", "port 80 ", ">=1 ", "\n", " ", "push a b to ", "ab.cD ", "```sh\ngit x\n", "run make x ",
        "exit 1 ", "branch ", "package a ", "a@1 ", "Node 1.", "://", "a b_c(", "main ", "İ",
    ],
)  # fmt: skip
def test_time_is_linear_in_the_length_of_any_text(piece: str) -> None:
    def taken(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        best = 9e9
        for _ in range(2):
            started = time.process_time()
            entities(text)
            best = min(best, time.process_time() - started)
        return best

    taken(1_000)
    # Twelve times the text takes twelve times as long; a quadratic rule would take 144 times.
    assert taken(48_000) < 45 * taken(4_000) + 0.05


def test_a_long_text_takes_no_longer_than_to_look_for_signs_of_poisoning() -> None:
    line = "Run `pnpm install` in packages/web/ before you push to main; TS2345 means Node 18 was used, see src/a.ts.\n"
    prose = "Nothing is named in this sentence, which only goes on about what a person might have had in mind. "
    text = (line + prose * 9) * 1_000
    spent = []
    for act in (entities, lambda text: signs("AGENTS.md", "", text)):
        started = time.process_time()
        act(text)
        spent.append(time.process_time() - started)
    assert len(text) > 900_000
    assert spent[0] < 3 * spent[1]


def test_every_finder_finds_something() -> None:
    from lessonbook.core.entity import page_of

    text = "\n".join(row for rows in NAMED.values() for row, _ in rows)
    assert all(next(find(page_of(text)), None) for find in FINDERS)
