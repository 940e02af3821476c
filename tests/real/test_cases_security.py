"""The security cases, end to end: names that walk out, planted links, and one key through every entrance there is."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.learn import LearnSession, LearnTool
from lessonbook.book.offer import Offer, offer
from lessonbook.core.errors import InputError, LearnError
from lessonbook.memory.registry import open_memory
from lessonbook.system.projects import identify
from lessonbook.system.settings import load, places

IDS = [f"20270301-0800{n:02d}-0000aa" for n in range(12)]
SKILL = "---\nname: tidy\ndescription: When tidying.\n---\n\nSteps.\n"


def snapshot(*folders: Path) -> dict[str, bytes | str]:
    """Every path below the folders: links with their targets, files with their bytes."""
    found: dict[str, bytes | str] = {}
    for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
        found[str(path)] = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
    return found


def agent(home: Path) -> Path:
    return home / ".local/share/lessonbook/agent"


TRICKS = ["../x", "..", ".", "/etc/x", "a/../../x", "..%2fx", "%2e%2e", "..\\x", "C:\\x", "~/x", "x\0.md", "．．／x",
          "x/SKILL.md", ".git", "tidy.", "tidy ", " tidy", "tidy/", "", "-rf", "--",
          "tidy\n", "x\udcff", "*"]  # fmt: skip
VERBS = [("skills", "show"), ("skills", "history"), ("skills", "undo"), ("skills", "delete"),
         ("skills", "show", "--to=1"),
         ("learned", "diff"), ("learned", "accept"), ("learned", "reject"), ("learned", "compact"),
         ("learned", "list", "--book"), ("config", "get"), ("config", "set")]  # fmt: skip


def test_se_01_no_name_of_any_verb_walks_out(here, commit, candidate, home: Path, tmp_path: Path) -> None:
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, IDS[0], {"AGENTS.md": "Base.\n\nRule.\n"})
    commit({"AGENTS.md": "Base.\n"}, "app-00000001")
    file = agent(home) / "managed-skills/tidy/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(SKILL)
    (home / "x").mkdir()
    (home / "x/SKILL.md").write_text(SKILL)
    (book.parent / ".learned.lock").touch()  # `compact -- --` names none, and asks for the whole book
    before = snapshot(tmp_path)
    for verb in VERBS:
        for name in TRICKS:
            code, out, err = here(*verb, *([] if verb[-1] == "--book" else ["--"]), name, *["on"] * (verb[-1] == "set"))
            if verb[-1] == "--book" and code == 0:  # a path of the person's own that holds no book
                assert out == "nothing is pending\n" and ("/" in name or name.startswith(("~", "."))), (name, out)
            else:
                assert code != 0 and out == "" and err.count("\n") == 1 and "unexpected" not in err, (verb, name, err)
    assert snapshot(tmp_path) == before


def test_se_02_what_was_planted_is_never_followed(here, commit, candidate, git, home: Path, tmp_path: Path) -> None:
    secret = home / "secret"
    secret.write_text("---\nname: secret\ndescription: a-private-thing\n---\n\na-private-thing\n")
    own = home / "own"
    own.mkdir()
    (own / "SKILL.md").write_text(SKILL.replace("tidying", "a-private-thing"))
    managed = agent(home) / "managed-skills"
    (managed / "file").mkdir(parents=True)
    (managed / "linked").symlink_to(own)
    (managed / "file/SKILL.md").symlink_to(secret)
    book = commit({"AGENTS.md": "Base.\n", "skills/tidy/SKILL.md": SKILL})
    planted: dict[str, tuple[str, str, str]] = {
        IDS[0]: ("120000", "AGENTS.md", "symbolic link"),
        IDS[1]: ("120000", "skills/x/SKILL.md", "symbolic link"),
        IDS[2]: ("160000", "skills/x/sub", "submodule"),
        IDS[3]: ("100755", "skills/x/run.sh", "executable"),
        IDS[4]: ("100644", ".gitattributes", "not a file a book holds"),
        IDS[5]: ("100644", ".gitmodules", "not a file a book holds"),
        IDS[6]: ("100644", "skills/x/y", ""),
    }
    (tmp_path / "target").write_text(str(secret))
    blob = git(book, "hash-object", "-w", str(tmp_path / "target"))
    for id, (mode, path, _) in planted.items():
        git(book, "checkout", "-q", "-b", f"pending/{id}", "main")
        oid = git(book, "rev-parse", "HEAD") if mode == "160000" else blob
        git(book, "update-index", "--add", "--cacheinfo", f"{mode},{oid},{path}")
        git(book, "commit", "-q", "-m", "Lesson from a replay: planted")
        git(book, "checkout", "-q", "-f", "main")
    git(book, "clean", "-qfdx")
    before = snapshot(own, book / "skills") | {
        "secret": secret.read_text(),
        "AGENTS.md": (book / "AGENTS.md").read_text(),
    }
    rows = here("learned").stdout
    for id, (_, path, why) in planted.items():
        done = here("learned", "diff", id)
        assert done.returncode == 0 and "a-private-thing" not in done.stdout
        if why:
            assert path in here("learned", "accept", id).stderr and why in rows
    (book / "AGENTS.md").unlink()
    (book / "AGENTS.md").symlink_to(secret)
    shown = [here(*words).stdout for words in (("brief",), ("skills",), ("skills", "--json"), ("status",))]
    assert "a-private-thing" not in "".join(shown) and "Base." in shown[0] and "tidy" in shown[1]
    assert "symbolic link" in here("skills").stderr
    for name in ("linked", "file"):
        assert here("skills", "show", name).returncode == 2
        assert here("skills", "delete", name).returncode == 0
    assert list(managed.iterdir()) == []
    (book / "AGENTS.md").unlink()
    git(book, "checkout", "-q", "--", "AGENTS.md")
    after = snapshot(own, book / "skills") | {
        "secret": secret.read_text(),
        "AGENTS.md": (book / "AGENTS.md").read_text(),
    }
    assert after == before and git(book, "rev-list", "--count", "main") == "1"


class Keys:
    """Fake keys, one per place, each looked for everywhere afterwards."""

    def __init__(self) -> None:
        self.all: dict[str, str] = {}

    def __getitem__(self, place: str) -> str:
        return self.all.setdefault(place, "ghp" + f"_{len(self.all):02d}" + "x7Q2" * 9)

    def found(self, text: str | bytes) -> list[str]:
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        return [place for place, key in self.all.items() if key.encode() in data]


def everywhere(home: Path, but: Iterable[Path]) -> Iterable[tuple[Path, bytes]]:
    """Every file's name and bytes, and every object and ref of every repository unpacked."""
    for path in home.rglob("*"):
        if any(path.is_relative_to(other) for other in but):
            continue
        yield path, str(path.relative_to(home)).encode("utf-8", "surrogateescape")
        if path.is_file():
            yield path, path.read_bytes()
        if path.name == ".git":
            for words in (["cat-file", "--batch-all-objects", "--batch", "--unordered"], ["for-each-ref"]):
                command = ["git", "--git-dir", str(path), *words]
                yield path, subprocess.run(command, capture_output=True, check=True).stdout


