"""Reads what a form of ours sends: plain fields, bounded, of one kind."""

from __future__ import annotations

from urllib.parse import parse_qsl

from lessonbook.core.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request

LONGEST = 4 << 20
"""Bytes one form may have."""
_FIELDS = 5_000
_KIND = "application/x-www-form-urlencoded"


class UnfitError(InputError):
    """A request that no form of ours sends, with the status that says so."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Form:
    """The fields of one form."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def one(self, name: str) -> str:
        """Return a field; ``""`` where it was not sent."""
        return next((value for key, value in self._pairs if key == name), "")

    def all(self, name: str) -> list[str]:
        """Return every value of a field, in order."""
        return [value for key, value in self._pairs if key == name]

    def text(self, name: str) -> str:
        """Return a field of several lines with plain line ends, whatever ends the browser gave them."""
        return self.one(name).replace("\r\n", "\n").replace("\r", "\n")


async def read_form(request: Request) -> Form:
    """Return the fields of a request. Raises ``UnfitError`` for another kind of body and for one that is too long."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise UnfitError(415, "Only the forms of this page are taken.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST:
            raise UnfitError(413, f"A form may have at most {LONGEST:,} bytes.")
    return parsed(bytes(body))


def parsed(body: bytes) -> Form:
    """Return the fields of a form's body. Raises ``UnfitError`` for what no browser sends."""
    try:
        text = body.decode("ascii")
        return Form(parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=_FIELDS))
    except ValueError as error:  # not ASCII, not UTF-8 behind the escapes, or too many fields
        raise UnfitError(400, "The form could not be read.") from error
