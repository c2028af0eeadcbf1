import datetime as dt
import pickle
from pathlib import Path
from typing import Any

import pymupdf as untyped_pymupdf
import pytest
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from finray.core.errors import FilingError
from finray.core.filing import ParsedFiling
from finray.core.forms import EARNINGS_RELEASE
from finray.core.settings import FilingSettings
from finray.filings.read import doc_name, parse_filing

pymupdf: Any = untyped_pymupdf

SETTINGS = FilingSettings()
COVER = """SECURITIES AND EXCHANGE COMMISSION
FORM 10-K
ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d)
For the fiscal year ended December 31, 2022
Commission File Number 1-9595
ACME WIDGETS, INC.
(Exact name of registrant as specified in its charter)
Delaware
"""
HTML = (
    "<html><body>"
    + "".join(f"<p>{line}</p>" for line in COVER.splitlines())
    + '<hr style="page-break-after:always"/><p>Item 1. Business</p><p>We make widgets.</p></body></html>'
)
SUBMISSION = f"""<SEC-DOCUMENT>0000000123-23-000045.txt : 20230301
<SEC-HEADER>0000000123-23-000045.hdr.sgml : 20230301
ACCESSION NUMBER:\t\t0000000123-23-000045
CONFORMED SUBMISSION TYPE:\t10-K
CONFORMED PERIOD OF REPORT:\t20221231
FILED AS OF DATE:\t\t20230301
FILER:
\tCOMPANY DATA:
\t\tCOMPANY CONFORMED NAME:\t\t\tACME WIDGETS INC
\t\tCENTRAL INDEX KEY:\t\t\t0000000123
\t\tFISCAL YEAR END:\t\t\t1231
</SEC-HEADER>
<DOCUMENT>
<TYPE>10-K
<FILENAME>acme.htm
<TEXT>
{HTML}
</TEXT>
</DOCUMENT>
</SEC-DOCUMENT>
"""
RELEASE = """Acme Widgets Reports Second-Quarter 2023 Results
NEW YORK - July 13, 2023 - Acme Widgets, Inc. (NYSE: ACM) today reported results for the second quarter 2023.
Net sales grew. Revenue rose 3%. Net income was $5 million and EPS $1.00 per share. Three months ended June 30, 2023
"""


def pdf(*texts: str) -> bytes:
    document = pymupdf.open()
    for text in texts:
        document.new_page().insert_text((40, 40), text, fontsize=8)
    content: bytes = document.tobytes()
    return content


def parse(content: bytes, uri: str = "s3://bucket/filings/ACME_2099_10Q.pdf") -> ParsedFiling:
    return parse_filing(content, uri, SETTINGS)


def failure(content: bytes) -> tuple[str, str]:
    with pytest.raises(FilingError) as caught:
        parse(content)
    return caught.value.stage, caught.value.reason


@pytest.mark.parametrize("content", [pdf(COVER, "We make widgets."), HTML.encode(), COVER.encode() + b"\n\fmore\n"])
def test_a_filing_reads_the_same_in_every_format_and_under_any_name(content: bytes) -> None:
    parsed = parse(content)
    filing = parsed.filing
    assert (filing.company, filing.form, filing.period_end) == ("ACME WIDGETS, INC.", "10-K", dt.date(2022, 12, 31))
    assert (filing.fiscal_year, filing.fiscal_period, filing.doc_name) == (2022, "FY", "ACME_2099_10Q")
    assert filing.filing_id == filing.content_sha256[:20]
    assert set(filing.provenance.values()) == {"cover"}
    assert [page.page for page in parsed.pages] == [0, 1]


@pytest.mark.parametrize("in_submission", [False, True])
def test_typed_pages_keep_their_lines(in_submission: bool) -> None:
    text = f"{COVER}\n<PAGE>   2\n<TABLE>\n<S>   <C>\nCash   12\nDebt    3\n</TABLE>\n"
    content = SUBMISSION.replace(HTML, text) if in_submission else text
    assert parse(content.encode()).pages[1].text == "Cash   12\nDebt    3"


def test_the_sgml_header_goes_before_the_cover() -> None:
    filing = parse(SUBMISSION.encode(), "x.txt").filing
    assert (filing.filing_id, filing.cik, filing.company) == ("0000000123-23-000045", "0000000123", "ACME WIDGETS INC")
    assert (filing.filed_at, filing.fiscal_year, filing.fiscal_year_end) == (dt.date(2023, 3, 1), 2022, "12-31")
    assert filing.provenance["company"] == "sgml"
    assert filing.provenance["filing_id"] == "sgml"