def spoiled_sessions(root: Path, project: Path, keys: Keys) -> None:
    """Three sessions that say the same, with a key in every field a lesson or its evidence is made of."""
    root.mkdir(parents=True)
    for n in range(3):
        records: list[dict[str, Any]] = [{"type": "summary", "summary": keys["title"], "leafUuid": "0"}]
        session = f"{keys['session']}-{n}"

        def add(kind: str, content: object, records: Any = records, session: str = session, n: int = n) -> None:
            at = len(records)
            records.append({
                "type": kind, "uuid": f"{n}-{at}", "sessionId": session, "cwd": str(project),
                "version": keys["version"], "gitBranch": keys["branch"],
                "timestamp": f"2026-03-0{n + 1}T10:00:{at:02}.000Z",
                "message": {"role": kind, "id": f"m{n}-{at}", "content": content},
            })  # fmt: skip

        def call(
            name: str, result: str, failed: bool = True, add: Any = add, records: Any = records, **args: str
        ) -> None:
            id = f"t{n}-{len(records)}"  # noqa: B023  called in this turn only
            add("assistant", [{"type": "tool_use", "id": id, "name": name, "input": args}])
            add("user", [{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}])

        add("user", f"start with {keys['prompt']}")
        error = f"Exit code 2\nerror: unrecognized subcommand 'npm' {keys['error']}"
        call("Bash", error, command=f"tok npm run test --token {keys['command']}")
        call("Bash", "ok", failed=False, command=f"npm run test --token {keys['command']}")
        call(keys["tool"], f"<tool_use_error>No such tool available: {keys['tool']}</tool_use_error>", q="x")
        call("Skill", f"<tool_use_error>Unknown skill: {keys['skill']}</tool_use_error>", skill=keys["skill"])
        call("Edit", "<tool_use_error>File has not been read yet.</tool_use_error>", file_path=f"/w/{keys['path']}.js")
        lesson = f"Use the deploy token {keys['lesson']} for staging deploys on fridays only"
        call("mcp__x__learn", "Lesson stored.", failed=False, memory=lesson)
        refusal = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
        )
        refusal += "edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
        call("Bash", f"{refusal}never push with {keys['reason']} here", command=f"git push {keys['remote']}")
        add("user", f"No, I told you: never put tabs or {keys['correction']} in YAML files here")
        (root / f"{session}.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")


