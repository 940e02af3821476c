"""What a text states is found with all that narrows it; what it only asks, quotes or shows is not."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.facts import MOST, Fact, Relation, facts
from lessonbook.core.suspicion import signs
from lessonbook.core.tidy import tidy

USE, PREFER, DO, REQUIRE = Relation.USE, Relation.PREFER, Relation.DO, Relation.REQUIRE
LOCATED, VERSION, VALUE, FAILS = Relation.LOCATED, Relation.VERSION, Relation.VALUE, Relation.FAILS
BEFORE, AFTER = Relation.BEFORE, Relation.AFTER

STATED: list[tuple[str, list[Fact]]] = [
    ("Use pnpm.", [Fact(USE, "pnpm")]),
    ("Use `pnpm`, not npm, for installs.", [Fact(USE, "pnpm", instead="npm", purpose="installs")]),
    ("Use pnpm (not npm) (for installs).", [Fact(USE, "pnpm", instead="npm", purpose="installs")]),
    ("Use pnpm instead of npm because it is faster.", [Fact(USE, "pnpm", instead="npm")]),
    ("Instead of npm, use pnpm.", [Fact(USE, "pnpm", instead="npm")]),
    ("Do not use npm in legacy/.", [Fact(USE, "npm", positive=False, place="in legacy/")]),
    ("Never use `npm` or `yarn`.", [Fact(USE, "npm", positive=False), Fact(USE, "yarn", positive=False)]),
    ("Use rg, fd and jq.", [Fact(USE, "rg"), Fact(USE, "fd"), Fact(USE, "jq")]),
    ("Avoid dynamic imports when possible.", [Fact(USE, "dynamic imports", positive=False, condition="when possible")]),
    ("When editing docs, use US English.", [Fact(USE, "US English", condition="When editing docs")]),
    ("When editing docs:\n- Use US English.", [Fact(USE, "US English", condition="When editing docs")]),
    ("**Python**: use tabs", [Fact(USE, "tabs", place="Python")]),
    ("Note: use tabs in this repo.", [Fact(USE, "tabs")]),
    ("This project uses Node 20.", [Fact(USE, "Node", version="20")]),
    ("Use pnpm only in web/.", [Fact(USE, "pnpm", place="in web/", condition="only")]),
    ("Use tabs. Except in YAML.", [Fact(USE, "tabs", place="in YAML", condition="Except")]),
    ("In this repo we use pnpm, don't use npm.", [Fact(USE, "pnpm"), Fact(USE, "npm", positive=False)]),
    ("pnpm, not npm.", [Fact(USE, "pnpm", instead="npm")]),
    ("Only use pnpm.", [Fact(USE, "pnpm")]),
    ("npm is no longer used.", [Fact(USE, "npm", positive=False)]),
    ("uv is used instead of pip.", [Fact(USE, "uv", instead="pip")]),
    ("We switched from Jest to Vitest.", [Fact(USE, "Vitest", instead="Jest")]),
    ("This repo is on Python 3.12.", [Fact(USE, "Python", version="3.12")]),
    ("Prefer composition over inheritance.", [Fact(PREFER, "composition", instead="inheritance")]),
    ("We prefer tabs to spaces.", [Fact(PREFER, "tabs", instead="spaces")]),
    ("The user prefers tabs.", [Fact(PREFER, "tabs", "The user")]),
    ("Ana wants short commits.", [Fact(PREFER, "short commits", "Ana")]),
    ("I don't like force pushes.", [Fact(PREFER, "force pushes", "I", positive=False)]),
    ("The user wants us to use tabs.", [Fact(USE, "tabs", "The user")]),
    ("Ana asked us not to squash commits.", [Fact(DO, "squash commits", "Ana", positive=False)]),
    ("Always sign commits.", [Fact(DO, "sign commits")]),
    ("Never push to main without asking.", [Fact(DO, "push to main", positive=False, condition="without asking")]),
    ("You must not commit secrets.", [Fact(DO, "commit secrets", positive=False)]),
    ("The build requires Node >= 18.", [Fact(REQUIRE, "Node", "build", version=">=18")]),
    ("We need Python 3.11 or newer.", [Fact(REQUIRE, "Python", version=">=3.11")]),
    ("Node 18+ is required.", [Fact(REQUIRE, "Node", version=">=18")]),
    ("Tests need a database on port 5432.", [Fact(REQUIRE, "database", "Tests", place="on port 5432")]),
    ("The linter does not need node.", [Fact(REQUIRE, "node", "linter", positive=False)]),
    ("The config lives in src/app/config.py.", [Fact(LOCATED, "src/app/config.py", "config")]),
    ("Put fixtures in `tests/fixtures/`.", [Fact(LOCATED, "tests/fixtures/", "fixtures")]),
    ("The deploy script is scripts/deploy.sh.", [Fact(LOCATED, "scripts/deploy.sh", "deploy script")]),
    ("Tokens go in .env, never in a.json.", [Fact(LOCATED, ".env", "Tokens", condition="never in a.json")]),
    ("React Router must stay at v6.", [Fact(VERSION, "v6", "React Router", version="6")]),
    ("Node is 18.", [Fact(VERSION, "18", "Node", version="18")]),
    ("requests is pinned to 2.31.", [Fact(VERSION, "2.31", "requests", version="2.31")]),
    ("Upgrade React to 19.", [Fact(VERSION, "19", "React", version="19")]),
    ("Terraform must be at least 1.7.", [Fact(VERSION, "1.7", "Terraform", version=">=1.7")]),
    ("The minimum Python version is 3.11.", [Fact(VERSION, "3.11", "Python", version=">=3.11")]),
    ("Set core.hooksPath to /dev/null.", [Fact(VALUE, "/dev/null", "core.hooksPath")]),
    ("export NODE_ENV=test", [Fact(VALUE, "test", "NODE_ENV")]),
    ("`strict` must be `true`.", [Fact(VALUE, "true", "strict")]),
    ("Enable strict mode in tsconfig.json.", [Fact(VALUE, "on", "strict mode", place="in tsconfig.json")]),
    ("Package manager: pnpm", [Fact(VALUE, "pnpm", "Package manager")]),
    ("The default branch is `develop`.", [Fact(VALUE, "develop", "default branch")]),
    ("Run `make lint` before pushing.", [Fact(BEFORE, "pushing", "make lint")]),
    ("After pulling, run `pnpm install`.", [Fact(AFTER, "pulling", "pnpm install")]),
    ("Migrations must run before the seed script.", [Fact(BEFORE, "seed script", "Migrations")]),
    ("The build fails with ENOENT unless run.", [Fact(FAILS, "ENOENT", "build", condition="unless run")]),
    ("The watcher works on Linux.", [Fact(FAILS, "", "watcher", positive=False, place="on Linux")]),
    ("Use pnpm. Never push to main.", [Fact(USE, "pnpm"), Fact(DO, "push to main", positive=False)]),
    ("Use pnpm; do not push to main — ever.", [Fact(USE, "pnpm"), Fact(DO, "push to main", positive=False)]),
    ("- **Never** use [the old API](docs/old.md).", [Fact(USE, "old API", positive=False)]),
]  # fmt: skip

NOT_STATED = [
    "Should we use pnpm?",
    "Use pnpm?",
    'The old page says "use npm".',
    "The old page says use npm.",
    "> Use npm.",
    "You can use npm.",
    "We could use npm.",
    "It might need npm.",
    "Bad: use npm",
    "❌ Use npm",
    "Avoid:\n- Using npm\n- Use of yarn",
    "## Mistakes\n\n- Use npm everywhere",
    "For example:\n\n- Use npm",
    "Which of these?\n- Use npm",
    "# Use npm",
    "| Use npm | always |",
    "```\nUse npm.\n```",
    "```sh\nexport A=b\n```",
    "---\nname: x\ndescription: Use npm for it.\n---\n",
    "- [ ] Use npm",
    "Use it.",
    "Always do it.",
    "This requires a token.",
    "It lives in src/.",
    "Use npm or yarn.",
    "Use npm when:",
    "Do not just disable warnings.",
    "The user wants to see the log.",
    "Customers prefer npm.",
    "The release is in progress.",
    "The script is used for releases.",
    "Do not use any.",
    "The limit is 18.",
    "We used npm before.",
    "Make sure.",
    "",
    "Benutze pnpm.",
]


@pytest.mark.parametrize(("text", "wanted"), STATED)
def test_what_is_stated_is_found(text: str, wanted: list[Fact]) -> None:
    assert [fact.but(start=0, end=0, said="") for fact in facts(text)] == wanted


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_is_not_stated_is_left_alone(text: str) -> None:
    assert facts(text) == ()


def test_every_relation_has_examples() -> None:
    assert {fact.relation for _, wanted in STATED for fact in wanted} == set(Relation)


def test_a_fact_says_where_it_stands() -> None:
    text = "It broke.\n\n- Use\n  `pnpm`,  not npm. Thanks."
    (fact,) = facts(text)
    assert text[fact.start : fact.end].strip() == "Use\n  `pnpm`,  not npm"
    assert fact.said == "Use `pnpm`, not npm"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use the `pnpm` package manager.", "Use PNPM."),
        ("Use Node.js 20.", "Use nodejs 20."),
        ("Use pnpm for installs.", "Use pnpm when installing."),
        ("Use pnpm for installing.", "To install, use pnpm."),
        ("Never push to `main`.", "Do not push to main."),
        ("I prefer tabs.", "The user prefers tab."),
        ("Always sign the commits.", "You should always sign commits."),
    ],
)
def test_two_wordings_of_one_fact_have_the_same_keys(one: str, other: str) -> None:
    (first,), (second,) = facts(one), facts(other)
    assert (first.subject_key, first.object_key, first.limits_key) == (
        second.subject_key,
        second.object_key,
        second.limits_key,
    )


@pytest.mark.parametrize("text", [text for text, _ in STATED if not set("<>\n") & set(text)])
def test_a_lesson_states_the_same_once_it_is_cleaned(text: str) -> None:
    def keys(shown: str) -> list[tuple[object, ...]]:
        found = facts(shown)
        return [(each.relation, each.subject_key, each.object_key, each.positive, each.limits_key) for each in found]

    assert keys(tidy(text).text) == keys(text)


def test_case_is_kept_in_values() -> None:
    (fact,) = facts("Use MyWidget for PDF export.")
    assert (fact.object, fact.object_key, fact.purpose) == ("MyWidget", "mywidget", "PDF export")


def test_a_clause_with_a_secret_states_nothing() -> None:
    secret = "ghp_" + "a1B2" * 9
    assert facts(f"Set API_TOKEN to {secret}. Use pnpm.")[-1].object == "pnpm"
    assert secret not in repr(facts(f"Set API_TOKEN to {secret}. Always use {secret} for pushes."))


def test_there_are_at_most_so_many() -> None:
    assert len(facts(" ".join(f"Use tool{n}." for n in range(2 * MOST)))) == MOST


_VOCABULARY = """
use prefer run set pin put never always do not avoid pnpm npm `pnpm` tabs main src/a.py 3.11 >=2 Node is are requires
needs lives in at before after fails with works on to for when if unless because , . ; : ? ! ( ) " ' — - # > | ` ```
The user I We Ana wants likes it this and or X=1 CI \ue000 \ue001 \x00 \ud800 İ 🚀
"""
_WORDS = st.sampled_from([*_VOCABULARY.split(), "\n", "\n\n"])


@settings(max_examples=400)
@given(st.one_of(st.text(), st.lists(_WORDS, max_size=40).map(" ".join)))
def test_facts_stand_in_the_text_and_nothing_raises(text: str) -> None:
    found = facts(text)
    assert len(found) <= MOST
    assert [fact.start for fact in found] == sorted(fact.start for fact in found)
    for fact in found:
        assert 0 <= fact.start < fact.end <= len(text)
        assert len(fact.object) <= 200 and len(fact.said) <= 300
        held = f"{fact.object} {fact.subject} {fact.instead} {fact.purpose} {fact.place} {fact.condition}"
        assert set(re.findall(r"\w+", held)) <= {"on", "off", "by", "default", "only", *re.findall(r"\w+", text)}
        assert fact.subject_key == fact.but().subject_key and fact.limits_key == fact.but().limits_key


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from([text for text, _ in STATED if "\n" not in text and ":" not in text]), max_size=6, unique=True
    )
)
def test_sentences_state_together_what_each_states_alone(texts: list[str]) -> None:
    paragraph = " ".join(f"{text.rstrip('.')}." for text in texts)
    together = {fact.but(start=0, end=0, said="") for fact in facts(paragraph)}
    alone = {fact.but(start=0, end=0, said="") for text in texts for fact in facts(text)}
    assert together == alone


@pytest.mark.parametrize(
    "piece",
    [
        "a", "a ", "use ", "use a, ", "use a. ", "not ", "always ", "(", "(a) ", '"', '"a" ', "' ", "a: ", "- a\n",
        "  - a:\n", "`a` ", "[a](", "\n", "---\n", "when a, ", "is ", ". ", "x needs y. ", "to ", "İ", ".", "; ", "*",
        "prefer a ", "use a and ", "a is 1, ",
    ],
)  # fmt: skip
def test_time_is_linear_in_the_length_of_any_text(piece: str) -> None:
    def taken(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        started = time.process_time()
        facts(text)
        return time.process_time() - started

    taken(1_000)
    # Twelve times the text takes twelve times as long; a quadratic rule would take 144 times.
    assert min(taken(48_000), taken(48_000)) < 45 * min(taken(4_000), taken(4_000)) + 0.05


def test_a_long_text_takes_no_longer_than_to_look_for_signs_of_poisoning() -> None:
    prose = "Nothing {} is stated in this sentence, which goes on about what a person had in mind back then. "
    text = "".join(f"Use tool{n}.\n" + prose.format(n) * 9 for n in range(200))
    spent = []
    for act in (facts, lambda text: signs("AGENTS.md", "", text)):
        started = time.process_time()
        act(text)
        spent.append(time.process_time() - started)
    assert len(text) > 150_000
    assert spent[0] < 6 * spent[1]
