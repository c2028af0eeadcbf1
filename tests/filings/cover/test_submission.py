import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import FilingError
from finray.filings.cover.submission import header_facts, parse_submission

HEADER = """<SEC-DOCUMENT>0000000123-23-000045.txt : 20230301
<SEC-HEADER>0000000123-23-000045.hdr.sgml : 20230301
ACCESSION NUMBER:\t\t0000000123-23-000045
CONFORMED SUBMISSION TYPE:\t10-K/A
PUBLIC DOCUMENT COUNT:\t\t3
CONFORMED PERIOD OF REPORT:\t20221231
FILED AS OF DATE:\t\t20230301

FILER:

\tCOMPANY DATA:
\t\tCOMPANY CONFORMED NAME:\t\t\tACME WIDGETS CORP /DE/
\t\tCENTRAL INDEX KEY:\t\t\t0000000123
\t\tFISCAL YEAR END:\t\t\t1231

\tFORMER COMPANY:
\t\tFORMER CONFORMED NAME:\tACME TOYS INC
\t\tDATE OF NAME CHANGE:\t20010101
</SEC-HEADER>
"""
DOCUMENTS = """<DOCUMENT>
<TYPE>GRAPHIC
<SEQUENCE>1
<FILENAME>logo.jpg
<TEXT>
begin 644 logo.jpg
M_]C_X
end
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>EX-21
<SEQUENCE>2
<FILENAME>ex21.htm
<TEXT>
<html>subsidiaries</html>
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>10-K/A
<SEQUENCE>3
<FILENAME>acme-10ka.htm
<TEXT>
<XBRL>
<html>the form</html>
</XBRL>
</TEXT>
</DOCUMENT>
</SEC-DOCUMENT>
"""


def test_header_and_main_document() -> None:
    submission = parse_submission((HEADER + DOCUMENTS).encode())
    facts = submission.facts
    assert (facts.company, facts.cik, facts.form) == ("ACME WIDGETS CORP", "0000000123", "10-K/A")
    assert (facts.period_end, facts.filed_at) == (dt.date(2022, 12, 31), dt.date(2023, 3, 1))
    assert (facts.fiscal_year_end, facts.accession_number) == ("12-31", "0000000123-23-000045")
    assert (facts.amendment, facts.aliases) == (True, ("ACME TOYS INC",))
    assert submission.body.strip() == "<html>the form</html>"
    assert [(other.kind, other.body.strip()) for other in submission.others] == [
        ("EX-21", "<html>subsidiaries</html>")
    ]  # fmt: skip


def test_old_wrapper_blank_lines_and_carriage_returns_change_nothing() -> None:
    plain = parse_submission((HEADER + DOCUMENTS).encode())
    wrapped = "-----BEGIN PRIVACY-ENHANCED MESSAGE-----\nProc-Type: 2001,MIC-CLEAR\nMIC-Info: RSA-MD5,RSA,\n abc=\n\n"
    for text in (wrapped + HEADER + DOCUMENTS, HEADER.replace("\n", "\n\n") + DOCUMENTS,
                 (HEADER + DOCUMENTS).replace("\n", "\r\n")):  # fmt: skip
        assert parse_submission(text.encode()).facts == plain.facts


def test_the_feeds_tags_are_read() -> None:
    facts = header_facts(
        "<SUBMISSION>\n<ACCESSION-NUMBER>0000000123-25-000114<TYPE>4<PERIOD>20250110<FILING-DATE>20250113"
        "<REPORTING-OWNER><OWNER-DATA><CONFORMED-NAME>Doe Jane<CIK>0000000999</OWNER-DATA></REPORTING-OWNER>"
        "<ISSUER><COMPANY-DATA><CONFORMED-NAME>ACME, LLC<CIK>0000000123<FISCAL-YEAR-END>0630</COMPANY-DATA></ISSUER>"
    )
    assert (facts.company, facts.cik, facts.fiscal_year_end) == ("ACME, LLC", "0000000123", "06-30")
    assert facts.filed_at == dt.date(2025, 1, 13)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEADER, "no_documents"),
        (HEADER + DOCUMENTS.split("<DOCUMENT>\n<TYPE>EX-21")[0], "no_documents"),
        ("<SEC-DOCUMENT>\n" + DOCUMENTS, "no_sgml_header"),
    ],
)
def test_incomplete_submissions_say_what_is_missing(text: str, reason: str) -> None:
    with pytest.raises(FilingError) as caught:
        parse_submission(text.encode())
    assert caught.value.reason == reason