def offered_ids(listing: str) -> list[str]:
    return [line[:22] for line in listing.splitlines() if line.startswith("20")]


def test_se_07_a_key_in_any_field_of_a_session_is_kept_nowhere(here, home: Path, git) -> None:
    keys, project, root = Keys(), home / "shop", home / ".claude/projects/-shop"
    project.mkdir()
    git(project, "init", "-q")
    git(project, "remote", "add", "origin", f"https://ana:{keys['url']}@example.org/ana/shop.git")
    spoiled_sessions(root, project, keys)
    said = [here("propose", "--dry-run", "--json")]
    for _ in range(2):  # what did not fit the first time comes the second
        said.append(here("propose"))
        assert said[-1].returncode == 0
    ids = offered_ids(here("learned").stdout)
    assert len(ids) >= 3
    said += [here("learned", "diff", id) for id in ids]
    said += [here("learned", "accept", ids[0]), here("learned", "reject", ids[1]), here("learned", "accept", ids[2])]
    said += [here(*words, cwd=project) for words in (("learned", "--json"), ("brief",), ("status",), ("skills",))]
    assert all(done.returncode == 0 for done in said)
    assert keys.found("".join(done.stdout + done.stderr for done in said)) == []
    seen = list(everywhere(home, but=(root, project)))
    assert any(b"[REDACTED]" in data for _, data in seen)
    assert [(path, found) for path, data in seen if (found := keys.found(data))] == []


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_se_07_a_key_in_any_field_of_a_lesson_is_kept_nowhere(run, home: Path, tmp_path: Path, backend: str) -> None:
    keys = Keys()
    for key, value in (("memory.backend", backend), ("autolearn.enabled", "true")):
        run("config", "set", key, value)
    said = [run("learn", f"text {keys['text']}", "--context", f"from {keys['context']}").stdout]
    said.append(run("learn", "-", "--json", stdin=f"piped {keys['piped']}").stdout)
    where, cwd = places(), tmp_path / "work"
    settings = load(where)
    memory = open_memory(settings, identify(cwd), lambda: 1.7e9, cwd)
    tool = LearnTool(settings, LearnSession(cwd, keys["session"], memory))
    good = {"action": "create", "name": "tidy", "description": "When tidying.", "body": "Steps."}
    calls: list[dict[str, Any]] = [
        {"memory": f"a {keys['memory']}", "context": keys["tool context"]},
        {"memory": "b", "skill": good | {"description": f"Use {keys['description']}", "body": f"Run {keys['body']}"}},
        {"memory": "c", "skill": good | {"action": "update", "body": f"Now {keys['update']}"}},
        {"memory": "d", "skill": good | {"name": keys["name"]}},
        {"memory": "e", "skill": good | {"action": keys["action"]}},
        {"memory": "f", keys["field"]: "x"},
        {"memory": "g", "skill": {**good, keys["skill field"]: "x"}},
        {"memory": "h", "skill": keys["skill"]},
    ]
    for call in calls:
        try:
            said.append(repr(tool.execute(call)))
        except LearnError as error:
            said.append(str(error))
    memory.close()
    said += [(done := run(*words)).stdout + done.stderr for words in (
        ("recall", "--limit", "50"), ("recall", keys["question"]), ("recall", "--json"), ("skills", "show", "tidy"),
        ("skills", "--json"), ("brief",), ("status",), ("hook", "session-start"),
    )]  # fmt: skip
    assert keys.found("".join(said)) == []
    seen = list(everywhere(home, but=()))
    assert any(b"[REDACTED]" in data for _, data in seen)
    assert [(path, found) for path, data in seen if (found := keys.found(data))] == []


