"""Qwen2.5-Coder 0.5B with the shipped adapter in llama.cpp: figures of its plans, and files that are bad."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from finray.answering.sentences.features import FEATURES, Candidates
from finray.answering.sentences.read import SentenceFinder
from finray.answering.written_plans.answerer import PlanAnswerer
from finray.answering.written_plans.language import grammar, parse
from finray.core.errors import ModelUnavailableError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.query import Query
from finray.core.roles import Curation
from finray.core.settings import PlanWriterSettings
from finray.models.plan_writer import LlamaPlans, adapter_of, gguf_of, load_plan_writer
from tests.answering.made_up_cells import facts, passage
from tools.smollm2 import packaged_gguf

pytestmark = [pytest.mark.llm, pytest.mark.timeout(300)]

MODEL = Path(sys.prefix) / "qwen-coder" / "model.gguf"
SETTINGS = PlanWriterSettings(backend="llama_cpp", model=str(MODEL))


@pytest.fixture(scope="module")
def writer() -> LlamaPlans:
    if importlib.util.find_spec("xllamacpp") is None or not MODEL.is_file():
        pytest.skip("needs llama.cpp and the model: `make test-llm` has them")
    return cast(LlamaPlans, load_plan_writer(SETTINGS))


class NoSentences:
    def find(self, query: Query, passages: list[Passage]) -> Candidates:
        return Candidates((), (), (), np.zeros((0, len(FEATURES))))


@pytest.mark.parametrize(
    ("question", "value", "unit"),
    [
        ("By what percent did Acme's capital spending of the North America Beverages grow in 2022?", 17.56, "percent"),
        ("What was Acme's capital spending for Frito Snacks in 2021?", 801e6, "USD"),
    ],
)
def test_the_figure_of_a_plan_is_computed_and_cited(writer: LlamaPlans, question: str, value: float, unit: str) -> None:
    query = Query(question, question, ("acme",), periods=(Period(2022, "FY"), Period(2021, "FY")), names=("Acme",))
    answerer = PlanAnswerer(facts(), cast(SentenceFinder, NoSentences()), writer)
    journal = Journal()
    answer = answerer.answer(query, Curation((passage(3), passage(5)), answerable=True), journal)
    assert answer is not None, journal.lines
    assert answer.value == pytest.approx(value, rel=1e-3), journal.lines
    assert answer.unit == unit
    assert answer.operands
    assert journal.usage["plan"].completion_tokens > 3


def test_the_same_sheet_gives_the_same_plan_in_the_language(writer: LlamaPlans) -> None:
    sheet = "Q: asdf qwer zxcv?\n# Sales\nc1 FY2022, c2 FY2021\nr1 Net sales\nQ: asdf qwer zxcv?\nPlan:"
    plans = [writer.write(sheet, grammar([2]))[0] for _ in range(2)]
    assert plans[0].text == plans[1].text
    parse(plans[0].text)  # whatever it says, it is a plan
    assert plans[0].log_probability < 0


@pytest.mark.parametrize("size", [100, 30_000_000])
def test_a_model_that_is_cut_off_is_one_line(writer: LlamaPlans, tmp_path: Path, size: int) -> None:
    partial = tmp_path / "model.gguf"
    with MODEL.open("rb") as file:
        partial.write_bytes(file.read(size))
    with pytest.raises(ModelUnavailableError, match=r"llama\.cpp cannot load .*run finray fetch-models small"):
        LlamaPlans(gguf_of(PlanWriterSettings(model=str(partial))), adapter_of(SETTINGS), 1)


def test_an_adapter_of_another_model_is_one_line(writer: LlamaPlans) -> None:
    with pytest.raises(ModelUnavailableError, match="the adapter of another model"):
        LlamaPlans(packaged_gguf(), adapter_of(SETTINGS), 1)
