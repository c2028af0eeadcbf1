import datetime as dt

from finray.filings.html import inline_xbrl
from finray.filings.html.pages import parse_html
from finray.filings.tables.tags import Context

DOCUMENT = b"""<?xml version='1.0' encoding='ASCII'?><html><body><div style="display:none"><ix:header><ix:hidden>
<ix:nonNumeric contextRef="c1" name="dei:AmendmentFlag">false</ix:nonNumeric>
<ix:nonNumeric contextRef="c1" name="dei:DocumentFiscalYearFocus">2024</ix:nonNumeric>
<ix:nonNumeric contextRef="c1" name="dei:DocumentFiscalPeriodFocus">Q3</ix:nonNumeric>
<ix:nonNumeric contextRef="c1" name="dei:CurrentFiscalYearEndDate">--09-28</ix:nonNumeric>
<ix:nonNumeric contextRef="c1" name="dei:EntityCentralIndexKey">0000000123</ix:nonNumeric></ix:hidden>
<ix:resources><xbrli:context id="c1"><xbrli:entity><xbrli:identifier>0000000123</xbrli:identifier></xbrli:entity>
<xbrli:period><xbrli:startDate>2023-10-01</xbrli:startDate><xbrli:endDate>2024-06-29</xbrli:endDate></xbrli:period>
</xbrli:context><xbrli:context id="c2"><xbrli:entity><xbrli:segment><xbrldi:explicitMember dimension="x">y
</xbrldi:explicitMember></xbrli:segment></xbrli:entity><xbrli:period><xbrli:instant>2024-06-29</xbrli:instant>
</xbrli:period></xbrli:context><xbrli:context id="broken"></xbrli:context>
<xbrli:unit id="u"><xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unitNumerator>
<xbrli:unitDenominator><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unitDenominator></xbrli:divide></xbrli:unit>
</ix:resources></ix:header></div>
<p><ix:nonNumeric contextRef="c1" name="dei:DocumentType">10-Q</ix:nonNumeric> for the period ended
<ix:nonNumeric contextRef="c1" name="dei:DocumentPeriodEndDate">June 29, 2024</ix:nonNumeric></p>
<p><ix:nonNumeric contextRef="c1" name="dei:EntityRegistrantName">Acme <b>Inc.</b></ix:nonNumeric></p>
<p><ix:nonNumeric contextRef="c2" name="dei:TradingSymbol">ACM</ix:nonNumeric></p>
<p>(<ix:nonFraction name="us-gaap:Revenues" contextRef="c1" unitRef="u" scale="6" sign="-">1,234.5</ix:nonFraction>)
<ix:nonFraction name="a:Zero" contextRef="c2" unitRef="USD" scale="0">&#8212;</ix:nonFraction>
<ix:nonFraction name="a:Bad" contextRef="c2" scale="0">1.2.3</ix:nonFraction></p></body></html>"""


def test_cover_tags() -> None:
    root = parse_html(DOCUMENT)
    assert inline_xbrl.has_inline_xbrl(root)
    facts = inline_xbrl.cover_facts(root)
    assert (facts.company, facts.form, facts.ticker, facts.cik) == ("Acme Inc.", "10-Q", "ACM", "0000000123")
    assert (facts.period_end, facts.fiscal_year, facts.fiscal_period) == (dt.date(2024, 6, 29), 2024, "Q3")
    assert (facts.fiscal_year_end, facts.amendment) == ("09-28", False)


def test_contexts_and_numbers() -> None:
    root = parse_html(DOCUMENT)
    contexts = inline_xbrl.contexts(root)
    assert contexts["c1"] == Context(dt.date(2024, 6, 29), 9, dt.date(2023, 10, 1))
    member = contexts["c2"].members
    assert contexts["c2"] == Context(dt.date(2024, 6, 29), 0, members=member)
    assert member == (("x", "y"),)
    assert set(contexts) == {"c1", "c2"}
    facts = list(inline_xbrl.numeric_facts(root))
    assert [(fact.concept, fact.value, fact.unit) for fact in facts] == [
        ("us-gaap:Revenues", -1_234_500_000.0, "usd/shares"),
        ("a:Zero", 0.0, "usd"),
    ]
    parent = facts[0].element.getparent()
    assert parent is not None
    assert parent.tag == "p"


