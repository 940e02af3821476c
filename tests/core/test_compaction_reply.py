from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.compaction import Plan, Written, length, plan
from lessonbook.core.compaction_reply import Compacted, compacted, line_key
from lessonbook.core.errors import InputError, ModelError
from lessonbook.core.paragraphs import lines_of, split
from lessonbook.core.redact import redact

KEY = "ghp_" + "a1B2" * 9
LONG = "Read sizes with ls -l, never by opening the files, since that is slow and floods the context. " * 3
CODE = "```sh\nmake check  \n\nmake install\n```"
PUSH = "Never force-push.\nNot even once."
FILE = f"# House rules\n\n{LONG}\n\n{PUSH}\n\n\nAlso:\n{CODE}\n\nSizes: ls -l. {LONG}\n\nThe end.\n"
OWN = {1, 3, 4}
GOOD = f"[kept 1]\n\nRead sizes with ls -l.\n\n[kept 2]\n\nAlso:\n{CODE}\n\n[kept 3]"


def planned(text: str = FILE, own: set[int] = OWN) -> Plan:
    return plan(text, [Written(part, n in own, 100 + n) for n, part in enumerate(split(text))], 2000)


def accepted(reply: str, text: str = FILE, own: set[int] = OWN, limit: int = 2000) -> Compacted:
    return compacted(planned(text, own), reply, limit)


def refused(reply: str, text: str = FILE, own: set[int] = OWN, limit: int = 2000) -> str:
    with pytest.raises(ModelError, match="refused and nothing was proposed") as error:
        accepted(reply, text, own, limit)
    return str(error.value)


def test_a_good_reply_becomes_the_file() -> None:
    want = (
        f"# House rules\n\nRead sizes with ls -l.\n\nNever force-push.\nNot even once.\n\nAlso:\n{CODE}\n\nThe end.\n"
    )
    assert accepted(GOOD).text == want


@pytest.mark.parametrize(
    "reply",
    [
        f"<rules>\n{GOOD}\n</rules>",
        f"Sure, here it is:\n\n<rules>\n{GOOD}\n</rules>\n\nI merged two rules.",
        f"```\n{GOOD}\n```",
        f"````markdown\n{GOOD}\n````\n",
        f"```markdown\n{GOOD}\n```",
        f"<rules>\n```md\n{GOOD}\n```\n</rules>",
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("[kept 1]\n\nRead", "  [kept 1]  \nRead").replace("\n\n[kept 2]", "\n[kept 2]"),
        GOOD.replace("make check  ", "make check"),
        f"\ufeff\n\n{GOOD}\n\n\n",
        f"<think>\nI keep [kept 1] in <rules>x</rules>:\n</think>\n\n<rules>{GOOD}</rules>",
        f"<think>First [kept 1].</think>\n{GOOD}",
    ],
)
def test_wrapping_and_spacing_make_no_difference(reply: str) -> None:
    assert accepted(reply).text == accepted(GOOD).text


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("<rules>\n\n</rules>", "empty"),
        ("```\n```", "empty"),
        ("<rules>\n" + GOOD, "stops before its end"),
        (f"Here is the shorter file:\n\n{GOOD}", "talks about the file"),
        (GOOD.replace("[kept 2]\n\n", ""), r"drops \[kept 2\]"),
        ("Read sizes with ls -l.", r"drops \[kept 1\]"),
        (GOOD + "\n\n[kept 3]", r"repeats \[kept 3\]"),
        (GOOD + "\n\n[kept 4]", r"\[kept 4\], which is not there"),
        (GOOD.replace("[kept 1]", "[kept 0]"), r"\[kept 0\], which is not there"),
        (GOOD.replace("[kept 1]", "[kept 9]").replace("[kept 3]", "[kept 1]").replace("9", "3"), "moves"),
        (GOOD.replace("[kept 2]", "[kept 2] Never push."), r"changes \[kept 2\]"),
        (GOOD.replace("[kept 2]", "- [kept 2]"), r"changes \[kept 2\]"),
        (GOOD.replace("[kept 2]", "```\n[kept 2]\n```"), r"changes \[kept 2\]"),
        (GOOD + "\n\nNever force-push.\nNot even once.", r"repeats the words of \[kept 2\]"),
        (GOOD.replace("[kept 2]", "Never force-push.\nNot even once."), r"drops \[kept 2\]"),
        (GOOD.replace(CODE, "make check"), "drops or changes the fenced block that starts 'make check"),
        (GOOD.replace("make install", "make  install"), "drops or changes the fenced block"),
        (GOOD.replace(CODE, "```sh\nmake check"), "never closed"),
        (GOOD + "\n\n```\ncurl x | sh\n```", "adds a fenced block"),
        (f"I shortened it.\n\n```\n{GOOD.replace(CODE, '')}\n```", r"changes \[kept 1\]"),
        (GOOD.replace("Read sizes with ls -l.", LONG + LONG + LONG), "no shorter than the"),
        (GOOD.replace("Read sizes with ls -l.", "See </kept> now."), r"changes </kept>"),
        (GOOD + "\n\n[kept 12345678901234567890]", r"\[kept 12345678901234567890\], which stands alone"),
        (GOOD + "\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x", "conflict markers"),
        (GOOD + "\n\n- a\n>>>>>>> x", "conflict markers"),
    ],
)
def test_what_is_refused_and_why(reply: str, why: str) -> None:
    assert re.search(why, refused(reply))


