from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.errors import InputError
from lessonbook.core.remote import FOLDER, HTTPS, SSH, remote


@pytest.mark.parametrize(
    ("text", "kind", "address"),
    [
        ("/srv/team.git", FOLDER, "/srv/team.git"),
        ("./team.git", FOLDER, "/here/./team.git"),
        ("../team.git", FOLDER, "/here/../team.git"),
        ("file:///srv/team.git", FOLDER, "/srv/team.git"),
        ("git@example.org:team/book.git", SSH, "git@example.org:team/book.git"),
        ("example.org:book", SSH, "example.org:book"),
        ("ssh://git@example.org:2222/team/book", SSH, "ssh://git@example.org:2222/team/book"),
        ("https://example.org/team/book.git", HTTPS, "https://example.org/team/book.git"),
        ("https://ana@example.org:8443/book", HTTPS, "https://ana@example.org:8443/book"),
        (" https://[::1]/book ", HTTPS, "https://[::1]/book"),
    ],
)
def test_what_a_book_is_shared_with(text: str, kind: str, address: str) -> None:
    told = remote(text, "/here")
    assert (told.kind, told.address) == (kind, address)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ext::sh -c 'touch /tmp/x'",
        "fd::17",
        "ext::/bin/x",
        "-oProxyCommand=x",
        "--upload-pack=x",
        "http://h/x",
        "git://h/x",
        "ftp://h/x",
        "ssh://-oProxyCommand=x/y",
        "ssh://a@-oProxyCommand=x/y",
        "-x@h:p",
        "h:-x",
        "https://h",
        "https://u:pw@h/x",
        "https:///x",
        "file://host/x",
        "rsync://h/x",
        "team",
        "a b:c",
        "h\n:x",
        "ssh://h /x",
        "persistent-https::x",
        "transport::/srv/x",
        "https://h;x/y",
        "ssh://$(x)/y",
        "file://",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        remote(text)
    assert "pw@" not in str(caught.value)


@given(st.one_of(st.text(), st.from_regex(r"[a-z:/@.-]{1,20}")))
def test_no_text_becomes_another_transport_or_an_option(text: str) -> None:
    try:
        told = remote(text, "/here")
    except InputError:
        return
    assert not told.address.startswith("-") and "::" not in told.address.partition("/")[0]
    assert told.kind != FOLDER or told.address.startswith("/")
    assert told.kind != HTTPS or told.address.lower().startswith("https://")
