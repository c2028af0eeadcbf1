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
