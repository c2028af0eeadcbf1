"""Currencies as filings and questions write them: codes, signs and names, with the ISO 4217 code of each.

A sign or word that several currencies share ("$", "dollars", "pesos") is read as the one that the filing reports in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

UNKNOWN: Final = "XXX"
"""ISO 4217's code for "no currency": the unit of an amount whose currency the filing does not state."""

_DOLLARS = {
    "USD": r"(?:u\.?\s?s\.?|united states|american)\s?(?:dollars?|\$)|usd",
    "CAD": r"canadian\s(?:dollars?|\$)|(?:cdn|cad|ca|c)\$|cdn\s\$|dollars?\scanadian",
    "AUD": r"australian\sdollars?|(?:aud|au|a)\$",
    "NZD": r"new\szealand\sdollars?|nz\$",
    "HKD": r"hong\skong\sdollars?|hk\s?\$|hk\sdollars?",
    "SGD": r"singapore\sdollars?|(?:sgd|sg|s)\$",
    "TWD": r"(?:new\s)?taiwan(?:ese)?\sdollars?|nt\s?\$|nt\sdollars?",
    "BBD": r"barbad(?:os|ian)\sdollars?",
    "BMD": r"bermud(?:a|ian)\sdollars?",
    "JMD": r"jamaican?\sdollars?|j\$",
    "TTD": r"trinidad\sand\stobago\sdollars?|tt\$",
}
_PESOS = {
    "MXN": r"mexican\spesos?|mx\s?\$|mxn?p\s?\$",
    "ARS": r"argentine(?:an)?\spesos?|argentinian\spesos?|ar\$",
    "CLP": r"chilean\spesos?|(?:th|mm)?ch\s?\$",
    "COP": r"colombian\spesos?|col?\$",
    "PHP": r"philippine\spesos?|₱",
    "UYU": r"uruguayan\spesos?|ur?y\$",
    "DOP": r"dominican\spesos?|rd\$",
}
_CROWNS = {
    "SEK": r"swedish\s(?:kronor|kronas?|crowns?)|kronor",
    "NOK": r"norwegian\s(?:kroner|krone|crowns?)",
    "DKK": r"danish\s(?:kroner|krone|crowns?)",
    "ISK": r"icelandic\s(?:kronur|kronas?|kr[oó]nur)",
}
_OTHERS = {
    "EUR": r"euros?|€",
    "GBP": r"(?:british\s)?pounds?\ssterling|british\spounds?|u\.?k\.?\spounds?|sterling|£",
    "JPY": r"(?:japanese\s)?yen",
    "CNY": r"renminbi|rmb|chinese\s(?:yuan|renminbi)|yuan(?:\srenminbi)?",
    "CHF": r"swiss\sfrancs?|sfr\.?|chf",
    "KRW": r"(?:(?:south\s)?korean\s)?won|₩",
    "BRL": r"brazilian\sre(?:ais|als?)|reais|r\$",
    "INR": r"indian\srupees?|₹",
    "PKR": r"pakistani?\srupees?",
    "LKR": r"sri\slankan\srupees?",
    "RUB": r"(?:russian\s)?ro?ubles?|₽",
    "ZAR": r"(?:(?:south\safrican|sa)\s)?rands?|r(?=\s?(?:m\b|mn\b|million|billion))",
    "TRY": r"(?:turkish\s)?lir(?:as?|e)|tl|₺",
    "PLN": r"(?:polish\s)?z[lł]ot(?:ys?|ych|ies)",
    "ILS": r"(?:new\s)?israeli\s(?:new\s)?she[kq][ea]ls?|new\sshe[kq][ea]ls?|she[kq][ea]ls?|nis|₪",
    "HUF": r"(?:hungarian\s)?forints?",
    "CZK": r"czech\s(?:korun(?:as?|y)|crowns?)",
    "RON": r"romanian\s(?:leu|lei)",
    "IDR": r"(?:indonesian\s)?rupiahs?|rp\.?",
    "MYR": r"(?:malaysian\s)?ringgits?(?:\smalaysia)?|rm",
    "THB": r"thai\sbahts?|bahts?|฿",
    "VND": r"vietnam(?:ese)?\s(?:dong|đ[oồ]ng)|₫",
    "AED": r"(?:u\.?a\.?e\.?|united\sarab\semirates)\sdirhams?",
    "SAR": r"saudi\s(?:arabian\s)?riyals?",
    "EGP": r"egyptian\spounds?",
    "NGN": r"(?:nigerian\s)?nairas?|₦",
    "KES": r"kenyan?\sshillings?|ksh",
    "GHS": r"ghana(?:ian)?\scedis?",
    "KZT": r"(?:kazakh(?:stan(?:i)?)?\s)?tenges?|₸",
    "UAH": r"ukrainian\shryvnias?|hryvnias?|₴",
    "GEL": r"georgian\slari",
    "PEN": r"peruvian\s(?:nuevos\s)?sol(?:es)?|nuevos\ssoles|s/\.?",
    "MOP": r"macau\spatacas?|patacas?",
    "KWD": r"kuwaiti\sdinars?",
    "MAD": r"moroccan\sdirhams?",
    "BGN": r"bulgarian\slev(?:a|s)?",
}
_NAMES: Final[Mapping[str, str]] = MappingProxyType(_DOLLARS | _PESOS | _CROWNS | _OTHERS)
CURRENCIES: Final = frozenset({*_NAMES, UNKNOWN})
"""The codes that finray distinguishes."""
SHARED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "$": ("USD", *(code for code in _DOLLARS if code != "USD"), *_PESOS),
        "¥": ("JPY", "CNY"),
        "dollars": tuple(_DOLLARS),
        "pesos": ("", *_PESOS),
        "crowns": ("", *_CROWNS, "CZK"),
        "pounds": ("GBP", "EGP"),
        "rupees": ("INR", "PKR", "LKR"),
    }
)
"""Signs and words that currencies share. The first is what they mean if nothing else is stated, "" if that is
nothing."""
_SHARED_WORDS = {
    "$": r"\$",
    "¥": r"[¥￥]",
    "dollars": r"dollars?",
    "pesos": r"pesos?|ps\.?(?=\s?[$\d)]|\s?$|\smillion|\sthousand)\$?",
    "crowns": r"kroner|krone|kronas?|crowns",
    "pounds": r"pounds",
    "rupees": r"rupees?|rs\.",
}
_CODES = "|".join(sorted(_NAMES))
_ALIKE = r"(?-i:" + _CODES + r")(?![\w$])"
_GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {f"c{code.lower()}": code for code in _NAMES} | {f"s{number}": word for number, word in enumerate(_SHARED_WORDS)}
)
_MENTION = re.compile(
    r"(?<![\w$.])(?:(?P<code>"
    + _ALIKE
    + r")|"
    + "|".join(f"(?P<c{code.lower()}>{name})" for code, name in _NAMES.items())
    + "|"
    + "|".join(f"(?P<s{number}>{pattern})" for number, pattern in enumerate(_SHARED_WORDS.values()))
    + r")(?:(?<=[$€£¥￥₩₹₽₺₪฿₫₦₸₴₱.])|(?![\w$]))",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """``text[start:end]`` names the currency ``code``, or one of those that share the sign or word ``shared``."""

    start: int
    end: int
    code: str | None
    shared: str | None


def mentions(text: str) -> Iterator[Mention]:
    """The currencies that ``text`` names, in reading order."""
    for match in _MENTION.finditer(text):
        group = match.lastgroup or ""
        if group == "code":
            yield Mention(match.start(), match.end(), match[group], None)
        elif group.startswith("c"):
            yield Mention(match.start(), match.end(), _GROUPS[group], None)
        else:
            yield Mention(match.start(), match.end(), None, _GROUPS[group])


@lru_cache(maxsize=4096)
def meant_by(shared: str, reported: str) -> str:
    """The currency that a shared sign or word means in tables that are ``reported`` in a currency; "XXX" if that is
    not stated."""
    sharing = SHARED[shared]
    if reported in sharing:
        return reported
    return UNKNOWN if reported == UNKNOWN and sharing[0] == "USD" else sharing[0] or UNKNOWN