@given(st.data())
def test_mutated_submissions_raise_nothing_else(data: st.DataObject) -> None:
    text = HEADER + DOCUMENTS
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    mutated = text[:start] + data.draw(st.text(max_size=20)) + text[end:]
    try:
        assert parse_submission(mutated.encode("utf-8", "replace")).body
    except FilingError as error:
        assert error.stage == "parse"


@pytest.mark.parametrize("kept", ["the f", "</html>", "</XBRL>\n", "</TEXT>\n", "</DOCUMENT>\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_cut_file_is_a_failure_that_names_what_is_missing(kept: str, newline: str) -> None:
    text = HEADER + DOCUMENTS
    cut = text[: text.rindex(kept) + len(kept)].replace("\n", newline)
    with pytest.raises(FilingError) as caught:
        parse_submission(cut.encode())
    assert (caught.value.stage, caught.value.reason) == ("parse", "truncated")
    missing = {"</TEXT>\n": "</DOCUMENT>", "</DOCUMENT>\n": "</SEC-DOCUMENT>"}.get(kept, "</TEXT>")
    assert f"{missing} is missing; fetch it again" in caught.value.detail
    assert "\n" not in caught.value.detail


def test_an_old_wrapper_need_not_end() -> None:
    wrapped = "-----BEGIN PRIVACY-ENHANCED MESSAGE-----\nProc-Type: 2001,MIC-CLEAR\n\n" + HEADER + DOCUMENTS
    assert parse_submission(wrapped.encode()).facts.form == "10-K/A"


def test_tags_inside_the_text_end_nothing() -> None:
    text = (HEADER + DOCUMENTS).replace("the form", "see </TEXT> and <TEXT> of the form")
    assert parse_submission(text.encode()).body.strip() == "<html>see </TEXT> and <TEXT> of the form</html>"


@pytest.mark.parametrize(
    ("kind", "form"),
    [("6-K", "6-K"), ("10-K405/A", "10-K405/A"), ("EX-99.1", "EX-99.1"), ("EX-99", "EX-99.1"), ("EX-13.1", "ARS"),
     ("EX-10.2", "EX-10.2")],
)  # fmt: skip
def test_the_block_of_one_document_states_its_type(kind: str, form: str) -> None:
    block = f"<DOCUMENT>\n<TYPE>{kind}\n<SEQUENCE>2\n<FILENAME>a.htm\n<TEXT>\n<html>text</html>\n</TEXT>\n</DOCUMENT>\n"
    submission = parse_submission(block.encode())
    assert (submission.facts.form, submission.body.strip()) == (form, "<html>text</html>")
    with pytest.raises(FilingError, match="</TEXT> is missing"):
        parse_submission(block[:-30].encode())


@pytest.mark.shared
def test_real_submissions_of_all_ages_are_complete(shared_data: Path) -> None:
    for path in sorted((shared_data / "edgar" / "submissions").iterdir()):
        content = path.read_bytes()
        if path.stem == "header_with_double_newlines":
            continue  # no document
        assert parse_submission(content).facts.form
        cut = content[: content.rindex(b"</TEXT>") - 1]
        with pytest.raises(FilingError) as caught:
            parse_submission(cut)
        assert caught.value.reason in ("truncated", "no_documents")
    [cut_file] = (shared_data / "found" / "truncated-submission-accepted").glob("*.txt")
    with pytest.raises(FilingError, match="ends early"):
        parse_submission(cut_file.read_bytes())
