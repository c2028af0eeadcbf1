"""Images of pages: position of marks, refused requests, hostile PDFs, and fairness between keys."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from starlette.testclient import TestClient

from finray.api import page_images
from finray.api.app import create_app
from finray.api.draw_page import rectangles
from finray.api.errors import ApiError
from finray.api.keys import KeyRing
from finray.api.library import filing_page, filing_record, filings_record
from finray.api.page_images import Drawing, PageImages, draw
from finray.api.service import LocalService
from finray.core.filing_filter import FilingFilter
from finray.core.settings import Settings
from finray.index.job.in_process import index_in_process
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


@pytest.fixture(scope="module")
def pdf_client(
    pdf_service: LocalService, serving_settings: Settings, keys_file: Path, key: str
) -> Iterator[TestClient]:
    app = create_app(pdf_service, serving_settings.serving, KeyRing(str(keys_file), 0.0))
    client = TestClient(app, raise_server_exceptions=False, headers={"Authorization": f"Bearer {key}"})
    with closing(client):
        yield client


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


def test_a_changed_or_missing_source_is_a_404_without_a_path(
    pdf_client: TestClient, place: str, pdf_corpus: Path, pdf_service: LocalService
) -> None:
    (source,) = {Path(filing.source_uri) for filing in pdf_service.index.filings.values()}
    pdf_service._images.forget()
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


def test_a_missing_page_is_a_404(pdf_client: TestClient, place: str) -> None:
    assert pdf_client.get(place.replace("/pages/1", "/pages/9999/image")).status_code == 404


class Drawer:
    """Replaces ``draw``: images below 100 dpi block until released."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun: list[int] = []

    def __call__(self, pdf: bytes, drawing: Drawing, text: str, sandbox: object) -> bytes:
        self.begun.append(drawing.dpi)
        assert drawing.dpi >= 100 or self.go.wait(20)
        return b"%d" % drawing.dpi * 1000


async def test_images_of_one_key_delay_neither_reads_nor_images_of_another(
    pdf_service: LocalService, serving_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawer, most = Drawer(), serving_settings.serving.max_concurrent
    monkeypatch.setattr(page_images, "draw", drawer)
    filing_id = next(iter(pdf_service.index.filings))
    images = [asyncio.create_task(pdf_service.page_image("a", filing_id, Drawing(1, 36 + n))) for n in range(most)]
    while not drawer.begun:
        await asyncio.sleep(0.01)
    with pytest.raises(ApiError) as caught:
        await pdf_service.page_image("a", filing_id, Drawing(1, 99))
    assert (caught.value.status, caught.value.code) == (429, "concurrency_limit")
    for key in "ab":
        assert (await pdf_service.read(key, filing_page, filing_id, 1)).page == 1
        assert (await pdf_service.read(key, filings_record, FilingFilter(), "", 1)).data
        assert (await pdf_service.read(key, filing_record, filing_id)).pages
    for _ in range(2):
        assert (await pdf_service.page_image("b", filing_id, Drawing(1, 150))).startswith(b"150")
    assert drawer.begun == [36, 150]  # one of each: the second of "b" was at hand
    cached = await pdf_service.page_image("a", filing_id, Drawing(1, 150))  # waits for no other image
    assert cached.startswith(b"150")
    drawer.go.set()
    assert len(await asyncio.gather(*images)) == most


async def test_images_are_cached_within_the_memory_limit(
    pdf_corpus: Path, pdf_service: LocalService, serving_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawer = Drawer()
    monkeypatch.setattr(page_images, "draw", drawer)
    small = serving_settings.serving.model_copy(update={"cache_bytes": 10_000})
    images = PageImages(serving_settings.model_copy(update={"serving": small}))
    filing_id = next(iter(pdf_service.index.filings))
    for dpi in (*range(100, 110), 109, 100):
        await images.png("a", pdf_service.index, filing_id, Drawing(1, dpi))
    images.close()
    assert drawer.begun == [*range(100, 110), 100]  # three fit


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\nnothing", b"%PDF-" + b"\xff" * 5000])
def test_a_broken_pdf_is_an_error_of_one_image(content: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        draw(content, Drawing(0, 72), "")
    assert caught.value.status == 500


def test_a_drawing_that_hangs_is_ended() -> None:
    with pytest.raises(ApiError):
        draw(b"%PDF-1.7", Drawing(0, 72), "", seconds=0.01)


@pytest.mark.slow
def test_a_huge_page_is_drawn_small(tmp_path: Path) -> None:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        document.new_page(width=14_000, height=14_000)
        image = pixels(draw(document.tobytes(), Drawing(0, 200), ""))
    assert image.width * image.height < 25_000_000
