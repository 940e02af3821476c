"""Which characters a reader cannot see, and the sequences in which some of them are part of the writing.

Regular expression fragments only; ``clean`` composes them. Sources: Unicode ``DerivedCoreProperties``
(Default_Ignorable_Code_Point), general categories Cc and Cf, and UTS #51 for emoji.
"""

from __future__ import annotations

ZERO_WIDTH = (
    "\u00ad"  # soft hyphen
    "\u034f"  # combining grapheme joiner
    "\u17b4\u17b5"  # Khmer inherent vowels
    "\u180b-\u180f"  # Mongolian variation selectors and vowel separator
    "\u200b-\u200d"  # zero-width space, non-joiner, joiner
    "\u2060-\u2065"  # word joiner, invisible operators
    "\u206a-\u206f"  # deprecated format characters
    "\ufe00-\ufe0f"  # variation selectors
    "\ufeff"  # byte order mark
    "\ufff0-\ufffb"  # interlinear annotation and unassigned ignorables
    "\U00013430-\U0001345f"  # Egyptian hieroglyph layout
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical format controls
    "\U000e0000-\U000e0fff"  # tag characters, variation selectors supplement
)
"""Take no room at all: what stands on both sides of one is read as one word."""

BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Change the order in which the text around them is shown."""

CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
"""C0 and C1 without tab and what ends a line."""

FILLER = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols that are drawn as a blank."""

NONCHARACTER = "\ufdd0-\ufdef" + "".join(f"{chr(p * 0x10000 + 0xFFFE)}{chr(p * 0x10000 + 0xFFFF)}" for p in range(17))
"""Never text (Unicode 23.7)."""

SURROGATE = "\ud800-\udfff"
"""Half of a UTF-16 pair; cannot be encoded in UTF-8."""

HIDDEN = ZERO_WIDTH + BIDI + CONTROL + FILLER + NONCHARACTER
"""The inside of a character class of everything above but surrogates.

The visible Arabic and Brahmi number signs (U+0600 and others of category Cf) are not in it: they are drawn.
"""

_JOINING = (
    "\u0600-\u0605\u0610-\u061b\u061d-\u07ff\u0840-\u08ff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"  # Arabic and kin
    "\u0900-\u0dff\ua8e0-\ua8ff"  # the scripts of India and Sri Lanka
    "\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1800-\u180a\u1810-\u18af\u1b00-\u1bff"  # Myanmar to Bali
    "\U00011000-\U0001137f"
)
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_ONE = f"[{_EMOJI}][\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"


def _flag(region: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in region)


VISIBLE_SEQUENCE = (
    f"\U0001f3f4(?:{_flag('gbeng')}|{_flag('gbsct')}|{_flag('gbwls')})\U000e007f"
    "|[0-9#*]\ufe0f?\u20e3"
    f"|{_ONE}(?:\u200d{_ONE})*"
    f"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
)
"""Sequences that are drawn as one sign although they hold hidden characters.

Flags: the three tag sequences of RGI_Emoji_Tag_Sequence, since any longer list would let text hide behind a flag.
"""
