from __future__ import annotations

from collections.abc import Callable

import pytest

from finray.core.settings import FilingSettings
from finray.lab.datasets.xbrl.tagged import TaggedFiling, read_tagged_filing

CONTEXTS = {
    "fy24": ("2024-01-01", "2024-12-31", ""),
    "fy23": ("2023-01-01", "2023-12-31", ""),
    "end24": ("", "2024-12-31", ""),
    "end23": ("", "2023-12-31", ""),
    "north24": ("2024-01-01", "2024-12-31", "us-gaap:StatementBusinessSegmentsAxis=acme:NorthAmericaSegmentMember"),
    "may24": ("2024-05-01", "2024-05-31", ""),
}


def tag(concept: str, context: str, printed: str, *, scale: int = 6, decimals: str = "-6", unit: str = "usd") -> str:
    return (
        f'<ix:nonFraction name="us-gaap:{concept}" contextRef="{context}" unitRef="{unit}" scale="{scale}" '
        f'decimals="{decimals}">{printed}</ix:nonFraction>'
    )


def filing(*pages: str, hidden: str = "") -> bytes:
    """A 10-K of Acme Robotics for 2024 with a cover page and ``pages``."""
    contexts = "".join(_context(name, *parts) for name, parts in CONTEXTS.items())
    cover = (
        "<p>UNITED STATES SECURITIES AND EXCHANGE COMMISSION</p><p>Form "
        '<ix:nonNumeric contextRef="fy24" name="dei:DocumentType">10-K</ix:nonNumeric> for the fiscal year ended '
        '<ix:nonNumeric contextRef="fy24" name="dei:DocumentPeriodEndDate">December 31, 2024</ix:nonNumeric></p>'
        '<p><ix:nonNumeric contextRef="fy24" name="dei:EntityRegistrantName">ACME ROBOTICS INC.</ix:nonNumeric> '
        '<ix:nonNumeric contextRef="fy24" name="dei:TradingSymbol">ACMR</ix:nonNumeric></p>'
        '<p>Fiscal year <ix:nonNumeric contextRef="fy24" name="dei:DocumentFiscalYearFocus">2024</ix:nonNumeric>'
        '<ix:nonNumeric contextRef="fy24" name="dei:DocumentFiscalPeriodFocus">FY</ix:nonNumeric></p>'
    )
    end = '<hr style="page-break-after:always"/>'
    units = (
        '<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>'
        '<xbrli:unit id="shares"><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unit>'
    )
    return (
        f'<html><body><div style="display:none"><ix:header><ix:hidden>{hidden}</ix:hidden><ix:resources>'
        f"{contexts}{units}</ix:resources></ix:header></div>{cover}{end}{end.join(pages)}</body></html>"
    ).encode()


def _context(name: str, start: str, end: str, member: str) -> str:
    period = (
        f"<xbrli:startDate>{start}</xbrli:startDate><xbrli:endDate>{end}</xbrli:endDate>"
        if start
        else f"<xbrli:instant>{end}</xbrli:instant>"
    )
    axis, _, value = member.partition("=")
    segment = (
        f'<xbrli:segment><xbrldi:explicitMember dimension="{axis}">{value}</xbrldi:explicitMember></xbrli:segment>'
    )
    return (
        f'<xbrli:context id="{name}"><xbrli:entity><xbrli:identifier>1</xbrli:identifier>'
        f"{segment if member else ''}</xbrli:entity><xbrli:period>{period}</xbrli:period></xbrli:context>"
    )


@pytest.fixture
def read() -> Callable[..., TaggedFiling]:
    """Reads a filing of the given pages."""

    def _read(*pages: str, hidden: str = "") -> TaggedFiling:
        return read_tagged_filing(filing(*pages, hidden=hidden), "acme-2024.html", FilingSettings())

    return _read


@pytest.fixture
def row() -> Callable[..., str]:
    """A table row of a label and tagged numbers."""

    def _row(label: str, *cells: str) -> str:
        return f"<tr><td>{label}</td>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

    return _row


@pytest.fixture
def number() -> Callable[..., str]:
    return tag


@pytest.fixture
def document() -> Callable[..., bytes]:
    return filing
