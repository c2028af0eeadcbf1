"""Checks what SEC demands of its clients: a company and an e-mail address in the User-Agent, and a limited pace.

Source: SEC, "Accessing EDGAR Data", fair access.
"""

from __future__ import annotations

import re

from finray.core.errors import SettingsError

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_PLACEHOLDER = re.compile(
    r"\b(?:example\.(?:com|net|org|edu)|(?:your|my|the|some)[-_ ]?(?:own)?[-_ ]?(?:company|name|domain|e?mail)\w*"
    r"|company\.com|domain\.com|email\.com|sample company|test@|foo|changeme)\b|[<>{}\[\]]",
    re.IGNORECASE,
)
_MAX_CHARACTERS = 200
SEC_REQUESTS_PER_SECOND = 10.0
"""SEC's limit for one company, over all its machines."""


def check_pace(per_second: float, base_url: str | None) -> None:
    """Raises SettingsError for a pace that SEC forbids. A mirror at ``base_url`` may allow any."""
    if per_second > SEC_REQUESTS_PER_SECOND and (not base_url or "sec.gov" in base_url.lower()):
        raise SettingsError(
            f"setting 'edgar.requests_per_second' = {per_second:g}: SEC allows {SEC_REQUESTS_PER_SECOND:g} requests a "
            "second and blocks clients that send more; the default of 8 leaves room"
        )


def checked_contact(contact: str) -> str:
    """``contact`` as sent in the User-Agent. Raises SettingsError unless it names a company and an e-mail address."""
    text = " ".join(contact.split())
    company = _EMAIL.sub("", text).strip(" ,;:()")
    problem = None
    if not text:
        problem = "is not set"
    elif not _EMAIL.search(text):
        problem = f"= {contact!r} contains no e-mail address"
    elif sum(letter.isalpha() for letter in company) < 2:
        problem = f"= {contact!r} names no company besides the e-mail address"
    elif _PLACEHOLDER.search(text):
        problem = f"= {contact!r} is a placeholder"
    elif len(text) > _MAX_CHARACTERS or not text.isascii() or not text.isprintable():
        problem = f"= {contact!r} does not fit a request header: use up to {_MAX_CHARACTERS} plain ASCII characters"
    if problem:
        raise SettingsError(
            f"setting 'edgar.contact' {problem}. SEC blocks anonymous requests: give your company and an e-mail "
            "address that someone reads, as in --contact 'Acme Research filings@acme-research.com', or in the variable "
            "FINRAY_EDGAR__CONTACT"
        )
    return text
