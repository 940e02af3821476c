"""The git cases, end to end through the command, on real repositories set up the way people's machines are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

IDS = [f"20270301-0800{n:02d}-0000aa" for n in range(12)]
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
Commit = Callable[..., Path]
Git = Callable[..., str]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, git's own included, byte for byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def skill(name: str) -> dict[str, str]:
    return {f"skills/{name}/SKILL.md": f"---\nname: {name}\ndescription: About {name}.\n---\n\nSteps.\n"}


def test_gq_01_twelve_that_append_are_all_accepted_and_a_true_overlap_is_told(here, commit, candidate, git) -> None:
    book = commit({"AGENTS.md": "Base.\n"})
    for n, id in enumerate(IDS):
        candidate(book, id, {"AGENTS.md": f"Base.\n\nRule {n}.\n"})
    for n in (7, 0, 11, 3, 5, 1, 10, 2, 9, 4, 8, 6):
        code, out, _ = here("learned", "accept", IDS[n])
        assert code == 0 and "no longer" not in out, out
    paragraphs = (book / "AGENTS.md").read_text().strip().split("\n\n")
    assert paragraphs[0] == "Base." and sorted(paragraphs[1:]) == sorted(f"Rule {n}." for n in range(12))
    for id, text in ((IDS[0], "One.\n"), (IDS[1], "Two.\n")):
        candidate(book, id, {"AGENTS.md": text})
    assert "no longer apply: reject them" in here("learned", "accept", IDS[0]).stdout
    before = tree(book)
    done = here("learned", "accept", IDS[1])
    assert done.returncode == 1 and "no longer applies" in done.stderr and "stale" in here("learned").stdout
    assert tree(book) == before and (book / "AGENTS.md").read_text() == "One.\n"
    assert git(book, "status", "--porcelain") == ""


HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge", "pre-auto-gc",
         "reference-transaction", "post-index-change", "post-rewrite", "fsmonitor-watchman", "pre-push",
         "pre-receive", "update", "post-receive", "post-update", "proc-receive")  # fmt: skip
RUNNING = ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
           "core.alternateRefsCommand", "diff.external", "diff.x.textconv", "diff.x.command",
           "filter.x.clean", "filter.x.smudge",
           "filter.x.process", "merge.x.driver", "gpg.program", "credential.helper", "sequence.editor",
           "uploadpack.packObjectsHook", "alias.rev-parse", "alias.config", "alias.for-each-ref", "alias.cat-file",
           "pager.config", "pager.diff-tree")  # fmt: skip
VARIABLES = ("GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_PAGER", "PAGER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS",
             "GIT_PROXY_COMMAND", "SSH_ASKPASS", "EDITOR", "VISUAL")  # fmt: skip


class Trap:
    """A program that leaves a marker, named wherever a repository or a person can name one."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.marker, self.program = folder / "ran", folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.marker}\ncat 2>/dev/null\nexit 1\n')
        self.program.chmod(0o755)
        lines = [self._line(key) for key in RUNNING]
        lines += ["[commit]\ngpgSign = true\ntemplate = /nonexistent", "[tag]\ngpgSign = true"]
        lines += ["[rebase]\nautoStash = true", "[pull]\nrebase = true", "[user]\nuseConfigOnly = true"]
        self.text = "\n".join([*lines, '[filter "x"]\nrequired = true', ""])
        self.personal = home / ".gitconfig"
        self.personal.write_text(f"{self.text}[core]\nhooksPath = {self._hooks(folder / 'hooks')}\n")

    def _line(self, key: str) -> str:
        section, *middle, name = key.split(".")
        return (
            f'[{section} "{middle[0]}"]\n{name} = {self.program}' if middle else f"[{section}]\n{name} = {self.program}"
        )

    def _hooks(self, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        for hook in HOOKS:
            shutil.copy(self.program, folder / hook)
        return folder

    def set_in(self, git_dir: Path) -> None:
        """Name the program in a repository's own configuration, in an included file, and as every hook."""
        self._hooks(git_dir / "hooks")
        included = git_dir / "included"
        included.write_text(self.text)
        with (git_dir / "config").open("a") as file:
            file.write(f'{self.text}[include]\npath = {included}\n[includeIf "gitdir:/"]\npath = {included}\n')


def sessions(root: Path, project: Path) -> None:
    """Put the sample sessions where the agent keeps them, as sessions of ``project``."""
    root.mkdir(parents=True)
    for file in SAMPLES.rglob("*.jsonl"):
        records = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]
        lines = (json.dumps(record | ({"cwd": str(project)} if "cwd" in record else {})) for record in records)
        (root / file.name).write_text("\n".join(lines) + "\n")


