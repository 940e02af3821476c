"""Secrets known by what stands before them: a header, a flag, an address, or a name such as ``password``."""

from __future__ import annotations

import re

from lessonbook.core.redact_rules import LABEL, Rule, secret_group
from lessonbook.core.redact_values import is_credential, is_jumbled, is_password, is_placeholder, is_reference, is_uuid

_PASSWORD = "password|passwd|passphrase|passcode|pwd"
_STRONG = (
    "(?:api|access|secret|private|account|auth|signing|encryption|master|license|service|deploy|pass)[-_ .]{0,2}key"
    "|secret|token|credentials?|jwt|pass"
)
_WEAK = "key|auth|cookie|session(?:[-_ ]?id)?|sid|csrf"
_NAMES = ("key", "pass", "secret", "token", "pwd", "auth", "cookie", "session", "sid", "credential", "jwt", "csrf")
_OF_INDEXES = (
    r"(?i)(?:public|primary|foreign|cache|sort|partition|publishable|group|index|idempotency|object|s3|lookup|file)"
    r"[-_ ]?\Z"
)
_VALUE = r"""[^\s"'`<>(){}\[\],;|&\\=…]{4,}+(?:={1,2}(?![^\s"'`<>,;|&\\)\]}]))?"""
_PASSWORD_VALUE = r"""[^\s"'`<>(){}\[\],;|&\\…]{4,}+"""
_NAMED = (
    rf"(?=[acdejklmpstACDEJKLMPST])(?i:(?P<p>{_PASSWORD})|(?P<k>{_STRONG})|(?P<w>{_WEAK}))[-_]?\d{{0,2}}"
    r"""(?:\\{0,3}["'`]|\])?(?:\*\*)?[ \t]{0,8}(?::=|=>|==?|:)(?:\*\*)?[ \t]{0,32}"""
    r"""(?:(?<=:)\r?\n[ \t]{1,32})?(?:\\{0,3}(?P<q>b?["'`]))?"""
    r"""(?:(?<=")(?P<s>[^"\\\n]{4,512}+)(?=\\{0,3}")|(?<=')(?P<s2>[^'\\\n]{4,512}+)(?=\\{0,3}')"""
    rf"|(?P<s3>(?(p){_PASSWORD_VALUE}|{_VALUE})))"
)
_BROKEN = r"(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[A-Za-z0-9+/=_-]{16,}+(?=[ \t]*+\r?(?:\n|\Z))"
_FLAG = (
    r"(?<![\w-])--?(?:[a-z]{1,16}-){0,3}"
    r"(?P<name>password|passwd|passphrase|pass|token|api-?key|secret(?:-key)?|access-key|auth)"
    rf"""(?:=|[ \t]+)["']?(?P<s>(?!-){_VALUE})"""
)
_SAID = (
    r"(?i:\b(?P<p>password|passwd|passphrase)|\b(?P<k>secret|token|api[- _]?key|access[- _]?key|credential))"
    rf"""[ \t]+(?:(?:is|was|of):?[ \t]+)?["'`]?(?P<s>{_VALUE})"""
)


def _literal(value: str, *, quoted: bool = False) -> bool:
    """Whether a value is written out here, and not a label, a placeholder or the name of something else."""
    return LABEL not in value and not is_placeholder(value) and (quoted or not is_reference(value))


def _trimmed(match: re.Match[str]) -> str:
    return match[secret_group(match)].rstrip(".:!?*")


def _named(match: re.Match[str]) -> bool:
    """Judge ``name = value``: how much the value must look like a secret depends on the name."""
    value, bare = _trimmed(match), match["s3"] is not None
    if (bare and _called(match)) or not _literal(value, quoted=not bare):
        return False
    if match["p"]:
        return is_password(value) if " " not in value else re.search(r"[A-Za-z][0-9@$!#][A-Za-z]", value) is not None
    if match["k"] and match["k"].lower() == "pass":
        return _passed(match, value)
    if match["k"]:
        return " " not in value and is_credential(value)
    before = match.string[max(0, match.start() - 16) : match.start()]
    return " " not in value and _weakly_named(value) and not re.search(_OF_INDEXES, before)


def _called(match: re.Match[str]) -> bool:
    """Whether an unquoted value goes on as a call, an index or a template, and so is code."""
    behind = match.string[match.end() : match.end() + len(LABEL)]
    return match["q"] is None and behind[:1] in tuple("([{") and behind != LABEL


def _passed(match: re.Match[str], value: str) -> bool:
    """Judge ``pass = value``: a test run says ``PASS: name`` far more often than anyone writes a password so."""
    word = match["k"]
    within = match.string[match.start() - 1 : match.start()].isalpha() and word in ("pass", "PASS")
    assigned = "=" in match.string[match.start() : match.end() - len(match[secret_group(match)])] or match["s3"] is None
    return not within and " " not in value and is_credential(value) and (assigned or is_jumbled(value))


def _weakly_named(value: str) -> bool:
    """Judge a value after a word such as ``key``, which more often names a row than a secret."""
    return not is_uuid(value) and any(len(part) >= 20 and is_jumbled(part) for part in re.split("[-_.:/]", value))


def _flagged(match: re.Match[str]) -> bool:
    value = _trimmed(match)
    judge = is_password if match["name"].startswith("pass") else is_credential
    return _literal(value) and judge(value)


def _paired(match: re.Match[str]) -> bool:
    return _literal(match["s"]) and is_credential(match["s"])


def _short_flag(match: re.Match[str]) -> bool:
    return _literal(_trimmed(match)) and is_password(_trimmed(match))