def test_a_lesson_that_starts_like_talk_is_a_lesson() -> None:
    text = "Here is how to run tests:\n- fast ones first, always, before anything else is tried\n- then make slow\n"
    assert accepted("Here is how to run tests:\n- fast first\n- make slow", text, {0}).text.startswith("Here is how")


def test_a_lesson_about_conflict_markers_keeps_them() -> None:
    code = "Solve it:\n```\n<<<<<<< HEAD\n>>>>>>> topic\n```"
    assert code in accepted(f"{code}\n\nRead less.", f"{code}\n\n{LONG}\n", {0, 1}).text


def test_past_the_limit_is_refused_though_shorter() -> None:
    text = "Kept.\n\n" + "word " * 700 + "\n"
    assert "past the 2,000" in refused("[kept 1]\n\n" + "word " * 420, text, {1})
    assert "no shorter" in refused(f"[kept 1]\n\n{'word ' * 700}", text, {1})


def test_a_persons_bytes_and_the_spacing_between_two_of_theirs_stay() -> None:
    kept = "\t# Odd  \x0b\u202e title\u00a0 \r\n\r\n \r\n  two\tspaces   \r\n"
    text = kept + "\r\n" + "learned " * 40 + "\r\n\r\n- last, no end"
    made = accepted("[kept 1]\n\n[kept 2]\n\nlearned\nmore\n\n[kept 3]", text, {2})
    assert made.text == kept + "\r\nlearned\r\nmore\r\n\r\n- last, no end"


def test_bytes_that_are_not_utf8_stay() -> None:
    text = b"By h\xe4nd.\n\nlearned learned learned learned\n".decode("utf-8", "surrogateescape")
    assert (
        accepted("[kept 1]\n\nlearned", text, {1}).text.encode("utf-8", "surrogateescape")
        == b"By h\xe4nd.\n\nlearned\n"
    )


def test_an_open_fence_of_a_person_lets_nothing_come_after_it() -> None:
    text = "learned " * 20 + "\n\n```\nopen\n\nto the end\n"
    assert accepted("learned\n\n[kept 1]", text, {0}).text == "learned\n\n```\nopen\n\nto the end\n"
    own = "learned " * 20 + "\n\n"
    for reply in ("[kept 1]\n\nlearned", "learned\n\n[kept 1]\n\nlearned"):
        assert "run into" in refused(reply, f"{own}```\nopen\n\nto the end\n", {0})


def test_copied_code_and_paragraphs_come_back_as_they_were_though_the_model_saw_them_scrubbed() -> None:
    code = "```\ncp /home/ana/x ana@build.example.org:/srv\n```"
    text = f"Deploy so:\n{code}\n\nAsk ana@example.org first.\n\n{LONG}\n\nBy hand: ana@example.org.\n"
    made = planned(text, {0, 1, 2})
    assert "ana" not in "".join(made.sent)
    for copied in (made.sent[0], "In short:\n" + made.sent[0].partition("\n")[2]):
        assert code in accepted(f"{copied}\n\n[kept 1]", text, {0, 1, 2}).text
    reply = f"{made.sent[0]}\n\n{made.sent[1]}\n\n[kept 1]"
    assert accepted(reply, text, {0, 1, 2}).text == text.replace(f"{LONG}\n\n", "")


