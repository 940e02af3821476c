"""The commands that are signs of poisoning: they run what no one has read, send secrets, or change what runs later.

Read like the phrases of ``suspicion_rules``: on plain, lower-case text, in any file and inside code as well.
"""

from __future__ import annotations

import re

from lessonbook.core.suspicion_rules import Rule, holds
from lessonbook.core.suspicion_text import compiled

_SHELL = r"(?:/usr)?(?:/bin/)?(?:env\s+)?(?:(?:ba|z|da|k|fi|a)?sh|pwsh|powershell|iex|invoke-expression)(?![\w./=-])"
_INTERPRETER = r"(?:python[\d.]*|node|perl|ruby|php|deno|bun)(?:\s{1,4}-)?(?=[ \t]{0,4}(?:$|[\"'`);&\n]))"
_RUNS = rf"\|&?\s{{0,8}}(?:sudo\s{{1,4}}(?:-\S{{1,20}}\s{{1,4}}){{0,3}})?(?:{_SHELL}|{_INTERPRETER})"
_GET = r"\b(?:curl|wget|fetch|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod)\b"
_PART = rf"(?:(?!{_GET})(?:[^\n|]|(?<=\\)\n))"
_LINE = r"(?:[^\n]|(?<=\\)\n){0,600}"
_KNOWN_INDEX = (
    r"//(?:(?:[\w-]+\.)?(?:(?:pytorch|pypi|npmjs)\.org|nvidia\.com)(?![\w.-])|localhost|127\.0\.0\.1"
    r"|[<{$])"
)
_UNSEEN = "Runs what it downloads, unseen."


def _runs_it(match: re.Match[str]) -> bool:
    """Whether a file that a command downloads is run by it or within the next four lines."""
    name = r"[\w-]{1,40}\.(?:sh|bash|py|ps1|run|pl|js)\b"
    names = set(compiled(name).findall(match[0]))
    names |= set(compiled(r"(?:\s-o\s?|>\s?)(?:[\w.~-]{0,40}/){0,6}([\w-]{1,40})(?![\w./-])").findall(match[0]))
    if not names:
        return False
    window = match.string[match.start() : match.end() + 400]
    near = "\n".join(window.split("\n")[: match[0].count("\n") + 5])
    runs = (
        r"(?:[\n;&`][ \t$>]{0,8}|[;&] )(?:sudo )?(?:chmod \S{1,8} |(?:bash|sh|zsh|python3?|perl|node|source) |\./)"
        r"(?:[^\s|&;]{0,60}/)?([\w-]{1,40}(?:\.(?:sh|bash|py|ps1|run|pl|js))?)(?![\w./-])"
    )
    return not names.isdisjoint(compiled(runs).findall(near))