def test_other_html_has_none() -> None:
    assert not inline_xbrl.has_inline_xbrl(parse_html(b"<html><body><p>x</p></body></html>"))


def _facts(*tags: str) -> list[tuple[str, float, str]]:
    root = parse_html(f"<html><body><p>{' '.join(tags)}</p></body></html>".encode())
    return [(fact.concept, fact.value, fact.unit) for fact in inline_xbrl.numeric_facts(root)]


def test_a_value_is_the_nearest_to_what_is_printed() -> None:
    assert _facts(
        '<ix:nonFraction name="a:Percent" unitRef="pure" scale="-2">41</ix:nonFraction>',
        '<ix:nonFraction name="a:Billions" unitRef="usd" scale="9">8.2</ix:nonFraction>',
    ) == [("a:Percent", 0.41, "pure"), ("a:Billions", 8_200_000_000.0, "usd")]


def test_a_nil_tag_has_no_value_whatever_is_printed() -> None:
    assert not _facts(
        '<ix:nonFraction name="a:Empty" xsi:nil="true"/>',
        '<ix:nonFraction name="a:Dash" xsi:nil="1" format="ixt:fixed-zero">-</ix:nonFraction>',
    )
    assert _facts('<ix:nonFraction name="a:One" xsi:nil="false">1</ix:nonFraction>') == [("a:One", 1.0, "")]


def test_nested_tags_share_their_number() -> None:
    inner = '<ix:nonFraction name="a:Net" sign="-" scale="3">5</ix:nonFraction>'
    assert _facts(f'<ix:nonFraction name="a:Loss" scale="3">{inner}</ix:nonFraction>') == [
        ("a:Loss", 5_000.0, ""),
        ("a:Net", -5_000.0, ""),
    ]


def test_a_period_may_end_at_a_midnight() -> None:
    root = parse_html(
        b"""<html><body><xbrli:context id="c"><xbrli:period><xbrli:startDate>2024-01-01T00:00:00</xbrli:startDate>
        <xbrli:endDate>2025-01-01T00:00:00</xbrli:endDate></xbrli:period></xbrli:context></body></html>"""
    )
    assert inline_xbrl.contexts(root)["c"] == Context(dt.date(2024, 12, 31), 12, dt.date(2024, 1, 1))


def test_units_of_several_measures() -> None:
    root = parse_html(
        b"""<html><body><xbrli:unit id="area"><xbrli:measure>utr:ft</xbrli:measure><xbrli:measure>utr:ft</xbrli:measure>
        </xbrli:unit><xbrli:unit id="price"><xbrli:divide><xbrli:unitNumerator>
        <xbrli:measure>iso4217:EUR</xbrli:measure></xbrli:unitNumerator><xbrli:unitDenominator><xbrli:measure>utr:MWh</xbrli:measure></xbrli:unitDenominator>
        </xbrli:divide></xbrli:unit></body></html>"""
    )
    assert inline_xbrl.units(root) == {"area": "ft*ft", "price": "eur/mwh"}


def test_cover_tags_in_pieces_and_in_formats() -> None:
    root = parse_html(
        b"""<html><body><p><ix:nonNumeric name="dei:EntityRegistrantName" continuedAt="n2">Acme <ix:exclude>(page 1)
        </ix:exclude></ix:nonNumeric></p><p><ix:continuation id="n2">Holdings Inc.</ix:continuation></p>
        <ix:nonNumeric name="dei:TradingSymbol" xsi:nil="true"/>
        <ix:nonNumeric name="dei:AmendmentFlag" format="ixt:fixed-true">Amendment No. 1</ix:nonNumeric>
        <ix:nonNumeric name="dei:DocumentPeriodEndDate" format="ixt:date-day-month-year">3.9.2024</ix:nonNumeric>
        <ix:nonNumeric name="dei:CurrentFiscalYearEndDate" format="ixt:date-day-month">3/9</ix:nonNumeric>
        </body></html>"""
    )
    facts = inline_xbrl.cover_facts(root)
    assert (facts.company, facts.ticker, facts.amendment) == ("Acme Holdings Inc.", None, True)
    assert (facts.period_end, facts.fiscal_year_end) == (dt.date(2024, 9, 3), "09-03")
