from typing import Any

import pymupdf as untyped_pymupdf
import pytest

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.filings.pdf.text import open_pdf, pdf_text

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
        return pdf_text(document, settings).texts


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


@pytest.mark.parametrize("keep", [0.03, 0.3, 0.5, 0.6, 0.7, 0.8])
@pytest.mark.parametrize("save", [{}, {"use_objstms": 1, "deflate": True, "garbage": 3}])
def test_a_pdf_that_has_lost_pages(keep: float, save: dict[str, object]) -> None:
    whole = pdf(*("page of text " * 3 for _ in range(20)), **save)
    assert reason_of(whole[: int(len(whole) * keep)]) in ("corrupt_pdf", "no_pages")


def test_lost_pages_are_counted() -> None:
    whole = pdf(*(f"page {number} of text " * 3 for number in range(20)))
    with pytest.raises(FilingError, match=r"9 of its 20 pages are lost, such as p\. 12; "):
        texts_of(whole[: int(len(whole) * 0.5)])


@pytest.mark.parametrize("damage", ["end", "table", "garbage"])
def test_a_pdf_that_is_repaired_with_all_its_pages_is_read(damage: str) -> None:
    texts = [f"page {number} of text " * 3 for number in range(20)]
    whole = pdf(*texts)
    place = whole.rindex(b"startxref")
    damaged = {
        "end": whole[: whole.rindex(b"xref\n0 ") + 40],
        "table": whole[:place] + b"startxref\n17\n%%EOF\n",
        "garbage": whole[:place] + b"\0" * 5_000,
    }[damage]
    with open_pdf(damaged, SETTINGS) as document:
        assert [" ".join(text.split()) for text in pdf_text(document, SETTINGS).texts] == [t.strip() for t in texts]
        assert document.is_repaired


def test_a_scanned_pdf() -> None:
    document = pymupdf.open()
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 20), False)
    picture.clear_with(100)
    for _ in range(3):
        document.new_page().insert_image(pymupdf.Rect(0, 0, 300, 300), pixmap=picture)
    with pytest.raises(FilingError, match="install Tesseract") as caught:
        texts_of(document.tobytes())
    assert caught.value.reason == "image_only"


def test_too_many_pages() -> None:
    assert reason_of(pdf(*["some text here"] * 4), FilingSettings(max_pages=3)) == "too_many_pages"


def test_bytes_that_only_look_like_a_pdf(capfd: pytest.CaptureFixture[str]) -> None:
    assert reason_of(b"%PDF-1.7\nnothing that follows is a PDF") in ("corrupt_pdf", "no_pages")
    assert capfd.readouterr().err == ""