_FETCH = (
    (
        _UNSEEN,
        ("curl", "wget", "fetch", "aria2c", "iwr", "irm", "invoke-"),
        rf"{_GET}{_PART}{{1,400}}(?:\|{_PART}{{1,80}}){{0,2}}{_RUNS}",
        None,
    ),
    (
        _UNSEEN,
        ("curl", "wget", "iex", "invoke-expression", "/dev/tcp/", "nc "),
        r"\b(?:sh|bash|zsh|source|eval|exec|python3?)\b[^\n]{0,20}(?:[$<]\(|`)\s{0,4}(?:curl|wget)\b"
        r"|\b(?:iex|invoke-expression)\b[^\n]{0,80}\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring)\b"
        r"|>&?\s{0,4}/dev/tcp/|\bn(?:c|cat)\s{1,4}(?:-\w{1,4}\s{1,4}){0,3}-\w{0,4}e\s{1,4}/bin/",
        None,
    ),
    ("Downloads a file and runs it.", ("curl", "wget"), rf"\b(?:curl|wget)\b{_LINE}", _runs_it),
    (
        "Fetches a repository and runs a script of it.",
        ("git clone",),
        r"\bgit clone\s[^\n&;]{4,200}(?:&&|;)[^\n]{0,80}?(?:\./|\b(?:bash|sh|python3?) )[\w./-]{1,60}",
        None,
    ),
    (
        "Installs a package from an address, not from a registry.",
        ("pip", "uv ", "uvx", "poetry", "npx", "npm", "bunx", "bun ", "yarn", "cargo", "deno"),
        r"\b(?:pip3?|pipx|uvx?|poetry)\s{1,4}(?:(?:pip|tool|install|add|run|-(?!-(?:extra-)?index-url)[-\w]{1,30})\s{1,4}){0,4}[\"']?"
        r"(?:[\w\[\],-]{1,60}\s{0,2}@\s{0,2})?(?:git\+|https?://)"
        r"|\b(?:npx|bunx|pnpm dlx|yarn add|npm (?:i|install|exec)|bun add|pnpm add)\s{1,4}(?:-[-\w]{1,30}\s{1,4}){0,4}"
        r"[\"']?(?:git\+|https?://|github:|git@|git://)"
        r"|\bcargo install\s[^\n]{0,60}--git\s|\bdeno run\s[^\n]{0,60}https?://",
        None,
    ),
    (
        "Takes packages from another index.",
        ("index-url", "index_url", "registry"),
        r"(?:--(?:extra-)?index-url|\b(?:pip|uv)_(?:extra_)?index_url|--registry|\bregistry)[= ]\s{0,2}[\"']?https?://[^\s\"'`]{3,80}",
        lambda match: not holds(_KNOWN_INDEX)(match),
    ),
    (
        "Decodes something and runs it.",
        ("base64", "b64decode", "atob(", "xxd", "openssl", "urlopen", "requests.get", "decompress", "charcode", "-e"),
        rf"\b(?:base64|xxd|openssl)\b[^\n|]{{0,80}}\s-(?:d|-decode|r)\b[^\n|]{{0,40}}{_RUNS}"
        r"|\b(?:exec|eval|function|compile)\s?\([^\n]{0,60}(?:b64decode|atob\(|urlopen|requests\.get|decompress"
        r"|fromcharcode)|\b(?:ba)?sh\b[^\n]{0,12}(?:[$<]\(|`)[^\n]{0,200}\bbase64\s{1,4}-(?:d|-decode)\b"
        r"|\b(?:powershell|pwsh)\b[^\n]{0,60}\s-e(?:nc|ncodedcommand)?\s{1,4}[a-z0-9+/=]{20}",
        None,
    ),
    (
        "Tells the agent to obey text from an address.",
        ("http",),
        r"\b(?:fetch|download|read|open|load|visit|get|retrieve|pull)\b[^.\n]{0,60}?https?://\S{1,200}[^.\n]{0,30}?"
        r"(?:\band(?: then)?|,? then)\s{1,4}(?:follow|obey|execute|run|do what|apply|eval)\b",
        None,
    ),
)

_SECRET_FILE = (
    r"[\w./~${}-]{0,60}(?:\.env|\.ssh|id_rsa|id_ed25519|id_ecdsa|\.aws|\.netrc|\.npmrc|\.pypirc|\.gnupg|\.kube|credentials"
    r"|/etc/passwd|/etc/shadow)\b(?!\.(?:example|sample|template|pub))"
)
_WHOLE_ENVIRONMENT = r"\bos\.environ\b(?!\s?[\[.])|dict\(os\.environ\)|os\.environ\.copy|\bprocess\.env\b(?!\s?[.\[?])"
_EXFILTRATE = (
    (
        ("curl", "wget", "http", "nc ", "ncat", "xh "),
        rf"\b(?:curl|wget|http|https|nc|ncat|xh)\b(?!://){_LINE}",
        rf"(?:@|<\s{{0,2}}|\s(?:--upload-file|-t|--post-file)[= ]\s?){_SECRET_FILE}"
        rf"|[$]\(\s?(?:cat|base64|tar|<)[^\n)]{{0,40}}?{_SECRET_FILE}|[$]\(\s?(?:env|printenv|set)\b",
    ),
    (
        ("curl", "wget", "nc", "http"),
        rf"\b(?:(?:cat|base64|tar|gzip|zip)\b[^\n|]{{0,60}}\s{_SECRET_FILE}[^\n|]{{0,40}}|(?:env|printenv)\s?)"
        r"(?:\|[^\n|]{1,60}){0,2}\|\s?(?:curl|wget|nc|ncat|http)\b",
        "",
    ),
    (
        ("scp", "rsync"),
        r"\b(?:scp|rsync)\s[^\n]{1,300}",
        r"(?:/\.(?:ssh|aws|gnupg|kube)|id_rsa|id_ed25519)\b(?!\.pub)[^\n]{0,80}?\s[\w.@-]{1,60}:",
    ),
    (
        ("requests.", "fetch(", "axios", "urlopen", "httpx."),
        r"\b(?:requests\.(?:post|put|get)|fetch|axios(?:\.post)?|urlopen|httpx\.(?:post|put|get))\s?\([^\n]{0,400}",
        rf"{_WHOLE_ENVIRONMENT}|id_rsa|/\.ssh/|open\([\"'][^\"'\n]{{0,30}}\.env[\"']",
    ),
    (("gist",), rf"\bgh gist create\s[^\n]{{0,80}}?{_SECRET_FILE}", ""),
    (("dig ", "nslookup"), r"\b(?:dig|nslookup)\s[^\n]{0,60}[$]\(", ""),
)

