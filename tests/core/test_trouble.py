"""What agents' tools, shells and the programs of many ecosystems say, and the reason it is read as."""

from __future__ import annotations

import pytest

from lessonbook.core.failure import Trouble, read_failure
from lessonbook.core.session import Call, CallKind, CallStatus
from lessonbook.core.trouble_shell import SHELL_PATTERNS, SHELL_SIGNS


def shell(command: str, result: str, code: int = 1) -> Call:
    return Call("c", "Bash", CallKind.SHELL, CallStatus.FAILED, {"command": command}, None, command, result, code)


def tool(name: str, result: str) -> Call:
    return Call("c", name, CallKind.EDIT, CallStatus.FAILED, {}, None, None, result)


SAID: list[tuple[Trouble, str]] = [
    (
        Trouble.NO_FOLDER,
        "bash: line 1: cd: web: No such file or directory|(eval):cd:1: no such file or directory: web"
        "|sh: 1: cd: can't cd to web|zsh:cd:1: not a directory: a.txt",
    ),
    (
        Trouble.NO_MODULE,
        "ModuleNotFoundError: No module named 'x'|Error: Cannot find module 'x'|Cannot find package '@a/b'"
        "|a.rb:1:in `require': cannot load such file -- kite (LoadError)|Can't locate Kite/Fly.pm in @INC"
        "|Error in library(kite) : there is no package called ‘kite’",
    ),
    (
        Trouble.NOT_INSTALLED,
        "zsh: command not found: kite|python: No module named kite|sh: 1: kite: not found"
        "|'kite' is not recognized as an internal or external command"
        "|The term 'kite' is not recognized as a name of a cmdlet, function, script file, or executable program."
        '|exec: "kite": executable file not found in $PATH|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL Command "kite" not found'
        "|Error: spawn kite ENOENT|error: Failed to spawn: `kite`|/usr/bin/env: 'kite': No such file or directory"
        "|npm error could not determine executable to run|fish: Unknown command: kite"
        '|xcrun: error: unable to find utility "kite"|bash: ./kite: cannot execute: required file not found'
        "|bundler: command not found: kite",
    ),
    (
        Trouble.NOT_PREPARED,
        "error: externally-managed-environment|ERROR: JAVA_HOME is not set and no 'java' command could be found"
        "|error: No virtual environment found; run `kite venv` to create one"
        "|bash: .venv/bin/kite: No such file or directory|node_modules is missing"
        "|Usage Error: Couldn't find the node_modules state file - running an install might help"
        "|PHP Warning: require(/srv/vendor/autoload.php): Failed to open stream"
        "|missing go.sum entry for module providing package x"
        "|Could not find kite-1.0 in locally installed gems|SDK location not found. Define a valid SDK location"
        '|Error: Inconsistent plugins, please run "terraform init"|Run `bundle install` to install missing gems.',
    ),
    (
        Trouble.BAD_SUBCOMMAND,
        'error: unrecognised subcommand \'x\'|unknown command "x" for "kubectl"|error: no such command: `x`'
        "|git: 'x' is not a git command. See 'git --help'.|Terraform has no command named \"x\"."
        '|Command "x" is not defined.|There are no commands defined in the "x" namespace.'
        '|Could not find a command named "x".|[error] Not a valid command: x'
        "|tool: error: argument cmd: invalid choice: 'x' (choose from 'a', 'b')"
        "|Could not execute because the specified command or file was not found."
        '|[ERROR] Unknown lifecycle phase "x".',
    ),
    (
        Trouble.BAD_OPTION,
        "error: unrecognized option '--x'|error: unexpected argument '--x' found|grep: invalid option -- P"
        "|date: illegal option -- d|unknown flag: --x|unknown shorthand flag: 'x' in -x"
        "|flag provided but not defined: -x|error: unrecognized arguments: --x|node: bad option: --x"
        "|Unknown command-line option '--x'.|error TS5023: Unknown compiler option '--x'."
        '|Could not find an option named "--x".|error: unknown switch `x\'|Unknown JSON field: "x"'
        "|A parameter cannot be found that matches parameter name 'x'.|Error: No such option: --x"
        "|Error: Got unexpected extra argument (x)",
    ),
    (
        Trouble.BAD_CALL,
        "error: the following arguments are required: name"
        "|error: the following required arguments were not provided:"
        "|Error: required flag(s) \"name\" not set|Error: Missing argument 'NAME'.|cp: missing file operand"
        "|Error: accepts 1 arg(s), received 0|error: requires at least 2 arg(s)|flag needs an argument: --x"
        "|curl: option requires an argument -- o|bash: line 1: cd: too many arguments",
    ),
    (
        Trouble.WRONG_FOLDER,
        "error: could not find `Cargo.toml` in `/srv` or any parent directory|no Go files in /srv"
        "|error: No `pyproject.toml` found in current directory or any parent directory"
        "|Poetry could not find a pyproject.toml file in /srv or its parents"
        "|Composer could not find a composer.json file in /srv|error: Could not find Package.swift in this directory"
        "|go: go.mod file not found in current directory|go: cannot find main module"
        "|fatal: not a git repository (or any of the parent directories): .git"
        "|npm error enoent Could not read package.json: Error|ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND"
        "|no configuration file provided: not found|make: *** No targets specified and no makefile found.  Stop."
        "|npm error ENOENT: no such file or directory, open '/srv/package.json'"
        "|The goal you specified requires a project to execute but there is no POM in this directory (/srv)."
        "|Directory '/srv' does not contain a Gradle build."
        "|MSB1003: The current working directory does not contain a project or solution file."
        "|Couldn't find a project to run.|Could not locate Gemfile or .bundle/ directory"
        "|Error: The directory /srv contains no Terraform configuration files.|Error: No pubspec.yaml file found."
        "|error: No justfile found|rake aborted! No Rakefile found (looking for: rakefile)"
        "|xcodebuild: error: The directory /srv does not contain an Xcode project."
        '|CMake Error: The source directory "/srv" does not appear to contain CMakeLists.txt.'
        "|** (Mix) Could not find a Mix.Project, please ensure you are running Mix in a directory with a mix.exs file"
        "|Error: This command is not available when running the Angular CLI outside a workspace."
        "|ninja: error: loading 'build.ninja': No such file or directory"
        "|Usage Error: The nearest package directory doesn't seem to be part of the project declared in /srv.",
    ),
    (
        Trouble.NO_SCRIPT,
        'npm error Missing script: "x"|error: Script not found "x"|make: *** No rule to make target \'x\'.  Stop.'
        "|mise ERROR no task x found|Task 'x' not found in root project 'shop'.|error: Task not found: x"
        "|Don't know how to build task 'x' (See the list of available tasks with `rake --tasks`)"
        '|error: Justfile does not contain recipe `x`|error Command "x" not found.'
        '|Couldn\'t find a script named "x".|task: Task "x" does not exist|** (Mix) The task "x" could not be found'
        "|ninja: error: unknown target 'x'|error: no bin target named `x`|error: no step named 'x'"
        '|error MSB4057: The target "x" does not exist in the project.|no such service: x',
    ),
    (Trouble.IGNORED_PATH, "The following paths are ignored by one of your .gitignore files:"),
    (
        Trouble.TIMED_OUT,
        "Command timed out after 2m 0s|command timed out after 10000 milliseconds"
        "|The last command <command>x</command> timed out and has been killed.",
    ),
    (Trouble.NO_GLOB, "zsh: no matches found: *.x"),
    (
        Trouble.BAD_EXPRESSION,
        "sed: -e expression #1, char 9: unknown command: `x'|rg: regex parse error:|grep: Unmatched ( or \\\\("
        "|awk: cmd. line:1: a b ^ syntax error|jq: error: syntax error, unexpected INVALID_CHARACTER"
        "|grep: Invalid regular expression|grep: parentheses not balanced"
        "|sed: 1: a.txt: extra characters at the end of d command",
    ),
    (
        Trouble.SHELL_SYNTAX,
        "(eval):1: parse error near `)'|bash: -c: line 1: syntax error near unexpected token `('"
        "|bash: -c: line 1: unexpected EOF while looking for matching `\"'|sh: 1: Bad substitution"
        '|zsh: unmatched "|bash: syntax error: unexpected end of file|sh: 1: Syntax error: "(" unexpected'
        "|bash: !x: event not found|bash: $x: ambiguous redirect"
        "|The token '&&' is not a valid statement separator in this version."
        "|Unexpected token 'x' in expression or statement.|The string is missing the terminator: \"."
        "|zsh:1: read-only variable: status",
    ),
    (
        Trouble.LOCKED,
        "fatal: Unable to create '/srv/.git/index.lock': File exists."
        "|E: Could not get lock /var/lib/dpkg/lock-frontend|Blocking waiting for file lock on build directory"
        "|sqlite3.OperationalError: database is locked|Error: Error acquiring the state lock",
    ),
    (
        Trouble.NO_LOGIN,
        "To get started with GitHub CLI, please run:  gh auth login|You are not logged into any GitHub hosts."
        "|HTTP 401: Bad credentials|Unable to locate credentials. You can configure credentials"
        "|fatal: could not read Username for 'https://git.example.org': terminal prompts disabled"
        "|git@git.example.org: Permission denied (publickey).|npm error code ENEEDAUTH"
        "|remote: Authentication failed for the repository",
    ),
    (
        Trouble.NO_NETWORK,
        "curl: (6) Could not resolve host: x.example|Temporary failure in name resolution"
        "|Error: getaddrinfo ENOTFOUND x.example|connect: Network is unreachable|ssh: connect: No route to host"
        "|dial tcp: lookup x.example: no such host",
    ),
    (
        Trouble.PORT_IN_USE,
        "Error: listen EADDRINUSE: address already in use :::3000|bind: Address already in use"
        "|Bind for 0.0.0.0:80 failed: port is already allocated|Port 3000 is already in use"
        "|Only one usage of each socket address is normally permitted.",
    ),
    (
        Trouble.NO_SERVER,
        "curl: (7) Failed to connect to localhost port 3000|Error: connect ECONNREFUSED 127.0.0.1:5432"
        "|Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
        "|The connection to the server x:8080 was refused - did you specify the right host or port?"
        "|psql: error: could not connect to server: refused|Can't connect to local MySQL server through socket"
        "|Error response from daemon: No such container: x|Error: container x is not running",
    ),
    (
        Trouble.DIRTY,
        "error: Your local changes to the following files would be overwritten by checkout:"
        "|error: cannot pull with rebase: You have unstaged changes."
        "|fatal: '/srv/wt' contains modified or untracked files, use --force to delete it",
    ),
    (
        Trouble.NO_REVISION,
        "fatal: ambiguous argument 'x': unknown revision or path not in the working tree."
        "|error: pathspec 'x' did not match any file(s) known to git|fatal: couldn't find remote ref x"
        "|fatal: bad revision 'x'|fatal: not a valid object name: 'x'|fatal: invalid reference: x"
        "|fatal: The current branch x has no upstream branch.|There is no tracking information for the branch.",
    ),
    (
        Trouble.WRONG_VERSION,
        "npm warn EBADENGINE Unsupported engine {|Your Ruby version is 2.6.10, but your Gemfile specified 3.2"
        "|error: invalid source release: 21|Unsupported class file major version 65"
        "|error: package x requires rustc 1.80 or newer",
    ),
    (
        Trouble.NO_RIGHT,
        "bash: ./x: Permission denied|npm error code EACCES|mkdir: /x: Operation not permitted"
        "|touch: cannot touch 'x': Read-only file system|Access to the path 'C:/x' is denied."
        "|x.ps1 cannot be loaded because running scripts is disabled on this system."
        "|sudo: a terminal is required to read the password",
    ),
    (
        Trouble.EXISTS,
        "mkdir: cannot create directory 'x': File exists|fatal: a branch named 'x' already exists"
        "|fatal: 'x' is already checked out at '/srv/x'",
    ),
    (Trouble.IS_FOLDER, "cat: lib: Is a directory"),
    (
        Trouble.NO_FILE,
        "cat: a.txt: No such file or directory|python: can't open file 'x.py': [Errno 2]"
        "|ERROR: file or directory not found: tests/x.py|Cannot find path 'C:/x' because it does not exist."
        "|The system cannot find the path specified.|Could not open input file: artisan",
    ),
]
SAID_BY_TOOLS: list[tuple[Trouble, str]] = [
    (
        Trouble.UNREAD,
        "File has not been read yet. Read it first before writing to it."
        "|You must read file /srv/shop/src/components/a/very/long/way/down/button.tsx before overwriting it.",
    ),
    (
        Trouble.STALE,
        "File has been modified since read, either by the user or by a linter.|File has been unexpectedly modified."
        "|The file was modified externally; read it again",
    ),
    (
        Trouble.NO_MATCH,
        "String to replace not found in file.|Failed to edit, could not find the string to replace."
        "|Failed to edit, 0 occurrences found for old_string in /srv/a|oldString not found in content"
        "|old string not found"
        "|apply_patch verification failed: Failed to find expected lines in /srv/a"
        "|apply_patch verification failed: Failed to find context 'x' in /srv/a"
        "|Could not find the exact text in a.ts. The old text must match exactly."
        "|No replacement was performed, old_str `x` did not appear verbatim in /srv/a."
        "|Could not find a match for old_string in the file",
    ),
    (
        Trouble.NOT_UNIQUE,
        "Found 2 matches of the string to replace, but replace_all is false."
        "|Failed to edit, expected 1 occurrence but found 2.|Found 3 occurrences of the text in a.ts."
        "|oldString found multiple times and requires more code context"
        "|No replacement was performed. Multiple occurrences of old_str `x` in lines [1, 9].",
    ),
    (
        Trouble.NO_CHANGE,
        "No changes to make: old_string and new_string are exactly the same."
        "|No changes to apply. The old_string and new_string are identical."
        "|No changes made to a.ts. The replacement produced identical content."
        "|oldString and newString must be different",
    ),
    (
        Trouble.BAD_PATCH,
        "invalid patch: The first line of the patch must be '*** Begin Patch'|apply_patch: invalid hunk at line 2",
    ),
    (Trouble.BROKEN_CODE, "Your proposed edit has introduced new syntax error(s)."),
    (
        Trouble.EXISTS,
        "Cannot create new file - file already exists."
        "|File already exists at: /srv/a. Cannot overwrite files using command `create`.",
    ),
    (
        Trouble.NOT_ABSOLUTE,
        "File path must be absolute, but was relative: a.ts|Path must be absolute"
        "|The path a.ts is not an absolute path, it should start with `/`.",
    ),
    (
        Trouble.OUTSIDE,
        "File path must be within one of the workspace directories: /srv"
        "|Path not in workspace: /etc/x|Path /etc/x is outside the project",
    ),
    (Trouble.IS_FOLDER, "EISDIR: illegal operation on a directory, read|Path is a directory, not a file: lib"),
    (
        Trouble.NO_FILE,
        "File does not exist.|File not found: /srv/a|The path /srv/a does not exist. Please provide a valid path."
        "|ENOENT: no such file or directory, open '/srv/a'|Directory does not exist: /srv/x"
        "|Search path is not a directory: /srv/a",
    ),
    (
        Trouble.TOO_LARGE,
        "File content (31000 tokens) exceeds maximum allowed tokens (25000).|File size exceeds the 20MB limit",
    ),
    (Trouble.PAST_END, "Offset 300 is beyond end of file (200 lines total)|Invalid `view_range`: [9, 300]"),
    (Trouble.BINARY, "This tool cannot read binary files.|Cannot display binary file"),
    (
        Trouble.BAD_ARGUMENTS,
        "InputValidationError: Read failed due to the following issue:|params must have required property 'path'"
        "|failed to parse function arguments: missing field `cmd`|The edit tool was called with invalid arguments: x"
        "|params/limit must be number"
        '|Validation failed for tool "edit":|Invalid JSON in tool arguments',
    ),
    (
        Trouble.NO_TOOL,
        'Error: No such tool available: Frob|Unknown skill: deploy|Tool "frob" not found in registry.'
        "|Model tried to call unavailable tool 'frob'.|unsupported call: frob|Tool frob not found"
        "|Agent type 'frob' not found. Available agents: a|Unknown tool: frob",
    ),
    (Trouble.NO_TASK, "No task found with ID: b12|write_stdin failed: Unknown process id 7|Shell b12 is not running"),
]
"""What agents' own tools say, one example each, ``|`` between them."""


