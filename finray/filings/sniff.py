"""Recognizes the format of a file by its content, not by its extension."""

import re
from typing import Literal

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings

Kind = Literal["pdf", "html", "submission", "text"]

_HEAD = 4096
_PDF_MARK = re.compile(rb"%PDF-\d")
_SUBMISSION = re.compile(
    rb"<(?:SEC-DOCUMENT|SEC-HEADER|IMS-DOCUMENT|IMS-HEADER|SUBMISSION)>"
    rb"|-----BEGIN PRIVACY-ENHANCED MESSAGE-----"
    rb"|^ACCESSION NUMBER:|^<ACCEPTANCE-DATETIME>|^<DOCUMENT>\s{0,8}<TYPE>",
    re.MULTILINE,
)
# Without <table> and <page>: typed documents of the 1990s mark their tables and page ends with these.
_MARKUP = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|div|tr|center|font|p|h[1-6]|hr|pre)\b", re.IGNORECASE)
_ERROR_PAGE = re.compile(
    r"\b(?:40[0134]|429|50[0234])\b.{0,40}\b(?:forbidden|not found|unauthorized|bad request|too many requests"
    r"|(?:internal server |gateway |server )?error|bad gateway|service unavailable|gateway time-?out)\b"
    r"|\baccess (?:to this page (?:is|has been) )?denied\b|\brequest rate threshold exceeded\b"
    r"|\bundeclared automated tool\b|<code>(?:nosuchkey|nosuchbucket|accessdenied|slowdown|expiredtoken)</code>"
    r"|<title>[^<]{0,40}\b(?:forbidden|not found|access denied|error|just a moment)\b[^<]{0,40}</title>"
    r"|\bverify (?:that )?you are (?:a )?human\b",
    re.IGNORECASE,
)
CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
_CONTROL_BYTES = bytes(byte for byte in range(128) if CONTROL.match(chr(byte)))
"""Files seldom have any; to look for these bytes takes a fraction of the time of a search of the text."""
_ERROR_PAGE_BYTES = 20_000
"""Web servers' error pages are short; the SEC's longest, on automated tools, has 6 KB."""
_MAGIC = {
    b"PK\x03\x04": "a ZIP archive or Office document",
    b"\x1f\x8b": "gzip data",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\x00": "a TIFF image",
    b"MM\x00*": "a TIFF image",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"{\\rtf": "an RTF document",
    b"PAR1": "a Parquet file",
}


def sniff(content: bytes, settings: FilingSettings) -> Kind:
    """The format of a file. Raises FilingError (stage "read"): ``empty``, ``too_large``, ``error_page``,
    ``unknown_format``."""
    if not content:
        raise FilingError("read", "empty", "the file has 0 bytes; fetch it again")
    if len(content) > settings.max_bytes:
        raise FilingError(
            "read", "too_large", f"{len(content):,} bytes exceed filings.max_bytes = {settings.max_bytes:,}"
        )
    head = content[:_HEAD]
    if _PDF_MARK.search(head, 0, 1024):
        return "pdf"
    reject_error_page(content)
    if _SUBMISSION.search(head):
        return "submission"
    if _MARKUP.search(head):
        return "html"
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            raise FilingError(
                "read", "unknown_format", f"this is {name}; finray reads PDF, EDGAR HTML and full-submission text"
            )
    if _is_text(head):
        return "text"
    raise FilingError("read", "unknown_format", f"not PDF, HTML or text: it starts with {head[:16]!r}")


def is_markup(content: bytes) -> bool:
    """Whether ``content`` is HTML or XML, not typed text."""
    return bool(_MARKUP.search(content[:_HEAD]) or content[:200].lstrip().startswith(b"<?xml"))


def reject_error_page(content: bytes) -> None:
    """Raises FilingError ``error_page`` if ``content`` is a web server's error page instead of a filing."""
    if len(content) > _ERROR_PAGE_BYTES or b"<" not in content[:_HEAD]:
        return
    found = _ERROR_PAGE.search(content[:_HEAD].decode("latin-1"))
    if found:
        words = " ".join(re.sub(r"<[^<>]{0,200}>", " ", found[0]).split())
        raise FilingError(
            "read", "error_page", f"a web server's error page was saved instead ({words!r}); fetch it again"
        )


def decode(content: bytes) -> str:
    """The text of bytes in UTF-16 (with a byte order mark), UTF-8 or, as in EDGAR's older documents, Windows-1252.

    Drops control characters other than tab, line feed, carriage return and form feed: Arrow and XML cannot store them.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = content.decode("utf-16", "replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", "replace")
    if len(content.translate(None, _CONTROL_BYTES)) == len(content) and not _has_noncharacter(text):
        return text
    return CONTROL.sub("", text)


def _has_noncharacter(text: str) -> bool:
    return "\ufffe" in text or "\uffff" in text


def _is_text(head: bytes) -> bool:
    """Whether ``head`` is mostly printable: no NUL, under 2% control bytes, under 25% bytes above ASCII."""
    if b"\0" in head or not head.strip():
        return False
    control = sum(byte < 32 and byte not in (9, 10, 12, 13, 26) for byte in head)
    high = sum(byte > 126 for byte in head)
    return control * 50 < len(head) and high * 4 < len(head)