def test_gq_02_se_03_no_verb_and_no_hook_runs_a_program_of_anybodys(
    run, commit, candidate, git, home: Path, tmp_path: Path
) -> None:
    attributes = {".gitattributes": "* diff=x filter=x merge=x\n"}
    book = commit({"AGENTS.md": "Base.\n", **attributes})
    for n in range(4):
        candidate(book, IDS[n], {"AGENTS.md": f"Base.\n\nRule {n}.\n", **skill(f"s{n}")})
    project = tmp_path / "shop"
    project.mkdir()
    git(project, "init", "-q")
    (project / ".gitattributes").write_text(attributes[".gitattributes"])
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "first")
    sessions(home / ".claude/projects/-shop", project)
    trap = Trap(tmp_path, home)
    for repository in (book, project):
        trap.set_in(repository / ".git")
    kept = [trap.personal.read_bytes(), (book / ".git/config").read_bytes(), (project / ".git/config").read_bytes()]
    hook = json.dumps({"hook_event_name": "SessionStart", "cwd": str(project)})
    verbs: list[tuple[int, tuple[str, ...]]] = [
        (0, ("config", "set", "memory.backend", "mnemopi")), (0, ("learn", "A lesson.")), (0, ("recall", "lesson")),
        (0, ("propose",)), (0, ("learned",)), (0, ("learned", "diff", IDS[0])), (0, ("learned", "accept", IDS[0])),
        (0, ("learned", "reject", IDS[1])), (0, ("learned", "accept", IDS[2], "--json")), (4, ("learned", "compact")),
        (0, ("learned", "list", "--book", "project")), (0, ("brief", "--full")), (0, ("hook", "session-start")),
        (0, ("skills",)), (0, ("skills", "show", "s0")), (0, ("status",)), (0, ("doctor",)),
    ]  # fmt: skip
    variables = dict.fromkeys(VARIABLES, str(trap.program))
    for code, words in verbs:
        done = run(*words, cwd=project, stdin=hook, env=variables)
        assert not trap.marker.exists(), (words, trap.marker.read_text())
        assert done.returncode == code, (words, done)
    source = "import sys, pathlib, lessonbook.learned as learned; learned.restack(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", source, book], check=True, env={**os.environ, **variables})
    assert not trap.marker.exists()
    assert kept == [
        trap.personal.read_bytes(),
        (book / ".git/config").read_bytes(),
        (project / ".git/config").read_bytes(),
    ]
    # The trap is a real one: plain git falls into it.
    subprocess.run(["git", "-C", str(project), "status"], capture_output=True, check=False)
    assert trap.marker.exists()


def test_gq_02_se_03_nor_does_what_reviews_undoes_shares_or_tidies(
    run, commit, candidate, git, home: Path, tmp_path: Path
) -> None:
    attributes = "* diff=x filter=x merge=x\n"
    book = commit({"AGENTS.md": "Base.\n"})
    for n in range(6):
        candidate(book, IDS[n], {"AGENTS.md": f"Base.\n\nRule {n}.\n", **skill(f"s{n}")})
    project, team, other = (tmp_path / name for name in ("shop", "team", "elsewhere"))
    for folder, words in ((project, ()), (team, ("--bare",))):
        git(tmp_path, "init", "-q", *words, str(folder))
    (project / ".gitattributes").write_text(attributes)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "first")
    model = tmp_path / "model"
    model.write_text("#!/bin/sh\ncat > /dev/null\necho '[kept 1]'\necho\necho 'Rules.'\n")
    model.chmod(0o755)
    settings = home / ".config/lessonbook/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'[editor]\ncommand = ["{model}"]\n')
    trap = Trap(tmp_path, home)
    for repository in (book, project):
        trap.set_in(repository / ".git")
    trap.set_in(team)
    (book / ".git/info").mkdir(exist_ok=True)
    (book / ".git/info/attributes").write_text(attributes)
    kept = [(folder / "config").read_bytes() for folder in (book / ".git", project / ".git", team)]
    new = tmp_path / "new"
    new.write_text("Base.\n\nBetter rule, in many words so that there is something to shorten at all.\n")
    verbs: list[tuple[int, tuple[str, ...]]] = [
        (0, ("edit", IDS[0], "--file", f"AGENTS.md={new}")), (0, ("split", IDS[1])), (0, ("list", "--signs")),
        (0, ("accept", IDS[0], IDS[2])), (0, ("undo", IDS[2])), (0, ("accept", IDS[3], "--only", "AGENTS.md")),
        (0, ("reject", IDS[4], "--reason", "no")), (0, ("rejected",)), (0, ("unreject", IDS[4])), (1, ("verify",)),
        (0, ("promote", IDS[0], "--to", str(project))), (0, ("push", str(team))), (0, ("pull", str(team))),
        (0, ("pull", str(team), "--book", str(other))), (0, ("pin", "s0")), (0, ("unpin", "s0")),
        (0, ("expire", "--dry-run")), (0, ("expire",)), (6, ("compact",)), (0, ("push", str(team))),
    ]  # fmt: skip
    variables = dict.fromkeys(VARIABLES, str(trap.program))
    for code, words in verbs:
        if words[-1] == str(other):
            other.mkdir()
            git(other, "init", "-q")
            trap.set_in(other / ".git")
        done = run("learned", *words, cwd=project, env=variables)
        assert not trap.marker.exists(), (words, trap.marker.read_text())
        assert done.returncode == code, (words, done)
    assert kept == [(folder / "config").read_bytes() for folder in (book / ".git", project / ".git", team)]
    subprocess.run(["git", "-C", str(project), "status"], capture_output=True, check=False)
    assert trap.marker.exists()


