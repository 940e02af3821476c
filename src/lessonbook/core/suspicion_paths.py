"""What a file is allowed to do by its name or its frontmatter: scripts, settings, hooks, tools without asking."""

from __future__ import annotations

from collections.abc import Iterator

from lessonbook.core.suspicion_shown import Find
from lessonbook.core.suspicion_text import Code, compiled

_KIND = "permissions"
_SCRIPT = (
    r"(?i).*\.(?:sh|bash|zsh|fish|pyc?|pyw|[mc]?js|ts|ps1|bat|cmd|rb|pl|php|lua|exe|dll|so|dylib|jar|wasm|command|scpt)"
)
_SETTING = (
    r"(?i)(?:.*/)?(?:settings(?:\.local)?\.json|\.?mcp\.json|hooks\.json|config\.toml|\.gitconfig|\.gitattributes|\.gitmodules"
    r"|\.envrc|\.env(?:\.\w+)?|crontab|\.?(?:bash|zsh)rc|\.?(?:bash_|z)?profile|\.npmrc|\.pypirc|\.netrc|makefile"
    r"|package\.json|tasks\.json|launch\.json|\.pre-commit-config\.yaml|plugin\.json|sitecustomize\.py)|(?:.*/)?\.git/.*"
)
_HOOK = r"(?i)(?:.*/)?(?:hooks|\.husky|\.githooks|\.github/workflows)/.*"
_PATHS = (
    (_SETTING, "A settings file: programs read it and obey it."),
    (_HOOK, "A hook: a program runs it by itself."),
    (_SCRIPT, "A program beside the text: an agent may run it."),
)
_KEYS = (
    r"(?im)^[ \t]{0,2}[\"']?(?P<key>allowed[-_ ]?tools|tools|hooks|permissions?|permission[-_]?mode|mcp[-_]?servers"
    r"|auto[-_]?approve)[\"']?[ \t]{0,3}:[ \t]{0,3}[^\s#]?"
)


def of_path(path: str, text: str) -> Iterator[Find]:
    """Yield one find for a file that is more than text, by its name or its first line.

    It covers the whole text, so that it stands at the first line that is brought.
    """
    for pattern, why in _PATHS:
        if compiled(pattern).fullmatch(path):
            yield Find(_KIND, why, 0, len(text))
            return
    if text.startswith("#!"):
        yield Find(_KIND, "A program beside the text: an agent may run it.", 0, len(text))


def frontmatter_keys(text: str) -> Iterator[Find]:
    """Yield the keys of the frontmatter that grant tools or run hooks. A key in prose grants nothing."""
    head = compiled(r"\ufeff?---[ \t]*\r?\n").match(text)
    if not head:
        return
    close = compiled(r"(?m)^(?:---|\.\.\.)[ \t]*\r?$").search(text, head.end())
    for match in compiled(_KEYS).finditer(text, head.end(), close.start() if close else len(text)):
        why = f"The frontmatter sets {match['key'].lower()}: an agent acts on it without asking."
        yield Find(_KIND, why, match.start(), match.end())


def loaded_commands(text: str, code: Code) -> Iterator[Find]:
    """Yield ``!`command```: some agents run it while they load a skill, before anyone is asked."""
    for match in compiled(r"(?m)(?:^|(?<=[\s(:]))!`[^`\n]{2,400}`|^```!.{0,80}").finditer(text):
        if match[0].startswith("```") or not code.holds(match.start()):
            yield Find("fetch-and-run", "A command that runs while the skill is loaded.", match.start(), match.end())
