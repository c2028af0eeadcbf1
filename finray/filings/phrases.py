"""Patterns of phrases as filings print them."""

import re


def phrase(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """``pattern`` in any case; a space in it matches one to three characters of white space."""
    return re.compile(pattern.replace(" ", r"\s{1,3}"), re.IGNORECASE | flags)
