"""Whatever is typed, however long, the queue's verbs answer with a short sentence and never with all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook import learned
from lessonbook.book.offer import Offer, offer
from lessonbook.hosts.cli.learned import MORE
from lessonbook.hosts.cli.main import main

ID = "20261231-000000-00000a"
LONG = 100_000
WORDS = {
    "letters": "w" * LONG, "digits": "7" * LONG, "path": "/" + "p" * LONG, "many folders": "/p" * (LONG // 2),
    "home": "~" + "n" * LONG, "dot": "./" + "d" * LONG, "address": "https://" + "h" * LONG, "ssh": "h" * LONG + ":x",
    "scheme": "s" * LONG + "://x", "command": "ext::" + "c" * LONG, "pair": "AGENTS.md=" + "f" * LONG,
    "name": "n" * LONG + "=/dev/null", "commit": f"{ID}@" + "0" * LONG, "id": ID + "0" * LONG,
    "words": "word " * (LONG // 5), "nobody's home": "~nobody-is-called-so/x",
}  # fmt: skip
ONE = ("diff", "accept", "reject", "edit", "split", *(verb for verb in MORE if verb not in ("rejected", "verify")))
OPTIONS = (
    ("accept", ID, "--only"), ("accept", ID, "--book"), ("list", "--book"), ("edit", ID, "--file"),
    ("edit", ID, "--delete"), ("split", ID, "--by"), ("promote", ID, "--to"), ("expire", "--days"),
    ("undo", ID, "--book"), ("pull", "--book"), ("pin", "x", "--book"),
)  # fmt: skip
MOST = 1_000


@pytest.fixture
def book(commit: Callable[..., Path]) -> Path:
    folder = commit({"AGENTS.md": "Lint.\n"})
    [id] = offer(folder, [Offer("One", "One.")], 1_798_675_200, lambda: "00000a")
    assert id == ID
    return folder


@pytest.mark.parametrize("word", WORDS)
def test_no_verb_says_all_of_it_again(book: Path, capsysbinary: pytest.CaptureFixture[bytes], word: str) -> None:
    text = WORDS[word]
    asked = [("learned", verb, text) for verb in ONE]
    asked += [("learned", *words, text) for words in OPTIONS]
    asked += [("learned", text), ("learned", "accept", text, text + "x"), ("learned", "diff", text, "--json")]
    before = learned.pending(book)
    for words in asked:
        code = main(words)
        out, err = capsysbinary.readouterr()
        said = json.loads(out)["error"].encode() if words[-1] == "--json" else out + err
        assert code != 70 and 0 < len(said) < MOST and said.count(b"\n") <= 3, (words[1], code, said[:MOST])
    assert learned.pending(book) == before


@pytest.mark.parametrize("word", WORDS)
def test_no_function_and_no_text_command_does(book: Path, word: str) -> None:
    text = WORDS[word]
    calls = [getattr(learned, name)(book, text) for name in ("diff", "accept", "reject", "split", "undo", "unreject")]
    calls += [learned.edit(book, text, {}), learned.edit(book, ID, {text: "x"}), learned.edit(book, ID, {text: 1})]  # type: ignore[dict-item]
    calls += [
        learned.accept(book, ID, commit=text),
        learned.accept(book, ID, files=[text]),
        learned.compact(book, text),
    ]
    calls += [learned.split(book, ID, by=text), learned.promote(book, ID, text), learned.promote(book, text, book)]
    calls += [learned.pull(book, text), learned.push(book, text)]
    many = learned.accept_many(book, [text, ID], commit={text: text, ID: text})
    assert not many["accepted"]
    assert not any(told["ok"] for told in calls)
    assert all(len(told["error"]) < MOST for told in [*calls, *many["refused"]])
    verbs = (
        "diff",
        "accept",
        "reject",
        "split",
        "undo",
        "unreject",
        "compact",
        "edit",
        "",
        f"accept {ID}@",
        f"split {ID}",
    )
    for verb in verbs:
        said = learned.learned_command(book, f"{verb} {text}")
        assert said and len(said) < MOST * (1 + said.count("\n")), verb
