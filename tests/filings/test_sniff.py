import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.filings.sniff import decode, sniff

SETTINGS = FilingSettings()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\n", "pdf"),
        (b"\r\n\r\n%PDF-1.4", "pdf"),
        (b"<?xml version='1.0'?>\n<html><body>FORM 10-K</body></html>", "html"),
        (b"<DIV>FORM 8-K</DIV>", "html"),
        (b"<SEC-DOCUMENT>0000000001-20-000001.txt : 20200213", "submission"),
        (b"-----BEGIN PRIVACY-ENHANCED MESSAGE-----\nProc-Type: 2001", "submission"),
        (b"<SUBMISSION>\n<ACCESSION-NUMBER>0000000001-25-000114<TYPE>8-K", "submission"),
        (b"\n<ACCEPTANCE-DATETIME>20240313150033\n\nACCESSION NUMBER:\t1", "submission"),
        (b"FORM 10-K\nANNUAL REPORT\n<PAGE> 2\n<TABLE>\n<S> <C>\nCash 12\n</TABLE>\n", "text"),
        (b"FORM 10-K\nANNUAL REPORT for the year\n", "text"),
    ],
)
def test_kind_is_judged_by_content(content: bytes, kind: str) -> None:
    assert sniff(content, SETTINGS) == kind


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"<html><head><title>403 Forbidden</title></head><body>nginx</body></html>", "error_page"),
        (b"<html><h1>Your Request Originates from an Undeclared Automated Tool</h1></html>", "error_page"),
        (b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Key>a.pdf</Key></Error>', "error_page"),
        (b"PK\x03\x04 word/document.xml", "unknown_format"),
        (b"\x00\x01\x02\x03" * 50, "unknown_format"),
    ],
)
def test_rejected_files_say_why(content: bytes, reason: str) -> None:
    with pytest.raises(FilingError) as caught:
        sniff(content, SETTINGS)
    assert (caught.value.stage, caught.value.reason) == ("read", reason)


def test_bytes_over_the_limit_are_refused() -> None:
    with pytest.raises(FilingError, match="too_large"):
        sniff(b"%PDF-1.7 and more", FilingSettings(max_bytes=8))


@given(st.binary(max_size=600))
def test_any_bytes_have_a_kind_or_a_reason(content: bytes) -> None:
    try:
        assert sniff(content, SETTINGS) in ("pdf", "html", "submission", "text")
    except FilingError as error:
        assert error.detail


@given(st.binary(max_size=300))
def test_decoded_text_can_be_stored(content: bytes) -> None:
    assert "\0" not in decode(content)
    decode(content).encode("utf-8")


def test_windows_1252_quotes_are_read() -> None:
    assert decode(b"the \x93Company\x94") == "the “Company”"
