from typing import Any

import pymupdf as untyped_pymupdf
import pytest

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.filings.pdf import open_pdf, page_texts

pymupdf: Any = untyped_pymupdf

SETTINGS = FilingSettings()


def pdf(*texts: str, **save: object) -> bytes:
    document = pymupdf.open()
    for text in texts:
        document.new_page().insert_text((72, 72), text)
    content: bytes = document.tobytes(**save)
    return content


def texts_of(content: bytes, settings: FilingSettings = SETTINGS) -> list[str]:
    with open_pdf(content, settings) as document:
        return page_texts(document, settings)


def reason_of(content: bytes, settings: FilingSettings = SETTINGS) -> str:
    with pytest.raises(FilingError) as caught:
        texts_of(content, settings)
    assert caught.value.stage == "parse"
    return caught.value.reason


def test_pages_are_read_in_order() -> None:
    assert [text.strip() for text in texts_of(pdf("first page of text", "second page of text"))] == [
        "first page of text",
        "second page of text",
    ]


def test_an_encrypted_pdf() -> None:
    locked = pdf("secret text", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    assert reason_of(locked) == "encrypted"


@pytest.mark.parametrize("keep", [0.03, 0.3, 0.6])
def test_a_truncated_pdf(keep: float) -> None:
    whole = pdf(*("page of text " * 3 for _ in range(20)))
    assert reason_of(whole[: int(len(whole) * keep)]) in ("corrupt_pdf", "no_pages", "image_only")


def test_a_scanned_pdf() -> None:
    document = pymupdf.open()
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 20), False)
    picture.clear_with(100)
    for _ in range(3):
        document.new_page().insert_image(pymupdf.Rect(0, 0, 300, 300), pixmap=picture)
    assert reason_of(document.tobytes()) == "image_only"


def test_too_many_pages() -> None:
    assert reason_of(pdf(*["some text here"] * 4), FilingSettings(max_pages=3)) == "too_many_pages"


def test_bytes_that_only_look_like_a_pdf(capfd: pytest.CaptureFixture[str]) -> None:
    assert reason_of(b"%PDF-1.7\nnothing that follows is a PDF") in ("corrupt_pdf", "no_pages")
    assert capfd.readouterr().err == ""
