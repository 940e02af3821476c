"""Histories we wrote ourselves, in which it is known what came again: it is named, and nothing else is proposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.history import load
from benchmarks.naming import Judged, judge
from tests.histories.conftest import AGENTS, Step, noise, word
from tests.histories.conftest import written as written

Written = Callable[..., Path]
SESSIONS = 24


@dataclass(frozen=True)
class Slip:
    """A mistake that comes again: the command, what it says, what works instead, and what its lesson has to hold."""

    command: str
    said: str
    code: int
    worked: str = ""
    told: tuple[str, ...] = ()

    def steps(self) -> list[Step]:
        """The mistake as a session has it."""
        return [Step(self.command, self.said, self.code), *([Step(self.worked)] if self.worked else [])]


ECOSYSTEMS: dict[str, tuple[Slip, Slip, Slip]] = {
    "node": (
        Slip("yarn lint:all", 'error Command "lint:all" not found.', 1, "yarn lint", ("yarn lint", "lint:all")),
        Slip("npm start", "Error: listen EADDRINUSE: address already in use :::4100", 1, "", ("port",)),
        Slip("npx kite go", "npm error could not determine executable to run", 1, "pnpm exec kite go", ("pnpm exec",)),
    ),
    "deno": (
        Slip("deno task serv", "error: Task not found: serv", 1, "deno task serve", ("deno task serve",)),
        Slip("deno run --net a.ts", "error: unexpected argument '--net' found", 1, "", ("--net",)),
        Slip("deno publish", "error: not logged in, please login first", 1, "", ("log in",)),
    ),
    "python": (
        Slip("pytest -q", "bash: line 1: pytest: command not found", 127, "uv run pytest -q", ("uv run pytest",)),
        Slip("pip install kite", "error: externally-managed-environment", 1, "", ("Set up", "pip install")),
        Slip("poetry check", "Poetry could not find a pyproject.toml file in /srv or its parents", 1, "", ("folder",)),
    ),
    "django": (
        Slip(
            "python try.py",
            "Traceback (most recent call last):\n  File 'x'\nkite.conf.NotReady: Settings are not configured, call it",
            1,
            "",
            ("Settings are not configured",),
        ),
        Slip("python manage.py fly", "Unknown command: 'fly'", 1, "", ("Unknown command",)),
        Slip("python3 x.py", "ModuleNotFoundError: No module named 'kite'", 1, "", ("Do without `kite`",)),
    ),
    "rust": (
        Slip("cargo nextest run", "error: no such command: `nextest`", 101, "cargo test run", ("cargo test",)),
        Slip("cargo run --bin kited", "error: no bin target named `kited`.", 101, "", ("kited", "cargo run")),
        Slip(
            "cargo check",
            "error: could not find `Cargo.toml` in `/srv/shop` or any parent directory",
            101,
            "cd core && cargo check",
            ("`core`", "cargo check"),
        ),
    ),
    "go": (
        Slip(
            "go run ./cmd/kite",
            "go: go.mod file not found in current directory or any parent directory; see 'go help modules'",
            1,
            "cd api && go run ./cmd/kite",
            ("`api`",),
        ),
        Slip("go test -quick ./...", "flag provided but not defined: -quick", 2, "go test ./...", ("-quick",)),
        Slip("golangci-lint run", "zsh:1: command not found: golangci-lint", 127, "", ("not installed",)),
    ),
    "java": (
        Slip(
            "mvn verify",
            "[ERROR] The goal you specified requires a project to execute but there is no POM in this directory (/srv)",
            1,
            "cd server && mvn verify",
            ("`server`",),
        ),
        Slip("gradle kiteJar", "Task 'kiteJar' not found in root project 'shop'.", 1, "", ("kiteJar",)),
        Slip("./gradlew assemble", "ERROR: JAVA_HOME is not set and no 'java' command could be found", 1, "", ("Set",)),
    ),
    "dotnet": (
        Slip(
            "dotnet run",
            "MSB1003: The current working directory does not contain a project or solution file.",
            1,
            "cd Shop && dotnet run",
            ("`Shop`",),
        ),
        Slip("dotnet kite", "Could not execute because the specified command or file was not found.", 1, "", ("kite",)),
        Slip("dotnet ef list", "Access to the path '/srv/x' is denied.", 1, "", ("ask the person",)),
    ),
    "containers": (
        Slip(
            "docker ps",
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            1,
            "",
            ("is running", "docker ps"),
        ),
        Slip("docker compose up", "no configuration file provided: not found", 1, "", ("folder",)),
        Slip("kubectl pods", 'error: unknown command "pods" for "kubectl"', 1, "kubectl get pods", ("kubectl",)),
    ),
    "terraform": (
        Slip("terraform plan", 'Error: Inconsistent plugins, please run "terraform init"', 1, "", ("Set up",)),
        Slip("terraform list", 'Terraform has no command named "list".', 1, "", ("terraform list",)),
        Slip("aws s3 ls", "Unable to locate credentials. You can configure credentials", 255, "", ("log in",)),
    ),
    "ruby": (
        Slip("rspec -f d", "bash: rspec: command not found", 127, "bundle exec rspec -f d", ("bundle exec rspec",)),
        Slip("rake kite", "Don't know how to build task 'kite' (See the list with `rake --tasks`)", 1, "", ("kite",)),
        Slip("bundle exec rails s", "Could not locate Gemfile or .bundle/ directory", 10, "", ("folder",)),
    ),
    "php": (
        Slip("composer fly", 'Command "fly" is not defined.', 1, "composer run fly", ("composer run fly",)),
        Slip("php artisan fly", "PHP Warning: require(/srv/vendor/autoload.php): Failed to open", 255, "", ("Set up",)),
        Slip("php tool.php", "Could not open input file: tool.php", 1, "", ("path",)),
    ),
    "swift": (
        Slip(
            "swift run", "error: Could not find Package.swift in this directory or any of its parents", 1, "", ("run",)
        ),
        Slip("swift package --fast", "error: Unknown option '--fast'", 64, "", ("--fast",)),
        Slip("simctl list", "zsh: command not found: simctl", 127, "xcrun simctl list", ("xcrun simctl",)),
    ),
    "native": (
        Slip(
            "cmake -S . -B out",
            'CMake Error: The source directory "/srv/shop" does not appear to contain CMakeLists.txt.',
            1,
            "",
            ("folder",),
        ),
        Slip("make kite", "make: *** No rule to make target 'kite'.  Stop.", 2, "make fly", ("make fly",)),
        Slip("ninja kite", "ninja: error: unknown target 'kite'", 1, "", ("kite",)),
    ),
    "shell": (
        Slip("cd web && ls", "bash: line 1: cd: web: No such file or directory", 1, "", ("folder you are in",)),
        Slip("echo (a)", "bash: -c: line 1: syntax error near unexpected token `('", 2, "", ("single quotes",)),
        Slip("date -d now", "date: illegal option -- d", 1, "gdate -d now", ("gdate",)),
    ),
    "powershell": (
        Slip("Get-Kite now", "The term 'Get-Kite' is not recognized as a name of a cmdlet, function", 1, "", ("Kite",)),
        Slip("Get-Item x", "Cannot find path 'C:/x' because it does not exist.", 1, "", ("path",)),
        Slip("Set-Item -Loud a", "A parameter cannot be found that matches parameter name 'Loud'.", 1, "", ("Loud",)),
    ),
    "git": (
        Slip("git switch trunk", "fatal: invalid reference: trunk", 128, "", ("branches",)),
        Slip("git fly", "git: 'fly' is not a git command. See 'git --help'.", 1, "", ("git fly",)),
        Slip(
            "git checkout old",
            "error: Your local changes to the following files would be overwritten by checkout:",
            1,
            "",
            ("git status",),
        ),
    ),
    "network": (
        Slip("curl -s https://kite.example", "curl: (6) Could not resolve host: kite.example", 6, "", ("network",)),
        Slip("psql shop", "psql: error: connection refused", 2, "", ("is running",)),
        Slip("kite sync", "command timed out after 10000 milliseconds", 124, "", ("Narrow",)),
    ),
}


def history(slips: Sequence[Slip], times: int = 3) -> list[list[Step]]:
    """Sessions full of noise, in which one of ``times`` has each slip, early and late."""
    return [
        [*noise(n), *(step for at, slip in enumerate(slips) if (n + at) % times == 0 for step in slip.steps())]
        for n in range(SESSIONS)
    ]


def judged(folder: Path) -> Judged:
    """Judge the project, and see that it was read as it was written."""
    project = load(folder)
    assert len(project.sessions) == SESSIONS
    return judge(project)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("ecosystem", ECOSYSTEMS)
def test_what_came_again_is_named_whatever_agent_wrote_it(written: Written, agent: str, ecosystem: str) -> None:
    slips = ECOSYSTEMS[ecosystem]
    found = judged(written(agent, history(slips)))
    rules = [one.rule or "" for one in found.proposals]
    for slip in slips:
        assert any(all(part in rule for part in slip.told) for rule in rules), (slip.command, rules)
    named = {mistake.call.command for mistake in found.named}
    assert named == {mistake.call.command for mistake in found.project.repeated}
    assert named == {slip.command for slip in slips}, "what is repeated is what was written to be"
    assert found.useful == found.proposals and len(found.proposals) <= len(slips) <= found.allowed


@pytest.mark.parametrize("agent", AGENTS)
def test_noise_alone_teaches_nothing(written: Written, agent: str) -> None:
    found = judged(written(agent, history(())))
    assert [one.rule for one in found.proposals] == [] and found.project.repeated == []
    assert len(found.project.late_failures) >= 3 * len(found.project.late), "there was much that failed"


def test_agents_of_one_project_learn_from_each_other(written: Written) -> None:
    found = judged(written(["claude", "codex", "gemini", "opencode", "pi"], history(ECOSYSTEMS["rust"])))
    assert len(found.proposals) == 3 and len(found.named) == len(found.project.repeated) > 0
    assert {agent for one in found.proposals for agent in one.evidence.agents} >= {"claude", "codex", "gemini"}


TOOLS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "claude": (
        (
            "Edit",
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
            "",
        ),
        ("Edit", "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>", ""),
        ("Read", "File does not exist.", ""),
        ("Skill", "<tool_use_error>Unknown skill: deploy</tool_use_error>", "deploy"),
    ),
    "gemini": (
        ("replace", "Failed to edit, 0 occurrences found for old_string in /srv/shop/a.ts", ""),
        ("read_file", "File path must be absolute, but was relative: a.ts", ""),
        ("write_files", 'Tool "write_files" not found in registry. Tools must use the exact names', "write_files"),
    ),
    "opencode": (
        ("edit", "oldString not found in content", ""),
        ("write", "You must read file /srv/shop/src/a/very/long/way/down/the/tree.ts before overwriting it.", ""),
        ("read", "Error: File not found: /srv/shop/gone.ts", ""),
    ),
    "pi": (
        ("edit", "Could not find the exact text in a.ts. The old text must match exactly.", ""),
        ("read", "Offset 300 is beyond end of file (200 lines total)", ""),
        ("edit", 'Validation failed for tool "edit":\n  - path: must have required property', ""),
    ),
    "codex": (
        ("apply_patch", "apply_patch verification failed: Failed to find expected lines in /srv/shop/a.ts:\nx", ""),
        ("apply_patch", "apply_patch verification failed: invalid hunk at line 2, x", ""),
    ),
}


@pytest.mark.parametrize("agent", TOOLS)
def test_trouble_with_an_agents_own_tools_is_named(written: Written, agent: str) -> None:
    steps = [
        Step(name, said, 1, (("path", f"/srv/shop/{word(at)}.ts"),)) for at, (name, said, _) in enumerate(TOOLS[agent])
    ]
    sessions = [[*noise(n), *(step for at, step in enumerate(steps) if (n + at) % 3 == 0)] for n in range(SESSIONS)]
    found = judged(written(agent, sessions))
    assert {mistake.call.name for mistake in found.project.repeated} == {step.what for step in steps}
    assert len(found.named) == len(found.project.repeated) and found.useful == found.proposals
    for _, _, subject in TOOLS[agent]:
        assert not subject or any(f"`{subject}`" in (one.rule or "") for one in found.proposals)


def test_few_are_proposed_however_much_came_again(written: Written) -> None:
    slips = [slip for three in ECOSYSTEMS.values() for slip in three]
    found = judged(written("claude", history(slips)))
    assert len(found.proposals) == found.allowed == 4, "one for four sessions, of those seen most"
    assert found.useful == found.proposals
