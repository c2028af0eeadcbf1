"""Who asks: SEC wants a company and an e-mail address in the User-Agent, and blocks who gives none.

See SEC, "Accessing EDGAR Data", fair access.
"""

from __future__ import annotations

import re

from finray.core.errors import SettingsError

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@(?P<domain>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)")
_PLACEHOLDER = re.compile(
    r"\b(?:example\.(?:com|net|org|edu)|(?:your|my|the|some)[-_ ]?(?:own)?[-_ ]?(?:company|name|domain|e?mail)\w*"
    r"|company\.com|domain\.com|email\.com|sample company|test@|foo|changeme)\b|[<>{}\[\]]",
    re.IGNORECASE,
)
_LONGEST = 200


SEC_REQUESTS_PER_SECOND = 10.0
"""SEC's limit for everything that one company sends together."""


def check_pace(per_second: float, base_url: str | None) -> None:
    """Raises SettingsError for a pace that SEC forbids; ``base_url`` of a mirror may allow any."""
    if per_second > SEC_REQUESTS_PER_SECOND and (not base_url or "sec.gov" in base_url.lower()):
        raise SettingsError(
            f"setting 'edgar.requests_per_second' = {per_second:g}: SEC allows {SEC_REQUESTS_PER_SECOND:g} requests a "
            "second and blocks who sends more; the default of 8 leaves room"
        )


def checked_contact(contact: str) -> str:
    """``contact`` as it goes into the User-Agent. Raises SettingsError unless it names a company and an e-mail."""
    text = " ".join(contact.split())
    found = _EMAIL.search(text)
    name = _EMAIL.sub("", text).strip(" ,;:()")
    problem = None
    if not text:
        problem = "is not set"
    elif found is None:
        problem = f"= {contact!r} holds no e-mail address"
    elif sum(letter.isalpha() for letter in name) < 2:
        problem = f"= {contact!r} names no company beside the e-mail address"
    elif _PLACEHOLDER.search(text):
        problem = f"= {contact!r} is a placeholder"
    elif len(text) > _LONGEST or not text.isascii() or not text.isprintable():
        problem = f"= {contact!r} cannot stand in a request header: write up to {_LONGEST} plain ASCII characters"
    if problem:
        raise SettingsError(
            f"setting 'edgar.contact' {problem}. SEC blocks requests that do not say who asks: give your company and "
            "an e-mail address that is read, as in FINRAY_EDGAR__CONTACT='Acme Research filings@acme-research.com'"
        )
    return text
