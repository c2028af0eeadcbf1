"""Contracts and other documents that are not filings."""

from __future__ import annotations

import io

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import FilingError
from finray.core.filing import PLAIN_DOCUMENT
from finray.core.settings import FilingSettings
from finray.filings.documents import MAX_SECTION, MIN_SECTION, parse_document, read_text, sections, spans_of

SETTINGS = FilingSettings()
CLAUSE = "The Receiving Party shall keep the Confidential Information secret and shall not disclose it. "


def contract(articles: int = 4) -> str:
    parts = [f"ARTICLE {number}\nObligations of the Parties\n\n{CLAUSE * 12}\n\n" for number in range(1, articles + 1)]
    return "MUTUAL NON-DISCLOSURE AGREEMENT\n\n" + "".join(parts)


def test_sections_begin_at_headings_and_tile_the_text() -> None:
    text = contract()
    found = sections(text)
    assert "".join(found) == text
    assert [section.splitlines()[0] for section in found] == [
        "MUTUAL NON-DISCLOSURE AGREEMENT", "ARTICLE 2", "ARTICLE 3", "ARTICLE 4",
    ]  # fmt: skip


def test_a_long_section_is_cut_between_sentences() -> None:
    found = sections(CLAUSE * 100)
    assert all(len(section) <= MAX_SECTION for section in found)
    assert all(section.startswith("The Receiving") for section in found)


def test_short_sections_are_joined() -> None:
    found = sections("".join(f"{number}. Definitions\nShort.\n" for number in range(1, 99)))
    assert all(len(section) >= MIN_SECTION for section in found[:-1])


@given(st.text(alphabet=st.sampled_from("aB .\n\r\f1#\u2028"), max_size=400).map(lambda text: text * 40))
def test_sections_tile_any_text(text: str) -> None:
    found = sections(text)
    assert "".join(found) == text
    assert all(0 < len(section) <= MAX_SECTION for section in found)


@given(st.lists(st.text(max_size=9), max_size=6), st.integers(0, 60), st.integers(0, 60))
def test_spans_are_the_same_characters(texts: list[str], start: int, end: int) -> None:
    parts = [texts[page][first:last] for page, first, last in spans_of(texts, start, end)]
    assert "".join(parts) == "".join(texts)[start:end]


def test_a_text_file_is_a_document_without_company_form_and_period() -> None:
    parsed = parse_document(contract().encode(), "s3://b/corpus/Acme_NDA.txt", SETTINGS)
    filing = parsed.filing
    assert (filing.doc_name, filing.form, filing.period_end) == ("Acme_NDA", PLAIN_DOCUMENT, None)
    assert (filing.unknown, filing.marks, parsed.line_items) == ((), (), ())
    assert "".join(page.text for page in parsed.pages) == contract()
    assert "ARTICLE 2" in parsed.pages[1].headings.splitlines()


def test_places_in_a_file_are_those_of_python() -> None:
    content = b"\xef\xbb\xbfone\r\ntwo\x00\rthree \xe2\x80\x9cfour\xe2\x80\x9d"
    text = read_text(content)
    expected = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()
    assert len(text) == len(expected)
    assert text.index("four") == expected.index("four")


def test_an_exhibit_with_edgar_s_tags_is_text() -> None:
    text = f"<PAGE> 1\n{contract()}"
    assert "".join(page.text for page in parse_document(text.encode(), "x.txt", SETTINGS).pages) == text


def test_html_is_cut_into_sections_without_page_breaks() -> None:
    body = "".join(f"<h2>Section {n} Term</h2><p>{CLAUSE * 30}</p>" for n in range(40))
    parsed = parse_document(f"<!DOCTYPE html><html><body>{body}</body></html>".encode(), "policy.html", SETTINGS)
    assert len(parsed.pages) >= 20
    assert all("<" not in page.text for page in parsed.pages)


def test_the_pages_of_a_pdf_are_its_own() -> None:
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    for number in range(2):
        document.new_page().insert_text((72, 72), f"Clause {number} of the lease between the parties")
    parsed = parse_document(document.tobytes(), "lease.pdf", SETTINGS)  # type: ignore[no-untyped-call]
    assert ["Clause 0" in page.text for page in parsed.pages] == [True, False]


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "empty"), (b" \n\t ", "unknown_format"), (b"PK\x03\x04", "unknown")]
)
def test_unreadable_files_say_why(content: bytes, reason: str) -> None:
    with pytest.raises(FilingError) as error:
        parse_document(content, "x.txt", SETTINGS)
    assert error.value.reason.startswith(reason)


def test_more_sections_than_allowed() -> None:
    with pytest.raises(FilingError, match=r"2 sections exceed filings\.max_pages = 1"):
        parse_document(contract(2).encode(), "x.txt", SETTINGS.model_copy(update={"max_pages": 1}))
