"""Provisional."""

import re

VERSION = "0"
TOKENIZE = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M* S* P*'"


def index_words(text: str) -> str:
    """x"""
    return " ".join(re.findall(r"\w+|[^\w\s]+", text))
