"""Errors a text names: codes of tools, HTTP statuses, exit codes, exception classes, errno names (POSIX), signals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled, runs
from lessonbook.core.shelltokens import word_set

_CODE = re.compile(
    r"(?:ERR_[A-Z][A-Z0-9_]{2,60}|(?:TS|CS|NU|MSB|NETSDK|ORA-|PGRST)\d{4,6}|E\d{3,5}|0x8[0-9A-Fa-f]{7})\Z"
)
_CODED = r"[A-Z0](?<![\w-].)(?:RR_|S\d|U\d|SB\d|ETSDK|RA-\d|GRST|\d\d\d|x8)"
_LINT = re.compile(r"(?:[FWCNDSBRPI]|UP|PL[CREW]|RUF|SIM|SC|ANN|ARG|BLE|PTH|PT|TRY)\d{3,4}\Z")
_LINTED = r"[A-Z]\d{3}(?!\d\d)"
_SAYS_LINT = re.compile(
    r"(?i)\b(?:noqa:?|rules?|codes?|ruff|flake8|pylint|errors?|lint|warnings?|disable=?|ignore)[\s`(:,]{1,3}\Z"
)
_ERRNO = r"(?:E(?<![\w-]E)|SIG(?<![\w-]SIG))[A-Z0-9_]{2,15}+(?![\w-])"
_ERRNO_NAMES = word_set(
    "E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EAI_AGAIN EBADF EBUSY ECANCELED ECHILD ECONNABORTED ECONNREFUSED "
    "ECONNRESET EDEADLK EDQUOT EEXIST EFAULT EFBIG EHOSTUNREACH EINPROGRESS EINTEGRITY EINTR EINVAL EIO EISDIR "
    "ELIFECYCLE ELOOP EMFILE EMLINK EMSGSIZE ENAMETOOLONG ENETUNREACH ENFILE ENOBUFS ENODEV ENOENT ENOEXEC ENOLCK "
    "ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP ENXIO EOPNOTSUPP EOVERFLOW EPERM EPIPE EPROTO "
    "ERANGE ERESOLVE EROFS ESRCH ESTALE ETIMEDOUT ETXTBSY EUSAGE EXDEV SIGABRT SIGBUS SIGFPE SIGHUP SIGILL SIGINT "
    "SIGKILL SIGPIPE SIGSEGV SIGTERM SIGTRAP SIGUSR1 SIGUSR2"
)
_ENDING = r"(?:Error|Exception|Warning|Fault|Interrupt|Iteration|SystemExit|DoesNotExist|NotFound)(?!\w)"
_CLASS = re.compile(
    r"(?:[A-Za-z_]\w*(?:\.|::)){0,5}(?:[A-Z]{1,5}|[A-Z][a-z0-9]+)(?:[A-Z][a-z0-9]+)*"
    r"(?:Error|Exception|Warning|Fault|Interrupt|Iteration|Exit|Exist|NotFound)\Z"
)
_ONE_WORD = word_set("error exception warning fault interrupt iteration notfound")
_NUMBER = r"[ :=]`?(\d{1,3})(?!\w|[.,]\d|[%-])"
_SAYS_STATUS = re.compile(r"(?i)\b(?:http(?:/[\d.]+)?(?: status)?(?: code)?|status(?: code)?s?)\Z")
_GIVES_STATUS = re.compile(
    r"(?i)\b(?:responds? with|return(?:s|ed)?|got|gets?|throws?|fails? with|errors?)(?: an?| the)?\Z|\b(?:an?|the"
    r"|[a-z]+s)\Z"
)
_TELLS = (
    r"(?i)[`)]?,? ?\(?(?:errors?|status|responses?|not found|unauthori[sz]ed|forbidden|too many|bad request|conflict)\b"
)
_SAYS_EXIT = re.compile(
    r"(?i)\b(?:exit(?:s|ed|ing)?(?: (?:with|code|status|an?|the|non-zero)){0,3}|(?:return|exit) (?:code"
    r"|status)(?: of| is)?):?\Z"
)


def find(page: Page) -> Iterator[Entity]:
    """Yield the errors that ``page`` names."""
    for pattern, judge in ((_CODED, _CODE), (_LINTED, _LINT)):
        for start, end in runs(page.text, pattern, r"\w-"):
            if judge.match(page.text, start, end) and (judge is _CODE or _is_lint(page, start, end)):
                yield page.entity(Kind.ERROR, start, end)
    for match in compiled(_ERRNO).finditer(page.text):
        if match[0] in _ERRNO_NAMES:
            yield page.entity(Kind.ERROR, *match.span())
    for start, end in runs(page.text, _ENDING, r"\w.:/@$-"):
        stop = start + len(page.text[start:end].rstrip(".:-"))
        name = re.split(r"[.:]", page.text[start:stop])[-1]
        if _CLASS.match(page.text, start, stop) and name.lower() not in _ONE_WORD and len(name) <= 80:
            yield page.entity(Kind.ERROR, start, stop, name)
    for match in compiled(_NUMBER).finditer(page.text):
        yield from _numbered(page, match)


def _numbered(page: Page, match: re.Match[str]) -> Iterator[Entity]:
    """Yield an exit code, or an HTTP status: said to be one, or from 400 up and made one by what stands around it."""
    before = page.before(match.start(), 40)
    if not compiled(r"[A-Za-z:/\d]").match(before[-1:]):
        return
    exited = _SAYS_EXIT.search(before) if "t" in before else None
    if exited and int(match[1]) <= 255:
        yield page.entity(Kind.ERROR, match.start() - len(exited[0]), match.end(1), f"exit {int(match[1])}")
        return
    if len(match[1]) < 3 or match[1][0] not in "12345":
        return
    said = _SAYS_STATUS.search(before)
    tells = compiled(_TELLS).match(page.text, match.end()) is not None
    if said or (tells and match[1][0] in "45" and (_GIVES_STATUS.search(before) or page.quoted(*match.span(1)))):
        start = match.start() - len(said[0]) if said else match.start(1)
        yield page.entity(Kind.ERROR, start, match.end(1), f"http {match[1]}")


def _is_lint(page: Page, start: int, end: int) -> bool:
    """Whether a letter and digits are a linter's rule: where it is said to be one."""
    return _SAYS_LINT.search(page.before(start)) is not None