_SETTINGS = (
    r"(?:~/|\$home/|\./)?\.(?:claude/settings(?:\.local)?\.json|codex/config\.toml|gemini/settings\.json"
    r"|cursor/mcp\.json)"
)
_SHELL_START = (
    r"(?:~|\$\{?home\}?|/etc|/root)/\.?(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|bash_login"
    r"|config/fish/config\.fish)\b"
)
_INTO = r"(?:>>?|\btee\s{1,4}(?:-a\s{1,4})?)\s{0,2}[\"']?"
_PERMISSIONS = (
    (
        "Changes what a shell runs at every start.",
        ("bashrc", "zshrc", "profile", "zshenv", "bash_login", "config.fish"),
        rf"{_INTO}{_SHELL_START}|\b(?:append|add|write)\b[^.\n]{{1,80}}\b(?:to|into|in)\b[^.\n]{{1,12}}{_SHELL_START}",
    ),
    (
        "Changes the agent's own settings.",
        ("settings", "config.toml", "mcp.json", "allow"),
        r"\"allow\"\s{0,4}:\s{0,4}\[\s{0,8}\"(?:\*|bash(?:\(\*\))?)\""
        rf"|{_INTO}{_SETTINGS}|\b(?:append|add|write|edit|modify|change|update|set)\b[^.\n]{{1,80}}?{_SETTINGS}",
    ),
    (
        "Changes git settings that run programs.",
        ("git config", ".git/hooks", "git_ssh"),
        r"\b(?:cp|mv|ln|tee|install)\b[^\n]{1,80}\.git/hooks/|>\s{0,2}\S{0,40}\.git/hooks/|\bgit_ssh_command="
        r"|\bgit config\b[^\n]{0,40}?\b(?:core\.(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass)"
        r"|credential\.\S{0,40}helper|alias\.\w|diff\.external|filter\.\S{1,40}\.(?:clean|smudge|process)|gpg\.program"
        r"|include\.path|url\.\S{1,100}\.insteadof)",
    ),
    (
        "Makes something run later or with more rights.",
        (
            "crontab",
            "authorized_keys",
            "launchctl",
            "systemctl",
            "nopasswd",
            "ld_preload",
            "/etc/cron",
            "dyld_insert",
            "chmod",
            "_env=",
        ),
        r"\|\s?crontab\s{1,4}-|\bcrontab\s{1,4}(?:-e\b|[\w./-]{1,60}\.\w)|>>?\s{0,2}\S{0,40}authorized_keys"
        r"|\blaunchctl (?:load|bootstrap)\b|\bsystemctl (?:--user )?enable\b|\bnopasswd:"
        r"|\bchmod (?:[0-7]?[4-7][0-7]{3}|[ugo]*\+s)\b|\bexport (?:bash_env|node_options|pythonstartup)="
        r"|\b(?:ld_preload|dyld_insert_libraries)=|>>?\s{0,2}/etc/cron",
    ),
)

COMMANDS = (
    *(Rule("fetch-and-run", *row) for row in _FETCH),
    *(
        Rule("exfiltrate", "A command that sends secrets away.", needles, pattern, holds(inside) if inside else None)
        for needles, pattern, inside in _EXFILTRATE
    ),
    *(Rule("permissions", *row) for row in _PERMISSIONS),
)
"""What a command in a text does, whoever runs it."""