def test_se_07_a_key_typed_in_the_wrong_place_is_not_repeated_by_the_error(here, home: Path) -> None:
    keys = Keys()
    here("config", "set", "memory.backend", "local")
    wrong: list[tuple[str, ...]] = [
        ("learn", "x", "--scope", keys["scope"]), ("learn", "x", f"--{keys['option']}"), (keys["verb"],),
        ("learned", "accept", keys["id"]), ("learned", "--book", keys["book"]), ("learned", keys["do"]),
        ("skills", "show", keys["show"]), ("skills", "delete", keys["delete"]),
        ("skills", "undo", "x", "--to", keys["to"]),
        ("config", "get", keys["get"]), ("config", "set", "memory.backend", keys["value"]),
        ("propose", "--from", f"/no/{keys['path']}"), ("recall", "x", "--limit", keys["limit"]),
        ("status", "--cwd", f"/no/{keys['cwd']}", "--json", keys["more"]),
    ]  # fmt: skip
    for words in wrong:
        code, out, err = here(*words)
        assert code != 0 and "[REDACTED]" in out + err and keys.found(out + err) == [], (words, out, err)


def test_se_07_a_hand_edited_branch_brings_no_key_to_head(here, commit, candidate, git, home: Path) -> None:
    keys = Keys()
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, IDS[0], {"AGENTS.md": f"Base.\n\nUse {keys['rule']}.\n"})
    candidate(book, IDS[1], {"skills/x/SKILL.md": SKILL.replace("Steps", keys["skill"])})
    candidate(book, IDS[2], {f"skills/x/{keys['file']}.md": "x\n"})
    candidate(book, IDS[3], {"skills/y/SKILL.md": SKILL}, f"Lesson from a replay: {keys['subject']}")
    candidate(
        book, IDS[4], {"skills/z/SKILL.md": SKILL}, f"Lesson from a replay: z\n\nEvidence-said: {keys['trailer']}"
    )
    candidate(book, IDS[5], {"skills/good/SKILL.md": SKILL})
    before = snapshot(book)
    for id in IDS[:5]:
        done = here("learned", "accept", id)
        assert done.returncode == 1 and "looks like a secret" in done.stderr and keys.found(done.stderr) == []
    assert snapshot(book) == before
    assert here("learned", "accept", IDS[5]).returncode == 0
    said = [here(*words) for words in (("brief",), ("skills",), ("skills", "--json"), ("status",), ("doctor",))]
    said += [here("learned", "reject", id) for id in IDS[:5]]
    assert keys.found("".join(done.stdout + done.stderr for done in said)) == []
    kept = git(book, "rev-list", "--objects", "main")
    assert keys.found(git(book, "log", "-p", "main") + kept) == []
    files = (path for path in book.rglob("*") if path.is_file() and ".git" not in path.parts)
    assert keys.found(b"".join(path.read_bytes() for path in files)) == []


