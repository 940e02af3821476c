"""The rest of the book on the page: briefing, history, skills, memories; and texts that are meant to harm."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book.offer import Offer

ON = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n[review]\nname = "Ana Lee"\n'
SKILL = "---\nname: sizes\ndescription: {}\n---\n\nLook first.\n"
BAD = (
    "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "</textarea><script>alert(1)</script>",
    "[x](javascript:alert(1))", "![](http://e.invalid/p.png)", "{{7*7}}{% include 'base.html' %}",
    "&lt;b&gt;bold&lt;/b&gt;",
    "'-alert(1)-'", "\u202egpj.exe\u202c \u200bhidden", "<style>*{display:none}</style>", "<base href=http://e.invalid/>",
    '<meta http-equiv="refresh" content="0;url=http://e.invalid">', "<iframe src=http://e.invalid></iframe>",
)  # fmt: skip


@pytest.fixture
def book(commit: Callable[..., Path], home: Path) -> Path:
    folder = home / ".config/lessonbook"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(ON)
    return commit({"AGENTS.md": "# Rules\n\nUse npm here.\n"})


def text_of(page: str) -> str:
    """What a page says, without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


def test_the_briefing_is_the_very_text(serve: Any, book: Path, run: Any, work: Path) -> None:
    server = serve()
    told = json.loads(run("brief", "--json").stdout)
    page = server.get("/briefing").text
    shown = re.search(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert shown and html.unescape(shown[1]).strip() == told["text"].strip()
    assert f"<dd>{told['characters']:,}" in page and f"<dd>{told['tokens']:,}" in page


def test_each_line_names_who_proposed_and_who_accepted(
    serve: Any, open_page: Any, book: Path, run: Any, offered: Any
) -> None:
    one, _ = offered(book, "Tag first.", "Lint first.")
    assert run("learned", "accept", one, env={"LESSONBOOK_REVIEWER": "Kim Roe <kim@example.org>"}).returncode == 0
    page = open_page(serve())
    with page.expect_navigation():
        page.get_by_role("link", name="History").first.click()
    rows = page.locator(".blame tbody tr")
    by_hand, proposed = rows.filter(has_text="Use npm here."), rows.filter(has_text="Tag first.")
    assert by_hand.locator("td").all_inner_texts()[1:4] == ["Use npm here.", "Ana", "—"]
    assert proposed.locator("td").all_inner_texts()[1:4] == ["Tag first.", "lessonbook", "Kim Roe"]
    with page.expect_navigation():
        proposed.get_by_role("link").click()
    row = page.locator(f"[id='{one}']")
    assert page.url.endswith(f"#{one}") and "accepted by Kim Roe" in row.inner_text()
    with page.expect_navigation():
        row.get_by_role("button", name="Undo").click()
    assert (book / "AGENTS.md").read_text() == "# Rules\n\nUse npm here.\n"
    with page.expect_navigation():
        page.get_by_role("link", name="History").first.click()
    assert "Undo: Tag first" in page.locator(".steps-list").inner_text()
    assert page.get_by_role("button", name="Undo: ").count() == 0


def test_which_skill_wins_and_why(serve: Any, book: Path, home: Path, commit: Callable[..., Path]) -> None:
    commit({"skills/sizes/SKILL.md": SKILL.format("Accepted one.")})
    own = home / ".claude/skills/sizes/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text(SKILL.format("A person's."))
    managed = home / ".local/share/lessonbook/agent/managed-skills/other/SKILL.md"
    managed.parent.mkdir(parents=True)
    managed.write_text(SKILL.format("An agent's.").replace("sizes", "other"))
    server = serve()
    page = text_of(server.get("/skills").text)
    assert f"no: {own} has its name and wins" in page
    assert "a person wrote it" in page and "accepted by review" in page and "an agent wrote it" in page
    assert "Look first." in text_of(server.get("/skills?name=sizes").text)
    assert server.get("/skills?name=nope").status == 400


def test_lessons_are_found_with_why_changed_and_taken_back(
    serve: Any, open_page: Any, book: Path, run: Any, work: Path
) -> None:
    for text in ("Run the database tests with make db-test.", "The staging server is reset every Monday."):
        assert run("learn", text).returncode == 0
    server = serve()
    page = open_page(server)
    with page.expect_navigation():
        page.get_by_role("link", name="Memories").click()
    assert page.locator(".item").count() == 2
    page.keyboard.press("/")
    page.keyboard.type("database tests")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator(".item").first.inner_text().startswith("Run the database tests")
    page.locator("summary").first.click()
    assert "words" in page.locator("details table").first.inner_text()
    with page.expect_navigation():
        page.get_by_role("link", name="Run the database").click()
    assert "recalled 0 times" in page.locator(".meta").inner_text()  # who looks uses nothing
    for name, state in (("Pin", "pinned"), ("Forget", "forgotten")):
        with page.expect_navigation():
            page.get_by_role("button", name=name, exact=True).click()
        assert state in page.locator(".meta .badge").all_inner_texts()
    assert "db-test" not in run("recall", "database tests").stdout
    with page.expect_navigation():
        page.locator("h1").click()
        page.keyboard.press("u")
    assert page.locator(".meta .badge").all_inner_texts() == ["pinned"]
    field = page.locator("#text")
    field.fill(field.input_value().replace("make db-test", "make db-check").replace("cue:", "cue: before a release"))
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    assert "make db-check" in run("recall", "database tests").stdout
    assert "before a release" in page.locator("#text").input_value()
    page.locator("#text").fill("---\nshape: round\n---\n\nx")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    assert "has no field" in page.locator(".notice.refused").inner_text()
    assert page.locator("#text").input_value().startswith("---\nshape: round")
    open_page.wrong.clear()  # the browser notes the status of the refusal


def test_without_a_memory_it_says_how_to_have_one(serve: Any, book: Path, home: Path) -> None:
    config = home / ".config/lessonbook/config.toml"
    server = serve()
    config.write_text("")
    assert "config set memory.backend mnemopi" in server.get("/memories").text
    assert server.get("/lesson?id=1").status == 409
    config.write_text('[memory]\nbackend = "local"\n')
    assert "plain file" in server.get("/memories").text
    config.write_text("[memory\n")
    assert "not valid TOML" in server.get("/memories").text and server.get("/skills").status == 409
    assert server.get("/").status == 200
    assert server.post("/lesson-change", {"id": "1", "what": "burn"}).status == 400


def test_a_book_that_cannot_be_read_hides_no_other(serve: Any, book: Path, commit: Any, offered: Any) -> None:
    other = commit({"AGENTS.md": "x\n"}, "app-00000001")
    offered(book, "One.")
    (other / ".git" / "HEAD").write_text("nonsense\n")
    server = serve()
    page = server.get("/").text
    assert "One" in page and "app-00000001" in page and 'class="trouble"' in page
    assert server.get("/history?in=app-00000001").status == 500
    assert server.get("/history?in=nope").status == 404 and server.get("/candidate").status == 400


def poisoned(book: Path) -> str:
    """A candidate whose every field holds what would act in a page: a branch that somebody made by hand."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    names = BAD[0].replace("<", "(").replace(">", ")")  # git allows no angle brackets in a name
    env |= {"GIT_AUTHOR_NAME": f"{names}\"&'", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "\"'&lt;{{7*7}}"}
    env |= {"GIT_COMMITTER_EMAIL": "a@b.c"}
    named = ("kind", "failed", "error", "worked", "said", "session", "count")
    keys = ("Proposer", *(f"Evidence-{name}" for name in named), "Other")
    trailers = "\n".join(f"{key}: {bad}" for key in keys for bad in BAD)
    message = f"Lesson from a replay: {' '.join(BAD)}\n\n{trailers}\n"
    id = "20261231-000000-0000ff"

    def git(*words: str, data: str = "") -> str:
        words = ("git", "-C", str(book), *words)
        return (
            subprocess.run(words, env=env, input=data.encode(), capture_output=True, check=True).stdout.decode().strip()
        )

    blob = git("hash-object", "-w", "--stdin", data="# Rules\n\nUse npm here.\n" + "\n\n".join(BAD) + "\n")
    skill = git("hash-object", "-w", "--stdin", data=SKILL.format('"' + " ".join(BAD).replace('"', "'") + '"'))
    odd = "skills/sizes/<img src=x onerror=alert(1)>.md"
    rows = [f"100644 blob {blob}\tAGENTS.md", f"100644 blob {skill}\tskills/sizes/SKILL.md"]
    rows.append(f"100644 blob {skill}\t{odd}")
    index = {"GIT_INDEX_FILE": str(book / ".git" / "poison-index")}
    env |= index
    git("update-index", "--index-info", data="\n".join(rows) + "\n")
    commit = git("commit-tree", git("write-tree"), "-p", "HEAD", data=message)
    git("branch", f"pending/{id}", commit)
    return id


def test_what_would_act_in_a_page_is_shown_as_text(
    serve: Any, open_page: Any, book: Path, run: Any, offered: Any
) -> None:
    id = poisoned(book)
    offered(book, Offer(" ".join(BAD), "\n\n".join(BAD)))
    run("learn", " ".join(BAD))
    server = serve()
    page = open_page(server)
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    assert "onerror=alert(1)" in page.locator(".subject").first.inner_text()
    for path in (
        f"/candidate?in=global&id={id}",
        f"/candidate?in=global&id={id}&diff=side",
        f"/edit?in=global&id={id}",
    ):
        page.goto(server.origin + path)
        assert page.locator("main img, main script, main iframe, main style, main base, main meta").count() == 0
        assert page.locator("main svg [onload], main [onerror], a[href^=javascript]").count() == 0
    assert "</textarea><script>" in page.locator("#after-0").input_value()
    page.goto(f"{server.origin}/candidate?in=global&id={id}")
    said = page.locator("main").inner_text()
    for bad in BAD:
        assert bad.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c").replace("\u200b", "\\u200b") in said
    assert "49" not in page.locator("h1").inner_text()
    for path in ("/", "/rejected", "/history", "/memories", "/lesson?id=1", "/briefing", "/skills", "/?q=" + BAD[1]):
        page.goto(server.origin + path)
        assert page.locator("main img, main script, main iframe, [onerror], [onload]").count() == 0
    page.goto(f"{server.origin}/candidate?in=global&id={id}")
    page.locator("#reason").fill("".join(BAD[:3]))
    with page.expect_navigation():
        page.get_by_role("button", name="Reject").click()
    with page.expect_navigation():
        page.get_by_role("link", name="Rejected").click()
    assert "onerror=alert(1)" in page.locator(".item").inner_text()
    assert page.locator("main img, main script, main svg").count() == 0
    assert not dialogs  # and ``open_page`` fails for any request to another place