def test_no_secret_comes_back_neither_the_models_nor_the_files() -> None:
    text = f"Use it:\n```\nexport GITHUB_TOKEN={KEY}\n```\n\n{LONG}\n"
    made = planned(text, {0, 1})
    result = compacted(made, f"{made.sent[0]}\n\nAlso {KEY}.", 2000).text
    assert KEY not in result and result.count("[REDACTED]") == 2
    assert not redact(result).count


def test_hidden_characters_of_a_reply_do_not_come_in() -> None:
    made = accepted(GOOD.replace("sizes", "si\u200bzes\u202e\x1b[31m")).text
    assert not {"\u200b", "\u202e", "\x1b"} & set(made) and "ls -l" in made


def test_lines_are_as_old_as_what_they_came_from() -> None:
    made = accepted(GOOD.replace("Read sizes with ls -l.", "Read sizes with ls -l.\nNot by opening files."))
    assert made.times[line_key("Read sizes with ls -l.")] == 104  # the newer of the two that say it
    assert made.times[line_key("make install")] == 103
    assert line_key("Never force-push.") not in made.times and line_key("The end.") not in made.times
    other = accepted(GOOD.replace("Read sizes with ls -l.", "Something quite different altogether."))
    assert other.times[line_key("Something quite different altogether.")] == 104


def test_a_line_is_named_as_the_originals_name_it() -> None:
    from hashlib import sha1

    assert line_key("  use ls \r") == sha1(b"use ls", usedforsecurity=False).hexdigest()[:10]


# --- whatever the model answers -------------------------------------------------------------------------------------

_LINES = st.sampled_from(
    [
        "Use ls.",
        "- item",
        "    code",
        "```",
        "~~~",
        "```sh",
        "  ```",
        "1. ```",
        "",
        " ",
        "[kept 1]",
        "# Head",
        "\ttab",
        "é\u00a0",
        "a" * 30,
    ]
)
_TEXTS = st.lists(_LINES, min_size=1, max_size=14).map("\n".join)
_BITS = st.sampled_from(
    [
        "[kept 1]",
        "[kept 2]",
        "[kept 3]",
        "[kept 4]",
        "",
        "x",
        "```",
        "~~~",
        "  ```",
        "- ```",
        "    deep",
        "- a",
        "<rules>",
        "</rules>",
        "> q",
        "\u2028",
    ]
)


@settings(max_examples=400, deadline=None)
@given(text=_TEXTS, own=st.sets(st.integers(0, 8)), ends=st.sampled_from(["\n", "\r\n"]), data=st.data())
def test_whatever_comes_back_what_a_person_wrote_is_there_byte_for_byte(
    text: str, own: set[int], ends: str, data: st.DataObject
) -> None:
    text = text.replace("\n", ends) + " " + "learned " * 60
    parts = split(text)
    try:
        made = plan(text, [Written(part, n in own or n == len(parts) - 1, n) for n, part in enumerate(parts)], 2000)
    except InputError:
        return
    good = "\n\n".join(
        f"[kept {made.kept.index(n) + 1}]" if n in made.kept else part for n, part in enumerate(made.sent)
    ).replace("learned " * 59, "")
    lines = good.split("\n")
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(lines)))
        gone = data.draw(st.integers(0, 2))
        lines[at : at + gone] = data.draw(st.lists(_BITS, max_size=3))
    kept = [made.paragraphs[place].paragraph.text for place in made.kept]
    try:
        result = compacted(made, "\n".join(lines), 2000).text
    except ModelError:
        return
    left = [part.text for part in split(result) if part.text]
    bare = [part.removesuffix("\n").removesuffix("\r") for part in left]
    places = []
    for one in kept:
        want = one.removesuffix("\n").removesuffix("\r") if one.endswith("\n") else one
        start = places[-1] + 1 if places else 0
        assert want in bare[start:], (want, result)
        places.append(bare.index(want, start))
    assert length(result) < length(text) and len(lines_of(result)) > 0
