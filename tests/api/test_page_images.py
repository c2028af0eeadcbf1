"""Images of pages: where marks stand, what is refused, and what a hostile PDF can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from starlette.testclient import TestClient

from finray.api.draw_page import rectangles
from finray.api.errors import ApiError
from finray.api.page_images import Drawing, draw
from finray.api.service import LocalService
from finray.core.settings import Settings
from finray.index.in_process import index_in_process
from finray.lab.sample.generate import generate_sample


@pytest.fixture(scope="module")
def pdf_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pdf-sample")
    generate_sample(folder, companies=1, years=1, seed=3, formats=("pdf",), questions=1, workers=1)
    return folder


@pytest.fixture(scope="module")
def pdf_service(pdf_corpus: Path, serving_settings: Settings) -> Iterator[LocalService]:
    sources = [str(path) for path in sorted((pdf_corpus / "filings").glob("*10k*.pdf"))]
    assert index_in_process(sources, str(pdf_corpus / "index"), serving_settings).failed == 0
    with closing(LocalService(str(pdf_corpus / "index"), serving_settings)) as service:
        yield service


@pytest.fixture
def pdf_client(make_client: Callable[..., TestClient], pdf_service: LocalService) -> TestClient:
    return make_client(pdf_service)


@pytest.fixture
def place(pdf_service: LocalService) -> str:
    return f"/v1/filings/{next(iter(pdf_service.index.filings))}/pages/1"


def pixels(content: bytes) -> Any:
    return pymupdf.Pixmap(content)  # type: ignore[no-untyped-call]


def test_a_page_is_drawn_and_marks_change_it_where_they_stand(pdf_client: TestClient, place: str) -> None:
    page = pdf_client.get(place).json()
    plain = pdf_client.get(f"{place}/image", params={"dpi": 72})
    assert plain.headers["content-type"] == "image/png"
    assert page["has_image"]
    boxes = [fact["box"] for fact in page["facts"] if fact["box"]]
    clean = pixels(plain.content)
    if boxes:
        x0, y0, x1, y1 = boxes[0]
        marked = pixels(pdf_client.get(f"{place}/image", params={"dpi": 72, "box": f"{x0},{y0},{x1},{y1}"}).content)
        inside = (int((x0 + x1) / 2), int((y0 + y1) / 2))
        assert marked.pixel(*inside) != (255, 255, 255)
        assert marked.pixel(2, 2) == clean.pixel(2, 2)
    end = len(page["text"].splitlines()[0])
    highlighted = pdf_client.get(f"{place}/image", params={"dpi": 72, "highlight": f"0-{end}"})
    assert highlighted.content != plain.content


def test_words_are_found_in_order_though_they_repeat() -> None:
    words = [(10.0 * i, 0.0, 10.0 * i + 8, 10.0, word) for i, word in enumerate(["a", "1", "b", "1", "c", "1"])]
    text = "a 1\nb 1\nc 1"
    (found,) = rectangles(words, text, [[4, 7]])
    assert (found[0], found[2]) == (20.0, 38.0)
    assert rectangles(words, text, []) == []
    assert rectangles([], text, [[0, 5]]) == []


@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"highlight": "5-1"}, "highlight"),
        ({"highlight": "a-b"}, "highlight"),
        ({"highlight": "0-99999999"}, "highlight"),
        ({"highlight": ["0-1"] * 65}, "highlight"),
        ({"box": "1,2,3"}, "box"),
        ({"box": "nan,0,1,1"}, "box"),
        ({"box": "0,0,1e9,1"}, "box"),
        ({"box": "5,5,1,1"}, "box"),
        ({"dpi": 2000}, "dpi"),
    ],
)
def test_marks_are_validated(pdf_client: TestClient, place: str, params: dict[str, Any], param: str) -> None:
    reply = pdf_client.get(f"{place}/image", params=params)
    assert reply.status_code == 422
    assert reply.json()["error"]["param"].startswith(param)


def test_a_source_that_changed_or_went_is_a_404_that_names_no_path(
    pdf_client: TestClient, place: str, pdf_corpus: Path, pdf_service: LocalService
) -> None:
    (source,) = {Path(filing.source_uri) for filing in pdf_service.index.filings.values()}
    pdf_service._images.close()
    content = source.read_bytes()
    try:
        source.write_bytes(content + b"\n")
        changed = pdf_client.get(f"{place}/image")
        source.unlink()
        gone = pdf_client.get(f"{place}/image")
    finally:
        source.write_bytes(content)
    for reply, reason in ((changed, "changed"), (gone, "reached")):
        assert reply.status_code == 404
        assert reason in reply.json()["error"]["message"]
        assert str(pdf_corpus) not in reply.text
    assert pdf_client.get(f"{place}/image").status_code == 200


def test_no_such_page_is_a_404(pdf_client: TestClient, place: str) -> None:
    assert pdf_client.get(place.replace("/pages/1", "/pages/9999/image")).status_code == 404


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\nnothing", b"%PDF-" + b"\xff" * 5000])
def test_a_broken_pdf_is_an_error_of_one_image(content: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        draw(content, Drawing(0, 72, ""))
    assert caught.value.status == 500


def test_a_drawing_that_hangs_is_ended() -> None:
    with pytest.raises(ApiError):
        draw(b"%PDF-1.7", Drawing(0, 72, ""), seconds=0.01)


def test_a_huge_page_is_drawn_small(tmp_path: Path) -> None:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        document.new_page(width=14_000, height=14_000)
        image = pixels(draw(document.tobytes(), Drawing(0, 200, "")))
    assert image.width * image.height < 25_000_000