def test_a_sign_is_in_whatever_a_pattern_of_the_shell_matches() -> None:
    """Each alternative of each pattern, written out once: none may be missed because its sign is not looked for."""
    lines = [line for _, text in SAID for line in text.split("|")]
    for line in lines:
        matching = [at for at, (_, pattern) in enumerate(SHELL_PATTERNS) if pattern.search(line)]
        assert matching, line
        signed = {at for sign, places in SHELL_SIGNS if sign in line.lower() for at in places}
        assert signed >= set(matching), line


@pytest.mark.parametrize(("trouble", "text"), SAID, ids=[str(trouble) for trouble, _ in SAID])
def test_what_programs_of_many_ecosystems_say_is_read_for_what_it_is(trouble: Trouble, text: str) -> None:
    for line in text.split("|"):
        failure = read_failure(shell("frob it", f"{line}\n"))
        assert failure is not None and failure.trouble is trouble, line


@pytest.mark.parametrize(("trouble", "text"), SAID_BY_TOOLS, ids=[str(trouble) for trouble, _ in SAID_BY_TOOLS])
def test_what_the_tools_of_many_agents_say_is_read_for_what_it_is(trouble: Trouble, text: str) -> None:
    for line in text.split("|"):
        failure = read_failure(tool("edit", line))
        assert failure is not None and failure.trouble is trouble, line


