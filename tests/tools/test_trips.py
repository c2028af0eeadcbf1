"""The diagrams of docs/architecture.md match the code: the functions of a trip are called in order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from finray.cli.ask import ask
from finray.core.settings import ChunkSettings, FilingSettings, Settings
from finray.filings.pdf.tessdata import Ocr
from finray.filings.read import parse_filing
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParsedBytes, ParserProcess
from finray.index.writing.bundle import make_bundle, to_bytes
from tests.engines.here import HerePool
from tools.diagrams.rooms import Rooms, measured_rooms, rooms_picture
from tools.diagrams.trips import Stop, read_trip, trip_picture


class HereParser(ParserProcess):
    """Parses in this process, where calls can be traced."""

    def _parse(self, content: bytes, source_uri: str, ocr: Ocr | None) -> ParsedBytes:
        parsed = parse_filing(content, source_uri, FilingSettings())
        return ParsedBytes(to_bytes(make_bundle(parsed, ChunkSettings())), 0.0, 0)


def reached(stops: tuple[Stop, ...], travel: Callable[[], object]) -> list[str]:
    """The stops that ``travel`` calls in order, up to the first that it does not call."""
    left = [stop.name.rpartition(".")[2] if stop.is_protocol else stop.function().__code__ for stop in stops]

    def notice(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and left and (code is left[0] or (code.co_name == left[0] and _is_ours(code))):
            del left[0]

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        travel()
    finally:
        sys.setprofile(before)
    return [stop.at for stop in stops[: len(stops) - len(left)]]


def _is_ours(code: CodeType) -> bool:
    return "/finray/" in code.co_filename


def test_the_trip_of_a_filing_matches_the_code(sample_folder: Path, tmp_path: Path, local_settings: Settings) -> None:
    trip = read_trip("filing")
    source = str(next((sample_folder / "filings").glob("*10k*")))
    parser = HereParser(local_settings.filings, local_settings.chunks)

    def travel() -> None:
        summary = index_in_process([source], str(tmp_path / "index"), local_settings, parser=parser)
        assert summary.indexed == 1

    assert reached(trip.stops, travel) == [stop.at for stop in trip.stops]


def test_the_trip_of_a_question_matches_the_code(
    sample_index: str,
    local_settings: Settings,
    sample_questions: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("finray.engines.questions.EnginePool", HerePool)
    trip = read_trip("question")
    question = next(each["question"] for each in sample_questions if each["question_type"] == "numeric_table")

    def travel() -> None:
        assert ask(question, sample_index, set_=["encoder.model=hash"]) == 0

    assert reached(trip.stops, travel) == [stop.at for stop in trip.stops]


def test_a_renamed_stop_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no function finray\.engine:Engine\.reply"):
        Stop("finray.engine:Engine.reply", "").function()


@pytest.mark.parametrize("name", ["filing", "question"])
def test_the_picture_of_a_trip_names_every_stop(name: str) -> None:
    trip = read_trip(name)
    drawn = trip_picture(trip, measured_rooms().order)
    for stop in trip.stops:
        assert f">{stop.name}<" in drawn


def test_an_import_that_goes_up_is_drawn_in_another_color() -> None:
    down = Rooms((("top",), ("left", "right")), {"top": "a", "left": "b", "right": "c"}, frozenset({("top", "left")}))
    assert down.upward() == []
    assert 'class="wrong"' not in rooms_picture(down)
    beside = Rooms(down.layers, down.purposes, frozenset({("left", "right")}))
    assert beside.upward() == [("left", "right")]
    assert 'class="wrong"' in rooms_picture(beside)
