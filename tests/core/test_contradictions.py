"""What cannot both hold is found and shown; what only looks like it stays clean."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.contradictions import MOST, Clash, clash, contradictions, topics
from lessonbook.core.facts import Fact, Relation, facts

CLASHES = {
    Clash.OPPOSITE: [
        ("Use pnpm.", "Do not use pnpm."),
        ("Use `pnpm` for everything.", "Don't use pnpm."),
        ("Always use tabs.", "Never use tabs."),
        ("Avoid tabs.", "Use tabs."),
        ("Avoid dynamic imports.", "Prefer dynamic imports."),
        ("We use Redux.", "Do not use Redux anymore."),
        ("Never push to main.", "Always push to main."),
        ("You must squash commits.", "Do not squash commits."),
        ("Always sign commits.", "You should never sign commits."),
        ("Never run the migrations by hand.", "Always run the migrations by hand."),
        ("Do not commit `dist/`.", "Always commit dist/."),
        ("Use pnpm in web/.", "Do not use pnpm in web/."),
        ("For tests, use vitest.", "Do not use vitest for tests."),
        ("When testing, use the fake clock.", "Never use the fake clock for tests."),
        ("Use worktrees when reviewing.", "Avoid worktrees while reviewing."),
        ("The build requires Docker.", "The build does not require Docker."),
        ("Integration tests need a database.", "Integration tests do not need a database."),
        ("The linter depends on node.", "The linter no longer depends on node."),
        ("The user prefers tabs.", "The user does not like tabs."),
        ("Ana wants short commits.", "Ana doesn't want short commits."),
        ("I like small pull requests.", "I don't like small pull requests."),
        ("The user hates emojis.", "The user likes emojis."),
        ("The user wants us to use tabs.", "The user asked us not to use tabs."),
        ("Run `make lint` before pushing.", "Never run make lint before pushing."),
        ("The watcher works on macOS.", "The watcher does not work on macOS."),
        ("The build fails on Windows.", "The build works on Windows."),
        ("Set `strict` to true.", "Do not set strict to true."),
        ("Do not use npm or yarn.", "Use yarn."),
        ("- **Never** use `any`.", "Use `any`."),
        ("Use the legacy API only for exports.", "Do not use the legacy API only for exports."),
        ("The fixtures live in tests/data/.", "The fixtures are not in tests/data/."),
        ("Stick with Jest.", "No longer use Jest."),
        ("Always answer in English", "never answer in english"),
    ],
    Clash.CHOICE: [
        ("Use pnpm, not npm.", "Use npm."),
        ("Use pnpm (not npm).", "Use npm, not pnpm."),
        ("Use `uv` instead of pip.", "Use pip."),
        ("Instead of npm, use pnpm.", "Use npm."),
        ("Use pnpm instead of npm because it is faster.", "Use npm; it is what CI has."),
        ("Use rg rather than grep for searching.", "Use grep for searching."),
        ("Prefer composition over inheritance.", "Prefer inheritance over composition."),
        ("Prefer tabs to spaces.", "Use spaces."),
        ("Use yarn.", "Use pnpm."),
        ("Use vitest for unit tests.", "For unit tests, use jest."),
        ("Use tabs for indentation.", "Use spaces for indentation."),
        ("Use single quotes.", "Use double quotes."),
        ("The user prefers tabs.", "The user prefers spaces."),
        ("The user prefers tabs over spaces.", "The user prefers spaces over tabs."),
        ("Ana wants short commit messages.", "Ana wants long commit messages."),
        ("Use relative imports.", "Use absolute imports."),
        ("Always answer in English.", "Always answer in German."),
        ("Use snake_case for columns.", "Use camelCase for columns."),
        ("Use Postgres in CI.", "Use SQLite in CI."),
        ("We use black.", "This project uses yapf."),
        ("Use `FileStore`, not `node:fs`.", "Use node:fs"),
    ],
    Clash.VERSION: [
        ("Node is 20.", "Node is 18."),
        ("The project uses Node 20.", "The project uses Node 18."),
        ("Use Python 3.12.", "Use Python 3.9."),
        ("requests is pinned to 2.31.", "requests is pinned to 2.28."),
        ("Pin `requests` to 2.31.", "requests is pinned to 2.28."),
        ("React was upgraded to 19.", "React is version 18."),
        ("We need Python 3.11 or newer.", "We need Python 3.8 or newer."),
        ("The CLI requires Node >= 20.", "The CLI requires Node >= 18."),
        ("The CLI needs at least Node 20.", "The CLI needs Node 18 or later."),
        ("Python 3.11+ is required.", "Python is 3.9."),
        ("The minimum Python version is 3.11.", "The minimum Python version is 3.9."),
        ("Terraform must be at least 1.7.", "Terraform is 1.5."),
        ("Node.js version is 22", "nodejs is 20.11.1"),
        ("Postgres is locked to 15.", "Postgres is now at version 16."),
        ("Upgrade TypeScript to 5.6.", "TypeScript is pinned at 5.4."),
        ("Use Node 20 in CI.", "In CI, use Node 18."),
    ],
    Clash.VALUE: [
        ("Set `NODE_ENV` to `test`.", "Set NODE_ENV to production."),
        ("export LOG_LEVEL=debug", "export LOG_LEVEL=info"),
        ("Set core.hooksPath to .githooks.", "core.hooksPath is set to /dev/null."),
        ("`strict` must be `true`.", "`strict` must be `false`."),
        ("Enable telemetry.", "Disable telemetry."),
        ("Turn on strict mode in tsconfig.json.", "Disable strict mode in tsconfig.json."),
        ("The package manager is pnpm.", "Package manager: npm"),
        ("The default branch is main.", "The default branch is develop."),
        ("The request timeout is 30 seconds.", "The request timeout is 60 seconds."),
        ("Set the timeout to 30 s.", "Set the timeout to 45 s."),
        ("Use 2 spaces for indentation.", "Use 4 spaces for indentation."),
        ("The line length is 100.", "The line length is 120 characters."),
        ("`--workers` defaults to 4.", "`--workers` defaults to 8."),
        ("The database is Postgres.", "The database is MySQL."),
    ],
    Clash.PLACE: [
        ("The config lives in src/config/app.toml.", "The config lives in etc/app.toml."),
        ("Put fixtures in tests/fixtures/.", "Fixtures live in test-data/fixtures.d/."),
        ("The schema is at db/schema.sql.", "The schema is now in migrations/schema.sql."),
        ("Keep secrets templates under deploy/templates/.", "Secrets templates are stored in ops/templates.d/."),
    ],
    Clash.ORDER: [
        ("Run the migrations before the seed script.", "Run the seed script before the migrations."),
        ("Run `make gen` before `make build`.", "Run `make gen` after `make build`."),
        ("Migrations must run before the tests.", "The tests must run before migrations."),
        ("After linting, run the tests.", "Run the tests before linting."),
    ],
}

LOOK_ALIKES = [
    ("Use pnpm in app/.", "Do not use pnpm in legacy/."),
    ("Use pnpm.", "Do not use pnpm in legacy/."),
    ("Use pytest for tests.", "Do not use pytest for production."),
    ("Use pnpm.", "Use pnpm, not npm."),
    ("Do not use npm.", "Use pnpm, not npm."),
    ("Use pnpm.", "Use npm to publish."),
    ("Use pnpm.", "Should we use npm?"),
    ("Use pnpm.", 'The old page says "use npm".'),
    ("Use pnpm.", "The old page says use npm."),
    ("Use pnpm.", "You can use npm too."),
    ("Use pnpm.", "Do not use pnpm unless CI is down."),
    ("Use pnpm unless offline.", "Do not use pnpm."),
    ("Use pnpm.", "If npm is installed, use npm."),
    ("Use pnpm.", "Bad: use npm"),
    ("Use pnpm.", "❌ Use npm"),
    ("Use pnpm.", "Avoid:\n\n- Using pnpm"),
    ("Use pnpm.", "> Do not use pnpm."),
    ("Use pnpm.", "```\nDo not use pnpm.\n```"),
    ("Use pnpm.", "Someone might say: do not use pnpm"),
    ("Use pnpm.", "We used npm before."),
    ("Use tabs in Makefiles.", "Use spaces in Python."),
    ("**Python**: use spaces", "**Go**: use tabs"),
    ("Use Postgres for production.", "Use SQLite for tests."),
    ("Use black.", "Use isort."),
    ("Use jest for the client.", "Use pytest for the server."),
    ("Do not use tabs.", "Do not use spaces."),
    ("Never use npm.", "Never use yarn."),
    ("Use npm or yarn.", "Use npm."),
    ("Use npm or yarn.", "Use pnpm."),
    ("Prefer composition over inheritance.", "Prefer composition."),
    ("Prefer tabs.", "Prefer short functions."),
    ("The user prefers tabs.", "Ana prefers spaces."),
    ("The user prefers tabs.", "The user prefers short commits."),
    ("The user likes tabs.", "The user likes dark themes."),
    ("Ana wants short commits.", "Ana wants long descriptions."),
    ("Always run the tests.", "Never run the tests against production."),
    ("Never push to main.", "Always push to origin."),
    ("Never push to main without asking.", "Always push to main after asking."),
    ("Never commit secrets.", "Always commit lock files."),
    ("Never push.", "Always pull."),
    ("Always sign commits.", "Always sign releases."),
    ("Node is 20.", "Node is 20.11."),
    ("Node is 20.", "Python is 3.11."),
    ("Node is 20 in CI.", "Node is 18 on the old server."),
    ("We need Node 18 or newer.", "Node is 20."),
    ("The CLI requires Node >= 18.", "The server requires Node >= 20."),
    ("requests is pinned to 2.31.", "httpx is pinned to 0.27."),
    ("Use Node 20.", "Do not use Node 18."),
    ("Use Node.", "Do not use Node 18."),
    ("Python 3.11+ is required.", "Use Python 3.12."),
    ("numpy is pinned to ^1.26.", "numpy is pinned to 1.26.4."),
    ("The build requires Docker.", "The tests do not require Docker."),
    ("The build requires Docker.", "The build does not require a network."),
    ("The build requires Docker.", "The build does not require Docker on macOS."),
    ("It requires Docker.", "It does not require Docker."),
    ("This step needs a token.", "This step does not need a token."),
    ("Set NODE_ENV to test.", "Set LOG_LEVEL to debug."),
    ("Set NODE_ENV to test for CI.", "Set NODE_ENV to production for releases."),
    ("`strict` must be `true`.", "Set strict to on."),
    ("Enable telemetry in staging.", "Disable telemetry in production."),
    ("`--workers` defaults to 4.", "Set `--workers` to 8."),
    ("The timeout is 30 seconds.", "The timeout is 30 s."),
    ("The request timeout is 30 seconds.", "The lock timeout is 60 seconds."),
    ("Use option 1.", "Use option 2."),
    ("Use sha256.", "Use md5 for cache keys."),
    ("Use 2 spaces in YAML.", "Use 4 spaces in Python."),
    ("The config lives in src/config/.", "The config lives in src/config/app.toml."),
    ("The config is in app.toml.", "The config is in src/app.toml."),
    ("The schema is at db/schema.sql.", "The seeds are at db/seeds.sql."),
    ("The release is in progress.", "The release is in trouble."),
    ("Run the linter before pushing.", "Run the linter before releasing."),
    ("Run the linter before pushing.", "Run the tests after pushing."),
    ("Run `make gen` before `make build`.", "Run `make build` before `make dist`."),
    ("The watcher fails on Windows.", "The watcher works on Linux."),
    ("The build fails with ENOENT.", "The build fails with EACCES."),
    ("The build fails unless dist/ exists.", "The build works on Linux."),
    ("When asked, use npm.", "Use pnpm."),
    ("To publish, use npm.", "To install, use pnpm."),
    ("Use pnpm until the migration is done.", "Use npm."),
    ("Use pnpm because npm is slow.", "Use pnpm because yarn is slow."),
    ("| use | npm |\n|---|---|\n| use npm | always |", "Do not use npm."),
    ("# Use npm", "Do not use npm."),
    ("", "Use pnpm."),
    ("Use it.", "Do not use it."),
    ("Use this.", "Never use this."),
    ("Would you use npm?", "Never use npm."),
    ("I think we could use npm.", "Never use npm."),
    ("For example, use npm.", "Never use npm."),
    ("Use pnpm. Except in legacy/.", "Do not use pnpm."),
    ("Use pnpm (only for installs).", "Do not use pnpm."),
]


@pytest.mark.parametrize(
    ("kind", "new", "old"), [(kind, new, old) for kind, pairs in CLASHES.items() for new, old in pairs]
)
def test_what_cannot_both_hold_is_found_whichever_comes_first(kind: Clash, new: str, old: str) -> None:
    for one, other in ((new, old), (old, new)):
        found = contradictions(facts(one), facts(other))
        assert [each.kind for each in found] == [kind], (facts(one), facts(other))
        assert found[0].new in facts(one)
        assert found[0].old in facts(other)


@pytest.mark.parametrize(("new", "old"), LOOK_ALIKES)
def test_a_look_alike_stays_clean(new: str, old: str) -> None:
    for one, other in ((new, old), (old, new)):
        assert contradictions(facts(one), facts(other)) == ()


def test_there_are_enough_examples() -> None:
    assert sum(map(len, CLASHES.values())) >= 60
    assert set(CLASHES) == set(Clash)
    assert len(LOOK_ALIKES) >= 60


def test_the_sentence_shows_both() -> None:
    (found,) = contradictions(facts("Use pnpm, not `npm`!"), facts("Always use npm here."))
    assert found.sentence == "“Use pnpm, not npm” chooses otherwise than “Always use npm here”."
    (found,) = contradictions(facts("Package manager: pnpm"), facts("Our package manager is yarn."))
    assert found.sentence == "“Package manager: pnpm” gives another value than “Our package manager is yarn”."


def test_the_sentence_is_short_and_on_one_line() -> None:
    long = "because " + "of what was said\n" * 15
    (found,) = contradictions(facts(f"Use pnpm {long}."), facts("Do not use pnpm."))
    assert len(found.sentence) < 300
    assert "\n" not in found.sentence


def test_every_pair_is_found_in_the_order_of_the_new_facts() -> None:
    new = facts("Use pnpm. Never push to main. Node is 20.")
    old = facts("Node is 18. Always push to main. Do not use pnpm. Use tabs.")
    assert [found.kind for found in contradictions(new, old)] == [Clash.OPPOSITE, Clash.OPPOSITE, Clash.VERSION]


def test_there_are_at_most_so_many() -> None:
    old = [fact for n in range(2 * MOST) for fact in facts(f"Do not use pnpm. It is {n}.")]
    assert len(contradictions(facts("Use pnpm."), old)) == MOST


_TEXTS = [text for pairs in CLASHES.values() for pair in pairs for text in pair] + [
    text for pair in LOOK_ALIKES for text in pair
]
_ALL = [fact for text in dict.fromkeys(_TEXTS) for fact in facts(text)]
_FACTS = st.sampled_from(_ALL)


@given(_FACTS, _FACTS)
def test_what_clashes_is_the_same_whichever_comes_first(one: Fact, other: Fact) -> None:
    assert clash(one, other) == clash(other, one)


def test_no_fact_and_no_text_contradicts_itself() -> None:
    assert [fact for fact in _ALL if clash(fact, fact)] == []
    assert [text for text in _TEXTS if contradictions(facts(text), facts(text))] == []


def test_what_clashes_shares_a_topic() -> None:
    for one in _ALL:
        for other in _ALL:
            if clash(one, other):
                assert topics(one) & topics(other), (one, other)


@given(st.lists(_FACTS, max_size=12), st.lists(_FACTS, max_size=12))
def test_all_pairs_are_found_and_no_others(new: list[Fact], old: list[Fact]) -> None:
    found = [(each.new, each.old, each.kind) for each in contradictions(new, old)]
    assert found == [(one, other, kind) for one in new for other in old if (kind := clash(one, other))][:MOST]


_SLOTS = st.one_of(
    st.just(""), st.text(max_size=20), st.sampled_from(["npm", "pnpm", "in web/", "18", ">=20", ">=2 <1"])
)


@settings(max_examples=300)
@given(
    st.lists(
        st.builds(
            Fact,
            st.sampled_from(Relation),
            _SLOTS,
            subject=_SLOTS,
            positive=st.booleans(),
            instead=_SLOTS,
            place=_SLOTS,
            version=_SLOTS,
            said=_SLOTS,
        ),
        min_size=2,
        max_size=4,
    )
)
def test_nothing_raises_whatever_facts_hold(given: list[Fact]) -> None:
    for one in given:
        assert clash(one, one) is None
        for other in given:
            assert clash(one, other) == clash(other, one)
    for found in contradictions(given, given):
        assert found.sentence.endswith(".")


@given(st.text(max_size=60))
def test_a_sentence_never_contradicts_itself(text: str) -> None:
    sentence = text.replace("\n", " ")
    assert [each for each in contradictions(facts(sentence), facts(sentence)) if each.new == each.old] == []