def test_gq_03_called_from_inside_another_repositorys_git_nothing_there_changes(
    run, commit, candidate, git, home: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "theirs")
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, IDS[0], {"AGENTS.md": "Base.\n\nRule.\n"})
    before = tree(other)
    place = {"GIT_DIR": other / ".git", "GIT_INDEX_FILE": other / ".git/index", "GIT_WORK_TREE": other}
    place |= {"GIT_OBJECT_DIRECTORY": other / ".git/objects", "GIT_COMMON_DIR": other / ".git"}
    env = {key: str(value) for key, value in place.items()}
    env |= {"GIT_NAMESPACE": "n", "GIT_CEILING_DIRECTORIES": str(tmp_path), "GIT_CONFIG_COUNT": "1"}
    env |= {"GIT_CONFIG_KEY_0": "core.worktree", "GIT_CONFIG_VALUE_0": str(other)}
    assert run("config", "set", "memory.backend", "local", env=env).returncode == 0
    for words in (("learn", "A lesson."), ("propose", "--from", str(SAMPLES)), ("learned", "accept", IDS[0])):
        assert run(*words, env=env).returncode == 0
    assert "A lesson." in run("brief", env=env).stdout and "Rule." in run("brief", env=env).stdout
    assert tree(other) == before and (book / "AGENTS.md").read_text() == "Base.\n\nRule.\n"


def test_gq_03_a_real_hook_in_a_linked_worktree(run, git, home: Path, tmp_path: Path) -> None:
    run("config", "set", "memory.backend", "local")
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git(main, "init", "-q", "-b", "main")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", "-b", "side", str(linked))
    hook = main / ".git/hooks/post-commit"
    hook.parent.mkdir(exist_ok=True)
    path = os.pathsep.join(sys.path)
    call = f'PYTHONPATH="{path}" "{sys.executable}" -m lessonbook'
    hook.write_text(f'#!/bin/sh\n{call} learn "From the hook." && {call} propose --from "{SAMPLES}" >/dev/null\n')
    hook.chmod(0o755)
    (linked / "a").write_text("x")
    git(linked, "add", "a")
    git(linked, "commit", "-q", "-m", "second")
    assert git(linked, "log", "--format=%s") == "second\nfirst"
    assert git(main, "for-each-ref", "--format=%(refname)") == "refs/heads/main\nrefs/heads/side"
    assert git(main, "status", "--porcelain") == git(linked, "status", "--porcelain") == ""
    assert run("recall", cwd=linked).stdout == "- From the hook.\n"
    assert "Lesson from a replay" in run("learned").stdout


NAMES = ["é.md", " lead.md", "x -> y.md", "-rf.md", '"q".md', "a\nb.md", b"bad\xff.md"]


