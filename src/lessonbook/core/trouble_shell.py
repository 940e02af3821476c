"""The words shells and programs put the shared reasons for failing in, ecosystem by ecosystem.

A line is tried against the reasons in order; the first that matches is its reason. Each entry names what many projects
use: build tools, package managers, containers, version control and the shells themselves. Before its pattern stand
signs in small letters, which are looked for first: most lines hold none, and are never matched.
"""

from __future__ import annotations

from lessonbook.core.trouble import Trouble, compiled

_SHELL_TROUBLES = (
    (Trouble.NO_FOLDER, "cd:",
     r"\bcd:.{0,300}(?:no such file|not a directory|can't cd|not exist)"),
    (Trouble.NO_MODULE, "no module named|cannot find|cannot load|can't locate|no package called",
     r"ModuleNotFoundError: No module named '\w+'|Cannot find (?:module|package) '[@\w/-]+'"
     r"|cannot load such file -- [\w/-]+|Can't locate \S+\.pm in @INC|there is no package called"),
    (Trouble.NOT_INSTALLED, "not found|no module named|not recognized|first_fail|spawn|env: |could not determine"
     "|unable to find|unknown command|cannot execute",
     r"command not found|: No module named \w|not recognized as (?:an internal|(?:the|a) name)"
     r"|(?:\A|sh: |\d: )(?!error|fatal|warning|http)[\w.+-]+: not found\Z|executable file not found"
     r"|ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL|\bspawn \S+ ENOENT|failed to spawn: |\benv: .{1,60}: no such file"
     r"|could not determine executable to run|unable to find utility|fish: unknown command"
     r"|cannot execute: required file not found"),
    (Trouble.NOT_PREPARED, "externally|java_home|no virtual|venv/bin/|node_modules|autoload|go.sum"
     "|installed gems|sdk location|initialize yet|run ",
     r"externally-managed-environment|JAVA_HOME (?:is|environment variable is) not"
     r"|no virtual ?environment found|venv/bin/\S+: no such file|no such file or directory: \S*venv/bin/"
     r"|\bnode_modules (?:is |are )?missing|node_modules state file|vendor/autoload\.php"
     r"|missing go\.sum entry|in locally installed gems|SDK location not found|did not initialize yet"
     r"|\brun [\"'`]?(?:npm|pnpm|yarn|bun|bundle|composer|poetry|terraform|pod|mix|flutter|dart)"
     r" (?:install|ci|init|deps\.get|pub get)\b"),
    (Trouble.BAD_EXPRESSION, "expression|regex|awk|jq|parenthes|unmatched|end of|compile error",
     r"-e expression #\d+, char \d+|regex parse error|invalid (?:preceding )?regular expression"
     r"|unmatched [(\[{\\]|awk: .{0,80}syntax error|jq: error: syntax error|jq: \d+ compile error"
     r"|parentheses not balanced|extra characters at the end of"),
    (Trouble.BAD_SUBCOMMAND, "command|invalid choice|lifecycle",
     r"(?:unrecogni[sz]ed|unknown|no such|invalid) (?:sub)?command\b(?! code|-line)"
     r"|is not a \S+ command|has no command named|command \"[^\"]+\" is not defined|no commands defined in the"
     r"|could not find a command named|not a valid command|invalid choice: \S+ \(choose from"
     r"|specified command or file was not found|unknown lifecycle phase"),
    (Trouble.BAD_OPTION, "option|argument|flag|switch|json field|parameter",
     r"(?:unrecogni[sz]ed|unknown|illegal|invalid|unexpected|no such)"
     r" (?:option|argument|flag|switch|command-line option|compiler option|extra argument|JSON field)s?\b"
     r"|unknown shorthand flag|flag provided but not defined|unrecognized arguments|bad option: -"
     r"|could not find an option named|parameter cannot be found that matches"),
    (Trouble.BAD_CALL, "argument|required|missing|accepts |requires ",
     r"the following (?:required )?arguments (?:are required|were not provided)"
     r"|required (?:flag|option|argument)(?:\(s\)|s)?\b.{0,80}(?:not (?:set|provided|specified)|missing)"
     r"|missing (?:required )?(?:argument|operand|parameter|option)\b|missing (?:file|destination file) operand"
     r"|accepts (?:at (?:most|least) |between )?\d+ arg|requires (?:exactly|at (?:least|most)) \d+ arg"
     r"|(?:option|flag) (?:requires|needs) an argument|flag needs an argument"
     r"|too (?:many|few) arguments(?! (?:in|to|for) )"),
    (Trouble.WRONG_FOLDER, ".toml|.json|package.swift|go.mod|main module|no go files|repository|_manifest"
     "|no configuration|makefile|pom in|not contain|gemfile|project|terraform|file found"
     "|justfile|taskfile|rakefile|cmakelists|mix.project|outside |workspace|build.ninja",
     r"could not find (?:a |an )?.?(?:Cargo\.toml|pyproject\.toml|composer\.json|Package\.swift)"
     r"|no .?pyproject\.toml.? found|go\.mod file not found|cannot find main module|no go files in"
     r"|not a git repository|no such file or directory.{0,40}package\.json|could not read package\.json"
     r"|no_importer_manifest|no configuration file provided|no makefile found|ENOENT.{0,60}package\.json"
     r"|there is no POM in|does not contain a (?:gradle build|project or solution file)|could not locate Gemfile"
     r"|couldn't find a project to run|contains no terraform configuration|no terraform configuration files"
     r"|no (?:pubspec\.yaml|build\.zig) file found|no (?:justfile|Taskfile|Rakefile) found"
     r"|does not (?:contain an Xcode project|appear to contain CMakeLists)|could not find a Mix\.Project"
     r"|outside (?:of )?an? (?:workspace|project)\b|not part of (?:a|the) (?:workspace|project)"
     r"|loading 'build\.ninja'|doesn't seem to be part of the project"),
    (Trouble.NO_SCRIPT, "script|no rule|task|not found|recipe|target|no step|no such service",
     r"script not found|missing script|no rule to make target|no tasks? .{0,30}found"
     r"|unknown task|command \S+ not found in|\btask '[^']+' not found in|\btask not found: "
     r"|\bcommand \"\S+\" not found"
     r"|don't know how to build task|does not contain recipe|couldn't find a script named"
     r"|\btask \"[^\"]+\" (?:does not exist|could not be found|not found)|ninja: error: unknown target"
     r"|no (?:bin|example|test|bench|library) target named|no step named|target \"[^\"]+\" does not exist"
     r"|no such (?:service|target)\b"),
    (Trouble.IGNORED_PATH, "ignored by",
     r"ignored by one of your \.gitignore"),
    (Trouble.TIMED_OUT, "timed out",
     r"command timed out|timed out after|timed out and has been killed"),
    (Trouble.NO_GLOB, "no matches found",
     r"no matches found:"),
    (Trouble.SHELL_SYNTAX, "parse error|syntax error|unexpected eof|bad substitution|unmatched|event not found"
     "|ambiguous|separator|expression or|terminator|read-only variable",
     r"parse error near|syntax error near unexpected token|unexpected EOF while looking"
     r"|bad substitution|unmatched [\"'`]|syntax error: (?:unexpected|\"|unterminated|end of file)|: event not found"
     r"|ambiguous redirect|is not a valid statement separator|in expression or statement"
     r"|is missing the terminator|: read-only variable"),
    (Trouble.LOCKED, "lock",
     r"\.lock': file exists|could not get lock|waiting for file lock|database is locked"
     r"|error acquiring the state lock"),
    (Trouble.NO_LOGIN, "auth|log|credential|username|publickey",
     r"\bauth login\b|not logged in|bad credentials|unable to locate credentials"
     r"|could not read username|permission denied \(publickey|no basic auth credentials|ENEEDAUTH"
     r"|could not find default credentials|authentication (?:failed|required)|please log ?in\b"),
    (Trouble.NO_NETWORK, "resol|not known|getaddrinfo|unreachable|no route|dial tcp",
     r"could not resolve (?:host|proxy)|failure in name resolution|name or service not known"
     r"|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|network is unreachable|no route to host|dial tcp: lookup"),
    (Trouble.PORT_IN_USE, "eaddrinuse|address|allocated|in use",
     r"EADDRINUSE|address already in use|port is already allocated|port \d+ is (?:already )?in use"
     r"|only one usage of each socket address"),
    (Trouble.NO_SERVER, "refused|connect|container",
     r"connection refused|ECONNREFUSED|connect to the docker daemon|was refused - did you specify"
     r"|could not connect to server|can't connect to (?:local )?(?:mysql|server)|failed to connect to"
     r"|couldn't connect to server|no such container|container \S+ is not running"),
    (Trouble.DIRTY, "overwritten|unstaged|uncommitted|untracked",
     r"would be overwritten by|you have unstaged changes|index contains uncommitted changes"
     r"|(?:has|have|with) uncommitted changes|contains modified or untracked files"),
    (Trouble.NO_REVISION, "revision|not match|remote ref|object name|reference|upstream|tracking",
     r"unknown revision|did not match any file|couldn't find remote ref|bad revision"
     r"|not a valid object name|invalid reference:|has no upstream branch|no tracking information"),
    (Trouble.WRONG_VERSION, "engine|version|release|requires ",
     r"unsupported engine|EBADENGINE|the engine \"\S+\" is incompatible|your ruby version is"
     r"|your php version|invalid (?:source|target) release|unsupported class file major version"
     r"|requires (?:rustc|go|python|node(?:\.js)?|java) (?:version )?[v>=^~\"']?\d"),
    (Trouble.NO_RIGHT, "denied|eacces|eperm|not permitted|read-only|disabled|sudo:",
     r"permission denied|EACCES|operation not permitted|EPERM|read-only file system"
     r"|access (?:is |to the path .{1,200} is )denied|running scripts is disabled|sudo: a (?:password|terminal)"),
    (Trouble.EXISTS, "exists|already",
     r"\bfile exists\b|already exists\b|is already (?:checked out|used by worktree)"),
    (Trouble.IS_FOLDER, "is a directory",
     r": is a directory\b"),
    (Trouble.NO_FILE, "no such file|can't open|not found|cannot find|could not open",
     r"no such file or directory|can't open file|file or directory not found|no such file\b"
     r"|cannot find path|cannot find the (?:path|file) specified|could not open (?:input|requirements) file"),
)  # fmt: skip
SHELL_PATTERNS = compiled(tuple((kind, pattern) for kind, _, pattern in _SHELL_TROUBLES))
SHELL_SIGNS = tuple(
    (sign, tuple(at for at, (_, signs, _) in enumerate(_SHELL_TROUBLES) if sign in signs.split("|")))
    for sign in sorted({sign for _, signs, _ in _SHELL_TROUBLES for sign in signs.split("|")})
)
"""Each sign with the places of its reasons: one, in small letters, is in every line that a reason's pattern matches."""


_RAISED = (
    (Trouble.BROKEN_CODE, r"\A(?:E )?(?:SyntaxError|IndentationError|TabError)\b|\APHP Parse error"
     r"|syntax error, unexpected"),
    (Trouble.NO_NAME, r"\A(?:E )?(?:NameError|AttributeError|ReferenceError|UnboundLocalError)\b"
     r"|\A(?:E )?ImportError: cannot import name|\A(?:E )?TypeError: .{0,200}(?:is not a function"
     r"|unexpected keyword argument|missing \d+ required (?:positional|keyword-only) argument|takes .{1,60} given)"
     r"|undefined (?:local variable or )?method|Call to undefined (?:function|method)"),
)  # fmt: skip
RAISED_PATTERNS = compiled(_RAISED)
"""What the interpreter of a script says of the script: it does not parse, or uses a name that is not there."""