def test_inline_xbrl_goes_before_everything() -> None:
    tag = '<p><ix:nonNumeric name="dei:EntityRegistrantName">Acme Widgets</ix:nonNumeric></p>'
    filing = parse(SUBMISSION.replace("<p>We make", tag + "<p>We make").encode()).filing
    assert (filing.company, filing.provenance["company"]) == ("Acme Widgets", "ixbrl")
    assert filing.provenance["form"] == "sgml"


def test_a_name_that_is_an_accession_number_is_the_id_and_is_marked_so() -> None:
    filing = parse(HTML.encode(), "/in/0000000123-23-000045.html").filing
    assert (filing.filing_id, filing.provenance["filing_id"]) == ("0000000123-23-000045", "name")


def test_an_amendment_is_a_filing_of_its_own() -> None:
    filing = parse(HTML.replace("FORM 10-K", "FORM 10-K/A").encode()).filing
    assert (filing.form, filing.is_amendment, filing.amends) == ("10-K/A", True, "10-K 2022-12-31")


def test_a_genuine_press_release_is_a_filing() -> None:
    filing = parse(pdf(RELEASE)).filing
    assert (filing.company, filing.form, filing.ticker) == ("Acme Widgets, Inc.", EARNINGS_RELEASE, "ACM")
    assert (filing.fiscal_year, filing.fiscal_period) == (2023, "Q2")


@pytest.mark.parametrize(
    ("content", "stage", "reason"),
    [
        (b"", "read", "empty"),
        (b"<html><head><title>403 Forbidden</title></head><body>nginx</body></html>", "read", "error_page"),
        (pdf(COVER, "more")[:300], "parse", "corrupt_pdf"),
        (pdf("Grandmother's apple pie\nTake three apples and a quarter of butter.", "Bake."), "parse", "not_a_filing"),
        (b"<html><body><p>Grandmother's apple pie</p></body></html>", "parse", "not_a_filing"),
        (b"Grandmother's apple pie, as typed.", "parse", "not_a_filing"),
        (SUBMISSION.split("<DOCUMENT>")[0].encode(), "parse", "no_documents"),
        (("<html><body>" + "<p>word word word</p>" * 9000).encode(), "parse", "no_page_breaks"),
        (("FORM 10-K\n" + "word word word\n" * 9000).encode(), "parse", "no_page_breaks"),
    ],
    ids=["empty", "403", "truncated", "recipe-pdf", "recipe-html", "recipe-txt", "header-only",
         "unpaged-html", "unpaged-txt"],
)  # fmt: skip
def test_failures_say_where_and_why(content: bytes, stage: str, reason: str) -> None:
    assert failure(content) == (stage, reason)


@pytest.mark.parametrize(
    ("uri", "stem"),
    [("s3://b/k/A_2022.10-K.pdf", "A_2022.10-K"), ("/x/BuckleInc.8-K.html", "BuckleInc.8-K"), ("a", "a")],
)
def test_doc_names(uri: str, stem: str) -> None:
    assert doc_name(uri) == stem


def test_parsed_filings_travel_between_processes() -> None:
    parsed = parse(HTML.encode())
    assert pickle.loads(pickle.dumps(parsed)) == parsed


@given(st.binary(max_size=400), st.sampled_from([b"", b"%PDF-1.4\n", b"<html>", b"<SEC-HEADER>", b"FORM 10-K\n"]))
def test_any_bytes_raise_only_filing_errors(content: bytes, head: bytes) -> None:
    try:
        parse(head + content)
    except FilingError as error:
        assert error.reason


@given(st.sampled_from([HTML.encode(), SUBMISSION.encode(), pdf(COVER, "more text")]), st.data())
@example_settings(max_examples=150)
def test_damaged_filings_raise_only_filing_errors(content: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 400)))
    try:
        parse(content[:start] + data.draw(st.binary(max_size=40)) + content[end:])
    except FilingError as error:
        assert error.reason


@pytest.mark.slow
@pytest.mark.shared
def test_real_html_and_submissions(shared_data: Path) -> None:
    found = {}
    for path in sorted((shared_data / "edgar").glob("[hs]*/*")):
        try:
            found[path.stem] = parse_filing(path.read_bytes(), str(path), SETTINGS).filing
        except FilingError as error:
            assert error.reason == "no_documents"
    assert found["nvda-10-q-2025-08-27"].fiscal_period == "Q2"
    assert found["nvda-10-q-2025-08-27"].fiscal_year == 2026
    assert found["0001011438-98-000429"].company == "AAMES CAPITAL CORP"
    assert found["0000950153-99-001234"].period_end == dt.date(1999, 6, 30)
