"""Inline XBRL: tags on words and numbers, and the ix:header with their contexts and units."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from html import escape

from finray.lab.sample.blocks import Fact, Tag
from finray.lab.sample.companies import Company

Context = tuple[dt.date | None, dt.date, tuple[str, str] | None]
"""Start (None for an instant), end, and (axis, member) of a figure of one component."""

NAMESPACES = (
    'xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL" '
    'xmlns:ixt="http://www.xbrl.org/inlineXBRL/transformation/2020-02-12" '
    'xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:xbrldi="http://xbrl.org/2006/xbrldi" '
    'xmlns:link="http://www.xbrl.org/2003/linkbase" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'xmlns:iso4217="http://www.xbrl.org/2003/iso4217" xmlns:dei="http://xbrl.sec.gov/dei/2023" '
    'xmlns:us-gaap="http://fasb.org/us-gaap/2023"'
)
_UNIT_IDS = {"USD": "usd", "shares": "shares", "USD/share": "usdPerShare"}
_UNITS = (
    '<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>'
    '<xbrli:unit id="shares"><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unit>'
    '<xbrli:unit id="number"><xbrli:measure>xbrli:pure</xbrli:measure></xbrli:unit>'
    '<xbrli:unit id="usdPerShare"><xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD'
    "</xbrli:measure></xbrli:unitNumerator><xbrli:unitDenominator><xbrli:measure>xbrli:shares"
    "</xbrli:measure></xbrli:unitDenominator></xbrli:divide></xbrli:unit>"
)


class Tagger:
    """Numbers facts and collects their contexts. If not ``enabled``, it leaves the text unchanged."""

    def __init__(self, company: Company, start: dt.date | None, end: dt.date, *, enabled: bool) -> None:
        self.company, self.enabled = company, enabled
        self._contexts: dict[Context, str] = {}
        self._count = 0
        self._cover = self._context((start, end, None))

    def words(self, tag: Tag) -> str:
        text = escape(tag.text, quote=False)
        if not self.enabled:
            return text
        form = ' format="ixt:date-monthname-day-year-en"' if tag.concept.endswith("EndDate") else ""
        return (
            f'<ix:nonNumeric contextRef="{self._cover}" name="{tag.concept}"{form} '
            f'id="{self._name()}">{text}</ix:nonNumeric>'
        )

    def number(self, fact: Fact, text: str) -> str:
        """Tag a number. An opening parenthesis at the start of ``text`` stays outside the tag."""
        if not self.enabled:
            return escape(text, quote=False)
        context = self._context((fact.start, fact.end, fact.member))
        sign = ' sign="-"' if fact.value < 0 else ""
        form = "fixed-zero" if text == "—" else "num-dot-decimal"
        decimals = "2" if fact.unit == "USD/share" else str(-fact.scale)
        opening = "(" if text.startswith("(") else ""
        return (
            f'{opening}<ix:nonFraction unitRef="{_UNIT_IDS[fact.unit]}" contextRef="{context}" '
            f'decimals="{decimals}" name="{fact.concept}" format="ixt:{form}" scale="{fact.scale}"{sign} '
            f'id="{self._name()}">{text.removeprefix("(")}</ix:nonFraction>'
        )

    def header(self, hidden: Sequence[tuple[str, str]]) -> str:
        """The ix:header: hidden cover facts, units, and every context in use. Call it last."""
        if not self.enabled:
            return ""
        facts = "".join(
            f'<ix:nonNumeric contextRef="{self._cover}" name="{name}" id="{self._name()}">'
            f"{escape(value)}</ix:nonNumeric>"
            for name, value in hidden
        )
        contexts = "".join(self._definition(key, name) for key, name in self._contexts.items())
        schema = f"{self.company.ticker.lower()}.xsd"
        return (
            f'<div style="display:none"><ix:header><ix:hidden>{facts}</ix:hidden>'
            f'<ix:references xml:lang="en-US"><link:schemaRef xlink:type="simple" xlink:href="{schema}"/>'
            f"</ix:references><ix:resources>{_UNITS}{contexts}</ix:resources></ix:header></div>"
        )

    def _context(self, key: Context) -> str:
        return self._contexts.setdefault(key, f"c-{len(self._contexts) + 1}")

    def _name(self) -> str:
        self._count += 1
        return f"f-{self._count}"

    def _definition(self, key: Context, name: str) -> str:
        start, end, member = key
        segment = ""
        if member:
            segment = (
                f'<xbrli:segment><xbrldi:explicitMember dimension="{member[0]}">{escape(member[1])}'
                "</xbrldi:explicitMember></xbrli:segment>"
            )
        period = (
            f"<xbrli:startDate>{start}</xbrli:startDate><xbrli:endDate>{end}</xbrli:endDate>"
            if start
            else f"<xbrli:instant>{end}</xbrli:instant>"
        )
        return (
            f'<xbrli:context id="{name}"><xbrli:entity>'
            f'<xbrli:identifier scheme="http://www.sec.gov/CIK">{self.company.cik}</xbrli:identifier>'
            f"{segment}</xbrli:entity><xbrli:period>{period}</xbrli:period></xbrli:context>"
        )