def test_se_07_a_key_through_every_way_of_changing_a_candidate_is_kept_nowhere(
    here, commit, git, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offer, edit, split, compact, reject with a reason, pin, promote and push; every repository is looked through."""
    monkeypatch.setenv("TMPDIR", str(home / "tmp"))
    (home / "tmp").mkdir()
    keys, project, team = Keys(), home / "shop", home / "team"
    git(home, "init", "-q", str(project))
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    git(home, "init", "-q", "--bare", str(team))
    book = commit({"AGENTS.md": "Base.\n"})
    model = tmp_path / "model"
    model.write_text(
        f"#!/bin/sh\ncat > {tmp_path}/prompt\necho '[kept 1]'\necho\necho 'Short {keys['reply']}.'\n"
        f"echo 'warning {keys['complaint']}' >&2\n"
    )
    model.chmod(0o755)
    (home / ".config/lessonbook/config.toml").write_text(f'[editor]\ncommand = ["{model}"]\n')
    new, skills = tmp_path / "new", {"skills/tidy/SKILL.md": SKILL}
    said, numbers = [], itertools.count()

    def do(*words: str, code: int = 0) -> None:
        done = here("learned", *words, cwd=project)
        assert done.returncode == code, (words, done)
        said.append(done.stdout + done.stderr)

    offers = [
        Offer(f"One {keys['title']}", "Long rule. " * 40),
        Offer("Two", "Rule two.", skills),
        Offer("Three", "3."),
    ]
    try:
        ids = offer(book, offers, 1_800_000_000, lambda: f"{next(numbers):06x}")
    except InputError as error:
        said.append(str(error))
        ids = offer(
            book, [Offer("One", "Long rule. " * 40), *offers[1:]], 1_800_000_000, lambda: f"{next(numbers):06x}"
        )
    with pytest.raises(InputError) as refused:
        offer(book, [Offer("Four", f"Use {keys['rule']}.")], 1_800_000_000, lambda: "0000ee")
    said.append(str(refused.value))
    new.write_text(f"Base.\n\nLong rule {keys['edit']}. {'It is long. ' * 30}\n")
    do("edit", ids[2], "--file", f"AGENTS.md={new}")
    do("split", ids[1])
    do("accept", ids[0])
    do("reject", ids[2], "--reason", f"holds {keys['reason']}")
    do("compact")
    do("list", "--signs")
    do("rejected")
    do("pin", f"{keys['pin']}", code=2)
    do("promote", ids[0], "--to", str(project))
    do("promote", ids[0], "--to", f"/no/{keys['project']}", code=1)
    do("push", str(team))
    do("push", f"https://ana:{keys['remote']}@127.0.0.1:1/x", code=1)
    do("pull", f"ssh://ana:{keys['ssh']}@127.0.0.1:1/x", code=1)
    do("undo", ids[0])
    do("verify", "--json", code=1)
    assert keys.found("".join(said)) == []
    assert keys.found((tmp_path / "prompt").read_bytes()) == [] and list(home.rglob("models.jsonl"))
    seen = list(everywhere(home, but=()))
    command = ["git", "--git-dir", str(team), "cat-file", "--batch-all-objects", "--batch"]
    seen.append((team, subprocess.run(command, capture_output=True, check=True).stdout))
    assert sum(data.count(b"[REDACTED]") for _, data in seen) >= 3
    assert [(path, found) for path, data in seen if (found := keys.found(data))] == []
    assert not list((home / "tmp").iterdir())


def test_se_07_what_a_person_wrote_by_hand_is_shown_without_its_keys(here, commit, home: Path, tmp_path: Path) -> None:
    keys = Keys()
    here("config", "set", "memory.backend", "local")
    here("learn", "first")
    commit({
        "AGENTS.md": f"Log in with `{keys['rule']}`.\n", "dhrona-2026-11-30.md": f"- {keys['dated']}\n",
        "skills/deploy/SKILL.md":
            f"---\nname: deploy\ndescription: With {keys['described']}\n---\n\n{keys['learned']}\n",
    })  # fmt: skip
    [file] = agent(home).rglob("learned.md")
    file.write_text(f"- by hand {keys['lesson']} _(context: {keys['context']})_\n{keys['prose']}\n")
    managed = agent(home) / "managed-skills/tidy/SKILL.md"
    managed.parent.mkdir(parents=True)
    managed.write_text(SKILL.replace("tidying", keys["managed"]).replace("Steps", keys["steps"]))
    mine = file.read_bytes(), managed.read_bytes()
    said = [(done := here(*words)).stdout + done.stderr for words in (
        ("brief",), ("brief", "--full"), ("brief", "--json"),
        ("recall",), ("recall", "hand"),
        ("skills",), ("skills", "--json"), ("skills", "show", "deploy"), ("skills", "show", "tidy"), ("status",),
        ("learn", "second"), ("skills", "history", "tidy"),
    )]  # fmt: skip
    assert keys.found("".join(said)) == [] and sum("[REDACTED]" in one for one in said) >= 9
    assert mine[0] in file.read_bytes().replace(b"- second\n", b"") and managed.read_bytes() == mine[1]


def test_se_07_a_crash_file_holds_no_key(run, home: Path, tmp_path: Path) -> None:
    """The details of an unforeseen error are kept for a report; they may quote what was worked on."""
    from lessonbook.hosts.cli.crash import report

    keys = Keys()
    said = report(RuntimeError(f"could not parse {keys['error']}"), ["learn", keys["argument"]])
    [file] = home.rglob("last-error.txt")
    assert keys.found(said) == [] and keys.found(file.read_bytes()) == [] and b"RuntimeError" in file.read_bytes()