def _said(match: re.Match[str]) -> bool:
    """Judge a value that follows the word in a sentence: only what no sentence says."""
    value = _trimmed(match)
    if not _literal(value) or "/" in value:
        return False
    if match["p"] and len(value) >= 8 and re.search(r"[A-Za-z]\d|\d[A-Za-z]", value) and not re.search("[-_.:]", value):
        return is_credential(value)
    return any(is_jumbled(part) for part in re.split("[-_.:]", value))


def _written_out(match: re.Match[str]) -> bool:
    return _literal(_trimmed(match))


def _in_header(match: re.Match[str]) -> bool:
    value = _trimmed(match)
    return _literal(value) and (
        is_credential(value) or bool(match["scheme"] and len(value) >= 16 and re.search("[0-9A-Z=]", value))
    )


def _bearer(match: re.Match[str]) -> bool:
    value = match["s"]
    return _literal(value) and (is_credential(value) or (len(value) >= 20 and not value.isalpha() and "-" not in value))


def _basic(match: re.Match[str]) -> bool:
    value = match["s"]
    return value.endswith("=") or all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))


def _in_query(match: re.Match[str]) -> bool:
    value = match["s"]
    return _literal(value) and is_credential(value)


def _cookies(match: re.Match[str]) -> bool:
    values = [part.partition("=")[2] for part in match["s"].split(";")]
    return LABEL not in match["s"] and any(is_credential(value) or len(value) >= 20 for value in values)


CONTEXT_RULES = (
    # The rest of a secret that a terminal or a person broke over lines: nothing else stands on them.
    Rule(
        (LABEL.lower(),),
        rf"{re.escape(LABEL)}[ \t]*+\r?\n[ \t>|]*+(?P<s>{_BROKEN}(?:[ \t]*+\r?\n[ \t>|]*+{_BROKEN})*+)",
    ),
    # RFC 3986 userinfo: the password only, so that a reader still sees which server is meant.
    Rule(("://",), r"""://[^\s/:@"'<>?#]{0,128}:(?P<s>[^\s/"'<>?#]{1,256})@(?=[\w.\[-])""", _written_out),
    Rule(("://",), r"://(?P<s>[A-Za-z0-9_-]{20,128})(?::[a-z-]{0,20})?@", lambda match: is_jumbled(match["s"])),
    # RFC 9110 credentials, also inside JSON and shell quotes.
    Rule(
        ("authorization",),
        r"""(?i:authorization)\\{0,3}["']?\s{0,4}[:=,]\s{0,4}\\{0,3}["'`]?"""
        r"""(?P<scheme>(?i:bearer|basic|token|apikey|digest|negotiate)\s{1,4})?(?P<s>[^\s"'`,;\\<>]{8,}+)""",
        _in_header,
    ),
    Rule(("bearer",), r"(?i:\bbearer)\s{1,4}(?P<s>[A-Za-z0-9._~+/=-]{8,}+)", _bearer),
    Rule(("basic",), r"\b[Bb]asic\s{1,4}(?P<s>[A-Za-z0-9+/]{16,}+={0,2})", _basic),
    Rule(("cookie",), r"""(?i:\bcookie)\\{0,3}["']?:\s{0,4}(?P<s>[^\s=;"'\\]{1,64}=[^\r\n"'\\]{6,}+)""", _cookies),
    Rule(
        ("token=", "sig=", "signature=", "key=", "auth=", "code=", "password=", "pwd=", "secret="),
        r"(?i:[?&](?:[\w.-]{0,24}[_-])?(?:[a-z]{0,8}token|sig|signature|api_?key|key|auth|code|password|pwd|secret))="
        r"""(?P<s>[^\s&#"'`<>\\()]{6,}+)""",
        _in_query,
    ),
    Rule(_NAMES, _NAMED, _named),
    Rule(("-pass", "-token", "-api", "-secret", "-access-key", "-auth"), _FLAG, _flagged),
    Rule(
        ("sshpass", "mysql", "docker", "mariadb"),
        r"\b(?:(?:sshpass|docker login)\b[^\n|;&]{0,80}?\s-p ?|(?:mysql|mariadb)\w*\b[^\n|;&]{0,80}?\s-p)"
        rf"""['"]?(?P<s>{_VALUE})""",
        _short_flag,
    ),
    Rule(
        ("-u", "--user"),
        rf"\b(?:curl|wget|http)\b[^\n|;]{{0,200}}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{{1,64}}:(?P<s>{_VALUE})",
        _written_out,
    ),
    Rule(
        ("redis-cli", "ssh-keygen"),
        rf"\b(?:redis-cli\b[^\n|;&]{{0,80}}?\s-a|ssh-keygen\b[^\n|;&]{{0,80}}?\s-N) ['\"]?(?P<s>{_VALUE})",
        _short_flag,
    ),
    # A name and its value side by side, as in Kubernetes and .NET files.
    Rule(
        ("value",),
        r"(?i:(?:key|name)[\"']?\s{0,4}[:=]\s{0,4}[\"']?[\w.-]{0,40}?(?:password|secret|token|key)[\"']?[\s,]{1,40}"
        rf"[\"']?value[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?)(?P<s>{_VALUE})",
        _paired,
    ),
    # netrc(5), also on one line.
    Rule(("login",), r"\blogin\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(?P<s>\S{3,}+)", _written_out),
    Rule(
        ("password", "secret", "token", "passphrase", "passwd", "apikey", "api_key"),
        r"(?i:(?P<k>password|passwd|passphrase|secret|token|api_?key))"
        r">?\s{0,4}(?P<s>[^\s<>/]{4,128}+)\s{0,4}<?/[\w:.-]{0,20}?(?P=k)",
        lambda m: _literal(m["s"]) and is_password(m["s"]),
    ),
    Rule(("password", "passwd", "passphrase", "secret", "token", "key", "credential"), _SAID, _said),
)