def test_gq_04_odd_names_and_settings(here, commit, candidate, git) -> None:
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, IDS[0], {"AGENTS.md": "Base.\n\nRule.\n"})
    for n, name in enumerate(NAMES, 1):
        candidate(book, IDS[n], {name: "x\n"})
    candidate(book, IDS[9], {"skills/s/é q.md": "x\n", **skill("s")})
    for key, value in {
        "color.ui": "always",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "log.showSignature": "true",
        "diff.external": "false",
        "status.short": "true",
        "core.quotePath": "true",
    }.items():
        git(book, "config", key, value)
    rows = here("learned").stdout.splitlines()
    assert [row[:22] for row in rows] == [*IDS[:8], IDS[9]] and r"a\nb.md" in rows[6] and r"bad\xff.md" in rows[7]
    assert all("is not a file a book holds" in row for row in rows[1:8])
    assert "--- a/AGENTS.md\n+++ b/AGENTS.md" in here("learned", "diff", IDS[0]).stdout
    for n, name in enumerate(NAMES, 1):
        assert here("learned", "diff", IDS[n])[0] == 0
        assert "is not a file a book holds" in here("learned", "accept", IDS[n])[2]
        Path(os.fsdecode(os.fsencode(book) + b"/" + os.fsencode(name))).write_text("mine\n")
    for id in (IDS[0], IDS[9]):
        assert here("learned", "accept", id).returncode == 0
    assert sorted(os.listdir(os.fsencode(book))) == sorted(  # noqa: PTH208  names that are no text
        [b".git", b"AGENTS.md", b"skills", *map(os.fsencode, NAMES)]
    )
    assert (book / "skills/s/é q.md").read_text() == "x\n" and len(here("brief").stdout) > 100
    for n in range(1, 8):
        assert here("learned", "reject", IDS[n])[0] == 0
    assert here("learned").stdout == "nothing is pending\n" and here("doctor").returncode == 0


def test_gq_06_worktrees_and_unsaved_edits(here, commit, candidate, git, tmp_path: Path) -> None:
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, IDS[0], skill("a"))
    candidate(book, IDS[1], skill("b"))
    candidate(book, IDS[2], {"AGENTS.md": "Base.\n\nRule.\n"})
    elsewhere = tmp_path / "elsewhere"
    git(book, "worktree", "add", "-q", str(elsewhere), f"pending/{IDS[0]}")
    for verb in ("accept", "reject"):
        assert str(elsewhere) in here("learned", verb, IDS[0]).stderr
    assert git(elsewhere, "status", "--porcelain") == ""
    shutil.rmtree(elsewhere)
    assert here("learned", "accept", IDS[0]).returncode == 0
    (book / "skills/b").mkdir()
    (book / "skills/b/SKILL.md").write_text("mine\n")
    (book / "AGENTS.md").write_text("Base.\n\nMine, unsaved.\n")
    (book / "staged").write_text("x")
    git(book, "add", "staged")
    before = tree(book)
    assert "skills/b/SKILL.md" in here("learned", "accept", IDS[1]).stderr
    assert "AGENTS.md" in here("learned", "accept", IDS[2]).stderr
    assert tree(book) == before
    (book / "skills/b/SKILL.md").unlink()
    git(book, "checkout", "-q", "-b", "mine")
    git(book, "checkout", "-q", "--", "AGENTS.md")
    assert here("learned", "accept", IDS[1]).returncode == 0
    git(book, "checkout", "-q", "--detach")
    main = git(book, "rev-parse", "main")
    assert here("learned", "accept", IDS[2]).returncode == 0
    assert git(book, "rev-parse", "main") == main and git(book, "symbolic-ref", "HEAD", ok=False) == ""
    assert git(book, "status", "--porcelain") == "A  staged" and git(book, "stash", "list") == ""


@pytest.mark.parametrize("kind", ["fresh", "inside another", "no folder"])
def test_gq_07_the_first_proposal_starts_a_book_under_our_own_name(here, git, home: Path, kind: str) -> None:
    (home / ".gitconfig").write_text("[user]\nuseConfigOnly = true\n[init]\ndefaultBranch = trunk\n")
    books = home / ".config/lessonbook/projects"
    sessions(home / ".claude/projects/-shop", home / "shop")
    if kind == "inside another":
        git(home, "init", "-q")
    assert here("propose").returncode == 0
    [book] = books.glob("*/learned")
    if kind == "fresh":
        shutil.rmtree(book)
        book.mkdir()
        git(book, "init", "-q", "-b", "trunk")
        assert here("learned", "--book", str(book)).stdout == "nothing is pending\n"
        assert here("propose").returncode == 0
    assert set(git(book, "log", "--all", "--format=%an %cn").splitlines()) == {"lessonbook lessonbook"}
    assert git(book, "branch", "--show-current") == ("trunk" if kind == "fresh" else "main")
    id = here("learned", "--book", str(book)).stdout[:22]
    assert here("learned", "accept", id).returncode == 0 and git(book, "status", "--porcelain") == ""
    assert kind != "inside another" or git(home, "for-each-ref") == ""
    assert (home / ".gitconfig").read_text() == "[user]\nuseConfigOnly = true\n[init]\ndefaultBranch = trunk\n"


