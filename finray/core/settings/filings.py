"""Settings for reading filings and cutting them into chunks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from finray.core.method_settings import Section


class FilingSettings(Section):
    """Limits on accepted filings and on the cost of reading them. None changes the stored content of an accepted
    filing."""

    max_pages: int = Field(2000, ge=1)
    """A longer filing is set aside."""
    max_bytes: int = Field(256 * 1024 * 1024, ge=1)
    """A larger file is set aside unread."""
    max_unpaged_characters: int = Field(40_000, ge=1)
    """A document without page breaks up to this long is one page; a longer one is set aside (LOFin, section 3)."""
    max_page_characters: int = Field(200_000, ge=1)
    """A filing with a longer page is set aside: it would take long to read and could not be cited. Dense pages have
    9,000."""
    min_characters_per_page: int = Field(16, ge=0)
    """A PDF with fewer on average is image-only and set aside."""
    max_characters: int = Field(20_000_000, ge=1)
    """A filing with more is set aside: an endless table would take hours to embed. 2,000 dense pages have half."""
    parse_seconds: float = Field(300.0, gt=0)
    """Time limit for reading one filing; 2,000 pages take about 20 seconds."""
    ocr_seconds: float = Field(3600.0, ge=0)
    """Additional time for a filing that needs OCR (if Tesseract is installed): about 5 seconds a page. 0 disables OCR,
    and such filings are set aside."""
    parse_memory_gb: float = Field(4.0, gt=0)
    """GiB for reading one filing, besides the 0.2 of the idle parser. Each processor has a parser."""


class CollectionSettings(Section):
    """What the index holds."""

    profile: Literal["filings", "documents"] = "filings"
    """"filings" are SEC filings, with covers, statements and periods. "documents" are contracts, policies and other
    plain documents: no cover facts are read, pages are sections by headings, and questions name no companies or periods
    that would be looked up."""


class ChunkSettings(Section):
    """HiREC's chunking: 1,024 characters with 30 of overlap (arXiv 2505.20368, appendix C.1). That of arXiv 2602.17981
    is 1,024 tokens with 128."""

    unit: Literal["characters", "tokens"] = "characters"
    """What ``size`` and ``overlap`` count. A token is a word, up to three digits, or another character."""
    size: int = Field(1024, ge=64)
    """Length of a chunk, at most."""
    overlap: int = Field(30, ge=0)
    """Length of the end of the previous chunk that a chunk repeats."""