def test_only_a_tool_for_pages_fails_at_a_page() -> None:
    told = "Request failed with status code 404"
    page = Call("c", "WebFetch", CallKind.WEB, CallStatus.FAILED, result=told)
    assert (failure := read_failure(page)) is not None and failure.trouble is Trouble.NO_PAGE
    assert (failure := read_failure(tool("Deploy", told))) is not None and failure.trouble is None


@pytest.mark.parametrize(
    "line",
    [
        "src/a.c:3:1: error: expected ';' before 'return'",
        "error[E0308]: mismatched types",
        "Program.cs(3,1): error CS1002: ; expected",
        "src/a.ts(3,1): error TS2339: Property 'x' does not exist on type 'Y'.",
    ],
)
def test_what_a_compiler_says_of_code_is_an_answer_whatever_ran_it(line: str) -> None:
    failure = read_failure(shell("npm run dist", line))
    assert failure is not None and failure.answer


@pytest.mark.parametrize(
    "line",
    [
        "HTTP 500: Not Found",
        "error: not found",
        "the widget is not what was asked for",
        "could not reach an agreement",
        "3 changes were made",
        "AssertionError: numbers differ",
        "loading the log of the project",
        "./a.go:3:2: too many arguments in call to f",
        "a.py:3:1: unknown option that nobody set",
    ],
)
def test_words_that_only_look_like_a_reason_are_none(line: str) -> None:
    failure = read_failure(shell("frob it", line))
    assert failure is not None and failure.trouble is None, failure


