"""What a filing can do to its parser: each harm becomes that filing's failure, and the next filing is read."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from finray.core.errors import FilingError
from finray.core.settings import Settings
from finray.filings.tessdata import find_tessdata
from finray.index.bundle import from_bytes
from finray.index.parser_process import ParserProcess
from tests.filings.test_ocr import scanned

MODULE = """
import ctypes, os, signal, sys, time
import finray.filings.read as read
from finray.index import parser_process

honest = read.parse_filing

def parse_filing(content, source_uri, settings, ocr=None):
    if content == b"segfault":
        ctypes.string_at(0)
    if content == b"hang":
        time.sleep(600)
    if content == b"busy":
        while True: pass
    if content == b"exit":
        os._exit(3)
    if content == b"bug":
        raise KeyError("a bug")
    if content == b"memory":
        bytearray(64 * 1024**3)
    print("noise on stdout")
    return honest(content, source_uri, settings, ocr)

read.parse_filing = parse_filing
parser_process.serve(sys.argv[1])
"""


@pytest.fixture(scope="module")
def parser(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ParserProcess]:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "poisonable.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        limits = settings.filings.model_copy(update={"parse_seconds": 60.0})
        parser = ParserProcess(limits, settings.chunks, module="poisonable")
        yield parser
        parser.close()


@pytest.fixture
def honest(sample_filings: Path, parser: ParserProcess) -> Callable[[], None]:
    path = sorted(sample_filings.glob("*.htm"))[0]

    def check() -> None:
        assert from_bytes(parser.parse(path.read_bytes(), str(path)).bundle).filing.doc_name == path.stem

    return check


@pytest.mark.parametrize(
    ("content", "reason", "detail"),
    [
        (b"segfault", "crashed", "SIGSEGV"),
        (b"exit", "crashed", "exit status 3"),
        (b"bug", "parser_error", "KeyError: 'a bug'"),
        (b"memory", "out_of_memory", "4 GiB"),
    ],
)
def test_a_filing_that_breaks_its_parser_is_set_aside(
    parser: ParserProcess, honest: Callable[[], None], content: bytes, reason: str, detail: str
) -> None:
    with pytest.raises(FilingError, match=detail) as caught:
        parser.parse(content, "/corpus/poison.pdf")
    assert (caught.value.stage, caught.value.reason) == ("parse", reason)
    honest()


@pytest.mark.parametrize("content", [b"hang", b"busy"])
def test_a_filing_that_takes_too_long_is_set_aside(settings: Settings, parser: ParserProcess, content: bytes) -> None:
    limits = settings.filings.model_copy(update={"parse_seconds": 1.0})
    quick = ParserProcess(limits, settings.chunks, module="poisonable")
    with pytest.raises(FilingError, match="timeout"):
        quick.parse(content, "/corpus/poison.pdf")
    quick.close()


def test_a_scanned_filing_is_read_where_it_may_take_time(settings: Settings, parser: ParserProcess) -> None:
    if find_tessdata() is None:
        pytest.skip("Tesseract's data is not installed")
    assert from_bytes(parser.parse(scanned(), "/corpus/scan.pdf").bundle).filing.marks == ("ocr",)
    without = ParserProcess(settings.filings.model_copy(update={"ocr_seconds": 0.0}), settings.chunks)
    with pytest.raises(FilingError, match="image_only"):
        without.parse(scanned(), "/corpus/scan.pdf")
    without.close()


def test_a_child_that_died_between_filings_is_replaced(parser: ParserProcess, honest: Callable[[], None]) -> None:
    honest()
    assert parser.child is not None
    parser.child.send_signal(signal.SIGKILL)
    time.sleep(0.2)
    honest()


def test_a_parser_that_cannot_start_says_so(settings: Settings) -> None:
    parser = ParserProcess(settings.filings, settings.chunks, module="no_such_module")
    with pytest.raises(RuntimeError, match="does not start"):
        parser.parse(b"", "x")