def test_gq_07_foreign_owner_bare_and_no_git(run, commit, candidate, git, home: Path) -> None:
    run("config", "set", "memory.backend", "local")
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, IDS[0], {"AGENTS.md": "Base.\n\nRule.\n"})
    before = tree(book)
    nowhere = home / "empty"
    nowhere.mkdir()
    for env, why in (
        ({"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}, "belongs to another user"),
        ({"PATH": str(nowhere)}, "git is not installed"),
    ):
        for words in (("learned",), ("learned", "accept", IDS[0]), ("learned", "reject", IDS[0])):
            done = run(*words, env=env)
            assert done.returncode and why in done.stderr and "safe.directory" not in done.stderr
        assert run("learn", f"Kept although {why}", env=env).returncode == 0
        brief = run("brief", env=env)
        assert brief.returncode == 0 and f"Kept although {why}" in brief.stdout and why in brief.stderr
    assert tree(book) == before and not (home / ".gitconfig").exists()
    shutil.rmtree(book)
    git(home, "init", "-q", "--bare", str(book))
    done = run("learned")
    assert done.returncode == 5 and "cannot be a book" in done.stderr


def test_gq_07_a_book_that_cannot_be_opened_keeps_no_other_from_review(here, commit, git, home: Path) -> None:
    broken = commit({"AGENTS.md": "Base.\n"})
    sessions(home / ".claude/projects/-shop", home / "shop")
    assert here("propose").returncode == 0
    (broken / ".git/HEAD").write_text("junk")
    done = here("learned")
    assert done.returncode == 5 and f"{broken} holds a repository that git cannot open" in done.stderr
    told = json.loads(here("learned", "--json").stdout)
    assert told["ok"] is False and [problem["book"] for problem in told["problems"]] == ["global"]
    [one, *_] = [line[:22] for line in done.stdout.splitlines() if line.startswith("20")]
    assert here("learned", "diff", one).returncode == 0 and here("learned", "accept", one).returncode == 0
    assert "cannot open" in here("learned", "accept", IDS[0]).stderr
    for words in (("propose",), ("propose", "--dry-run", "--json")):
        done = here(*words)
        assert done.returncode == 5 and "cannot open" in done.stdout, done


HOLDER = """
import fcntl, sys, time
with open(sys.argv[1], "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    time.sleep(60)
"""


def test_gq_09_whatever_a_lock_file_holds_only_a_living_holder_counts(run, here, commit, candidate, git) -> None:
    book = commit({"AGENTS.md": "Base.\n"})
    lock = book.parent / ".learned.lock"
    for n, said in enumerate((b"", b"999999\n", str(os.getpid()).encode(), b"1", b"\x00\xff\xfe", b"other-host:12")):
        candidate(book, IDS[n], skill(f"s{n}"))
        lock.write_bytes(said)
        os.utime(lock, (4_000_000_000, 4_000_000_000))
        assert here("learned", "accept", IDS[n])[0] == 0
    candidate(book, IDS[6], skill("s6"))
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, lock], stdout=subprocess.PIPE)
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    assert run("learned").stdout.startswith(IDS[6]) and run("learned", "diff", IDS[6]).returncode == 0
    assert "batch is running" in run("learned", "accept", IDS[6]).stderr
    holder.kill()
    holder.communicate()
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: run("learned", "accept", IDS[6]), range(8)))
    told = [one.stdout + one.stderr for one in done]
    assert sum(one.returncode == 0 for one in done) == 1, told
    assert all("accepted" in one or "pending as" in one or "No book holds" in one or "batch" in one for one in told), (
        told
    )
    assert git(book, "status", "--porcelain") == "" and git(book, "rev-list", "--count", "HEAD") == "8"


def test_gq_09_twenty_four_learn_at_once(run) -> None:
    run("config", "set", "memory.backend", "local")
    with ThreadPoolExecutor(24) as pool:
        done = list(pool.map(lambda n: run("learn", f"Lesson number {n} of many."), range(24)))
    assert [one.stdout for one in done] == ["Lesson stored.\n"] * 24
    assert len(run("recall", "--limit", "50").stdout.splitlines()) == 24
