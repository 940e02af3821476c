"""What says who a person is or which machine is theirs, in text from transcripts.

Kept on purpose: versions, line and column numbers, hashes, UUIDs, dates, ports, private and loopback addresses,
``git@host`` (everyone's login there), ``name@tag`` of packages, images and actions.
"""

from __future__ import annotations

import re

from lessonbook.core.redact_rules import Rule

IDENTITY_LABELS = ("[EMAIL]", "[PHONE]", "[IP]", "[HOST]")

_FILE_ENDINGS = "png|jpe?g|gif|svg|webp|ico|[cm]?[jt]sx?|json|css|html?|lock|map|toml|ya?ml|txt|py|whl|tgz|zip|gz"
EMAIL = (
    r"(?<![A-Za-z0-9._%+/$-])(?!git@[\w.-]+:)[A-Za-z0-9._%+-]{1,64}@(?!v?\d+\.\d)"
    rf"(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}(?!(?:{_FILE_ENDINGS})\b)[A-Za-z]{{2,24}}(?![\w-]|\.\w)"
)
_OTHER_EMAIL = r"(?<=mailto:)[^\s@<>\"']{1,64}@[\w.-]{1,128}\w"

_LOGIN = (
    r"(?:(?<=ssh://)|(?<![^\s\"'(]))(?!git@)[A-Za-z_][\w.-]{0,31}@"
    r"\[?[A-Za-z0-9][A-Za-z0-9.:-]{0,127}(?<=[A-Za-z0-9])\]?"
)
_SSH_BEFORE = r"(?:\b(?:ssh|scp|sftp|mosh|rsync|ssh-copy-id)(?:\s+-\S+(?:\s+[^\s-]\S*)?){0,6}\s+[\"']?|ssh://)\Z"
_REMOTE_PATH = r"(?<![\w.@/+-])(?!git@)[A-Za-z_][\w.-]{0,31}@[A-Za-z][A-Za-z0-9.-]{1,127}(?=:[~/])"

_IPV4 = (
    r"(?<![\w.])(?<!\w[/-])(?<![=~^>]=)(?<![\^~])"
    r"(?P<a>\d{1,3})\.(?P<b>\d{1,3})\.(?P<c>\d{1,3})\.(?P<d>\d{1,3})(?!\w|\.\d|[-+][A-Za-z])"
)
_IPV6 = r"(?<![\w:.])[23][0-9A-Fa-f]{3}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])"

_PHONE = (
    r"(?<![\w+])\+(?!\d{4}-\d\d-\d\d)\d{1,3}(?:[ -]?\(\d{1,4}\))?(?:[ -]?\d{2,5}){2,5}(?![\w:]|[.,]\d)"
    r"|(?<![\w.+/-])(?:1[ .-])?(?:\([2-9]\d\d\) ?[2-9]\d\d[-. ]\d{4}"
    r"|[2-9]\d\d-[2-9]\d\d-\d{4}|[2-9]\d\d\.[2-9]\d\d\.\d{4})(?![\w-]|\.\d)"
    r"|(?i:\b(?:tel|phone|mobile|cell|fax)(?: ?(?:no|number))?\.?:?[ \t]{1,4})(?P<s>\(?\d[\d ()./-]{6,18}\d)(?!\w)"
)

_NAME = r"""[^/\\\s"'`:;,<>()|$*{}\[\]&?=~]{1,64}"""
_HOME = (
    r"(?:(?<![\w.~%-])|(?<=\\[nrt])|(?<=[\s=]-[A-Za-z])|(?<=^-[A-Za-z]))"
    r"(?:(?:/mnt)?/[a-z](?=/Users/)|[A-Za-z]:(?=/)|/(?:var|mnt|export|data|nfs)(?=/home/))?"
    r"/(?:home|Users)/(?!Shared\b|linuxbrew\b)" + _NAME
)
_WINDOWS_HOME = (
    r"""(?:(?<![A-Za-z0-9])[A-Za-z]:|\\{2,4}wsl(?:\$|\.localhost)\\{1,4}[\w.-]{1,32})"""
    r"""\\{1,4}(?:Users|home)\\{1,4}(?!Public\b|Default\b)(?:[^\\/:*?"<>|\r\n]{1,64}(?=\\)|""" + _NAME + ")"
)
_SLUG = r"(?<![\w.-])(?P<s>(?:[A-Za-z]-)?-(?:Users|home)-[A-Za-z0-9_]{1,64})(?![A-Za-z0-9_])"


def _public_ipv4(match: re.Match[str]) -> bool:
    """Whether it is a public address (RFC 1918, 1122, 3927, 6598, 5771 name the others) and not called a version."""
    parts = [match[name] for name in "abcd"]
    if any(int(part) > 255 or (part[0] == "0" and len(part) > 1) for part in parts):
        return False
    a, b = int(parts[0]), int(parts[1])
    private = a in (0, 10, 127) or a >= 224 or (a, b) in ((192, 168), (169, 254)) or (a == 172 and 16 <= b < 32)
    before = match.string[max(0, match.start() - 12) : match.start()]
    versioned = re.search(r"(?i)(?:\b(?:version|release|build|ver|v)\.?[\"']?[ :=]{1,3}[\"'v]?)$", before)
    return not private and not (a == 100 and 64 <= b < 128) and not versioned


def _ssh_login(match: re.Match[str]) -> bool:
    """Whether ``name@host`` follows an ssh command and its options, and is not the tag of a package."""
    return re.search(_SSH_BEFORE, match.string[max(0, match.start() - 120) : match.start()]) is not None


def _ipv6(match: re.Match[str]) -> bool:
    groups = match[0].split(":")
    return len(groups) == 8 or ("::" in match[0] and match[0].count("::") == 1)


def _phone(match: re.Match[str]) -> bool:
    digits = sum(map(str.isdigit, match["s"] or match[0]))
    least = 8 if re.search("[ ()-]", match[0]) else 10
    return (least if match[0].startswith("+") else 7) <= digits <= 15


IDENTITY_RULES = (
    Rule(("ssh", "scp", "sftp", "mosh", "rsync"), _LOGIN, _ssh_login, label="[HOST]"),
    Rule(("@",), EMAIL, label="[EMAIL]"),
    Rule(("mailto:",), _OTHER_EMAIL, label="[EMAIL]"),
    Rule(("@",), _REMOTE_PATH, label="[HOST]"),
    Rule((".",), _IPV4, _public_ipv4, label="[IP]"),
    Rule(("2", "3"), _IPV6, _ipv6, label="[IP]"),
    Rule(("+", "-", ".", "tel", "phone", "mobile", "cell", "fax"), _PHONE, _phone, label="[PHONE]"),
    Rule(("/home/", "/users/"), _HOME, label="~"),
    Rule(("users", "home"), _WINDOWS_HOME, label="~"),
    Rule(("-users-", "-home-"), _SLUG, label="-~"),
)