def test_a_program_may_say_late_what_it_lacks() -> None:
    found = "\n".join(f"a{n}.py:1:x" for n in range(9))
    failure = read_failure(shell("rg x lib doc", f"{found}\nrg: doc: No such file or directory (os error 2)", 2))
    assert failure is not None and failure.trouble is Trouble.NO_FILE
    other = read_failure(shell("frob it", f"{found}\nboth: No such file or directory", 2))
    assert other is not None and other.trouble is None, "a line that does not open with the program is not its own"


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("IndentationError: unexpected indent", Trouble.BROKEN_CODE),
        ("SyntaxError: Unexpected token '}'", Trouble.BROKEN_CODE),
        ("NameError: name 'x' is not defined", Trouble.NO_NAME),
        ("ReferenceError: x is not defined", Trouble.NO_NAME),
        ("TypeError: f() missing 1 required positional argument: 'a'", Trouble.NO_NAME),
        ("ValueError: bad shape", None),
    ],
)
def test_what_an_interpreter_says_of_a_script(line: str, trouble: Trouble | None) -> None:
    failure = read_failure(shell("python try.py", f"Traceback (most recent call last):\n  File 'x'\n{line}"))
    assert failure is not None and failure.trouble is trouble and not failure.answer
    red = read_failure(shell("pytest -q", f"Traceback (most recent call last):\n  File 'x'\n{line}"))
    assert red is not None and red.answer and red.trouble is None


