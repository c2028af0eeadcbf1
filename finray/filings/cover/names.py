"""Company names in filings: tidied, without their corporate suffix, and as the short names that a filing defines."""

import re
from itertools import islice

_SUFFIX = (
    r"(?:incorporated|inc|corporation|corp|company|companies|co|limited|ltd|llc|l\.l\.c|lp|l\.p|llp|plc|p\.l\.c|n\.v|nv"
    r"|s\.a|sa|ag|se|holdings?|group|trust|bancorp|and subsidiaries|& subsidiaries|the)"
)
_TRAILING_SUFFIX = re.compile(
    rf"(?<![\s,])[\s,]*+(?:\b|(?<=[\s,]))(?:{_SUFFIX}\.?|&\s?co\.?|& company|\(?publ\)?)\s*$", re.IGNORECASE
)
_ONLY_SUFFIX = re.compile(rf"(?:[\s,.&]|\b(?:and|of|{_SUFFIX})\b)*", re.IGNORECASE)
_LEADING_THE = re.compile(r"^the\s+", re.IGNORECASE)
_DOT_COM = re.compile(r"\.com$", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"‘']([^”\"’“']{2,40})[”\"’']")
_GENERIC = re.compile(
    r"\b(?:company|companies|registrant|registrants|we|us|our|corporation|issuer|group|firm|partnership|trust|bank|parent"
    r"|holdings|fund|guarantor|borrower|subsidiaries|subsidiary|agreement|act|exchange|commission|sec|merger|board|plan"
    r"|notes?|shares?|stock|report|form|annual|quarter|fiscal|year|securities|offering|transaction|closing)\b",
    re.IGNORECASE,
)
_STATE_SUFFIX = re.compile(r" ?[/\\][A-Z]{2,8}[/\\]? ?$")
_WORD = re.compile(r"[a-z0-9]+")
_BETWEEN = frozenset(
    (
        "inc", "incorporated", "corp", "corporation", "co", "company", "ltd", "limited", "plc", "llc", "and", "its",
        "the", "subsidiaries", "consolidated",
    )
)  # fmt: skip
"""Words that may come between a company's name and the parenthesis with its short name."""
_MAX_MENTIONS = 60
MAX_NAME = 120
"""Characters; a longer text is not a name."""


def tidy_name(text: str) -> str:
    """``text`` on one line, without trademark signs, state suffix or surrounding punctuation."""
    text = " ".join(text.replace("®", "").replace("™", "").split())
    text = re.sub(r" ([,.])(?= |$)", r"\1", text)
    return _STATE_SUFFIX.sub("", text.strip(' _*|-–—:;•·()"“”')).strip(" ,")


def only_suffix(text: str) -> bool:
    """Whether ``text`` is only the end of a name: "PLC", "& COMPANY", "CORPORATION"."""
    return bool(_ONLY_SUFFIX.fullmatch(text))


def brand(company: str) -> str:
    """The name without its corporate suffixes and leading article: "The Coca-Cola Company" is "Coca-Cola"."""
    name = company
    for _ in range(4):
        shorter = _TRAILING_SUFFIX.sub("", name).rstrip(" ,&")
        if not shorter or shorter == name:
            break
        name = shorter
    without_article = _LEADING_THE.sub("", name).strip()
    return without_article or company


def short_names(company: str, text: str) -> tuple[str, ...]:
    """The short names in a parenthesis right after ``company`` in ``text``: “Acme” of (“Acme”, the “Company”, “we”).

    Words that any filing uses ("the Company", "we", "the Registrant") are left out.
    """
    found: dict[str, None] = {}
    own = frozenset(_WORD.findall(company.lower())) | _BETWEEN
    words = brand(company).split()
    start = re.compile(rf"(?<!\w){re.escape(words[0])}(?!\w)", re.IGNORECASE) if words else None
    for match in islice(start.finditer(text), _MAX_MENTIONS) if start else ():
        open_at = text.find("(", match.end(), match.end() + 90)
        close_at = text.find(")", open_at, open_at + 220) if open_at >= 0 else -1
        if close_at < 0 or not own.issuperset(_WORD.findall(text[match.end() : open_at].lower())):
            continue
        for quoted in _QUOTED.findall(text[open_at:close_at]):
            name = " ".join(quoted.split()).strip(" ,.")
            if is_short_name(name, company):
                found[name] = None
    return tuple(found)


def is_short_name(name: str, company: str) -> bool:
    """Whether ``name`` could stand for ``company``: a part of it or its initials, and not a word of any filing."""
    if (
        not 2 <= len(name) <= 40
        or not (name[0].isupper() or name[0].isdigit())
        or name == company
        or _GENERIC.search(name)
    ):
        return False
    initials = "".join(word[0] for word in re.findall(r"[A-Za-z]+", company)).lower()
    flat = re.sub(r"[^a-z0-9]", "", name.lower())
    whole = re.sub(r"[^a-z0-9]", "", company.lower())
    return bool(flat) and (flat in whole or (len(flat) > 1 and initials.startswith(flat)) or _is_acronym(flat, whole))


def _is_acronym(short: str, whole: str) -> bool:
    """Whether ``short`` is an acronym from any letters of ``whole`` ("AXP" for "American Express")."""
    rest = iter(whole)
    return 2 <= len(short) <= 5 and short[0] == whole[:1] and all(letter in rest for letter in short)


def aliases_of(company: str, text: str, former: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Former names, short names that ``text`` defines, and the brand; none equal to ``company``."""
    name = brand(company)
    plain = _DOT_COM.sub("", name)
    names = dict.fromkeys((*former, *short_names(company, text), name, plain))
    return tuple(alias for alias in names if alias and alias.lower() != company.lower())