def test_one_interpreter_by_two_names_lacks_the_same_module() -> None:
    keys = {
        failure.key
        for name in ("python", "python3", "python3.12")
        if (failure := read_failure(shell(f"{name} a.py", "ModuleNotFoundError: No module named 'kite'")))
    }
    assert keys == {"python | module not installed: kite"}


def test_what_a_script_raises_is_its_interpreters_not_of_what_wrote_it() -> None:
    told = "Traceback (most recent call last):\n  File 'x'\nkite.errors.NotReadyError: call setup() first"
    failure = read_failure(shell("cat > a.py <<'E'\nx\nE\npython3 a.py", told))
    assert failure is not None and failure.family == "python3" and failure.key.startswith("python | kite.errors")


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("env: kite: No such file or directory", "kite"),
        ("Error: spawn kite ENOENT", "kite"),
        ("'kite' is not recognized as an internal or external command,", "kite"),
        ('xcrun: error: unable to find utility "kite", not a developer tool', "kite"),
        ("error: Failed to spawn: `kite`", "kite"),
    ],
)
def test_a_program_that_is_not_there_is_named(text: str, subject: str) -> None:
    failure = read_failure(shell("make-it-so", text, 127))
    assert failure is not None and failure.trouble is Trouble.NOT_INSTALLED and failure.subject == subject
