"""``finray tables hirec`` over the sample: parts, sources, final contexts, cost, and gaps for missing models."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.cli.tables import tables as tables_command
from finray.core.questions import Question
from finray.core.settings import LlmSettings
from finray.lab.tables.hirec import NUMBERS, part_of
from finray.lab.tables.hirec_published import ABLATIONS, EXPANDED_BY_PART, MAIN
from finray.models.chat import ChatModel, Message
from tests.scripted_chat import ScriptedChatModel

FAKES = ("encoder.model=hash", "llm.base_url=http://127.0.0.1:9/v1", "passage_reranker.model=overlap",
         "document_reranker.model=overlap")  # fmt: skip
SOURCES = ("finqa", "financebench", "secqa")


@pytest.fixture(scope="module")
def questions(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nine questions on three companies in LOFin's parts and sources."""
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    numeric = [q for q in map(json.loads, lines) if q.get("evidence") and q.get("unit") == "USD"]
    asked = [q for q in numeric if "2022-10k" in q["evidence"][0]["doc_name"]][:9]
    for number, question in enumerate(asked):
        question["source"] = SOURCES[number % 3]
        question["question_type"] = ("numeric_table", "numeric_text")[number % 2]
    asked[8] |= {"question_type": "textual", "answer": "It sells robots.", "value": None}
    path = tmp_path_factory.mktemp("lofin") / "questions.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in asked), encoding="utf-8")
    return str(path)


class Tables:
    def __init__(self, questions: str, index: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.questions, self.index, self._capsys = questions, index, capsys

    def __call__(self, *numbers: str, settings: Sequence[str] = FAKES, **options: Any) -> dict[str, Any]:
        """The rows of each table by number."""
        tables_command(
            "hirec", questions=[self.questions], index=self.index, set_=[*settings], only=",".join(numbers), json_=True,
            preset="local",
            **options,
        )  # fmt: skip
        found = json.loads(self._capsys.readouterr().out)
        return {
            table["table"]: {row["label"]: row for row in table["rows"]} | {"notes": table["notes"]} for table in found
        }


@pytest.fixture
def tables(questions: str, sample_index: str, capsys: pytest.CaptureFixture[str]) -> Tables:
    return Tables(questions, sample_index, capsys)


REPLY = """\
```python
def solution():
    return 5
```
## reasoning
Step by step. Therefore, the answer is 5.
## answerable
yes
## citations
1
## program

## unit

## answer
5
"""
"""Usable in the form of any answering role."""


def test_without_a_model_retrieval_is_measured_and_answers_are_gaps(tables: Tables) -> None:
    found = tables("2", "4", "5", "6")
    main = found["2"]
    dense = main["Dense"]["measured"]
    assert dense["Numeric (Table) page recall"]["n"] == 4
    assert dense["k"]["value"] == 10.0
    assert "no language model" in dense["Numeric (Table) accuracy"]["gap"]
    recalls = [dense[f"{part} page recall"]["value"] for part in ("Numeric (Table)", "Numeric (Text)", "Textual")]
    assert dense["Average page recall"] == pytest.approx(sum(recalls) / 3)
    assert main["Dense"]["published"]["Average page recall"] == pytest.approx(0.3478)
    assert "commercial service" in main["Perplexity"]["measured"]["k"]["gap"]
    own = main["finray, as the preset sets it"]["measured"]
    assert own["Numeric (Table) accuracy"]["n"] == 4
    assert "judged by a language model" in own["Textual accuracy"]["gap"]
    assert "gap" in found["4"]["HiREC"]["measured"]["retrieval tokens in"]
    assert all("gap" in cell for cell in found["5"]["Dense + GPT-4o"]["measured"].values())
    assert found["6"]["HHR"]["measured"]["FinQA page recall"]["n"] == 3
    gold = main["Gold evidence"]["measured"]
    asked = map(json.loads, Path(tables.questions).read_text(encoding="utf-8").splitlines())
    pages = [len({(each["doc_name"], each["page"]) for each in question["evidence"]}) for question in asked]
    assert gold["Average page recall"] == 1.0
    assert gold["k"]["value"] == pytest.approx(sum(pages) / len(pages)), "pages, although a page has several chunks"


def test_sources_are_counted_beside_the_paper_s(tables: Tables) -> None:
    rows = tables("9")["9"]
    assert rows["FinQA"]["measured"] == {"questions": "3", "share": pytest.approx(1 / 3)}
    assert rows["SEC-QA"]["published"] == {"questions": "333", "share": pytest.approx(0.2088)}


def served(monkeypatch: pytest.MonkeyPatch, load: Callable[[LlmSettings], ChatModel]) -> None:
    for place in ("finray.engine", "finray.lab.tables.runs", "finray.lab.evaluation.judging.judges"):
        monkeypatch.setattr(f"{place}.load_chat", load)


@pytest.mark.slow
def test_generator_and_judge_are_the_models_of_the_paper(
    tables: Tables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = Path(tables.questions).read_text(encoding="utf-8").splitlines()
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join((lines[0], lines[8])), encoding="utf-8")
    tables.questions = str(few)
    prompts: dict[str, list[str]] = {"Qwen": [], "gpt-4o": []}

    def load(settings: LlmSettings) -> ChatModel:
        def reply(messages: Sequence[Message]) -> str:
            text = "\n".join(message.content for message in messages)
            prompts[settings.model].append(text)
            return "correct" if "reviewing a student" in text else REPLY

        return ScriptedChatModel(reply)

    served(monkeypatch, load)
    models = ("llm.model=Qwen", "answer_llm.model=gpt-4o", "methods.hirec.summaries=facts")
    rows = tables("2", settings=(*FAKES, *models, "sandbox.isolation=process"))["2"]
    zero_shot = rows["Zero-shot"]["measured"]
    assert zero_shot["Textual accuracy"]["value"] == 1.0
    assert zero_shot["Average page recall"] is None and zero_shot["k"] is None, "a dash, as in the paper"
    asked = prompts["gpt-4o"]
    programs = [text for text in asked if "generate a Python program" in text]
    chains = [text for text in asked if "in your last sentence" in text and "Sources:" in text]
    judged = [text for text in asked if "reviewing a student" in text]
    # A numeric question and a textual one, answered by IRCoT, HybridSearch, HHR, Dense, HiREC and gold evidence.
    assert (len(programs), len(chains)) == (6, 6)
    assert judged and all("ground-truth answer: ’It sells robots.’" in text for text in judged)
    assert "context: ’’" not in "".join(judged), "gold pages, since the questions have no gold texts"
    assert sum("You reason about a question" in text for text in asked) == 6, "three iterations of IRCoT"
    assert not any("student" in text or "Sources:" in text for text in prompts["Qwen"])


@pytest.mark.slow
def test_answers_tokens_and_cost_with_a_model(tables: Tables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def load(settings: LlmSettings) -> ChatModel:
        return ScriptedChatModel(lambda messages: REPLY)

    served(monkeypatch, load)
    settings = (*FAKES, "llm.model=Qwen/Qwen2.5-7B-Instruct", "sandbox.isolation=process")
    found = tables("4", "5", "11", settings=settings, out_=str(tmp_path))
    cost = found["4"]["Dense"]["measured"]
    assert int(cost["generation tokens in"].replace(",", "")) > 100
    assert cost["generation $ in"] > 0 and cost["retrieval tokens in"] == "0"
    dollars = cost["generation $ in"] + cost["generation $ out"]
    assert float(cost["$ a question"]) == pytest.approx(dollars / 9, abs=1e-4)
    assert found["4"]["Dense"]["published"]["$ a question"] == f"{(9.3 + 2.5) / 1389:.4f}"
    generators = found["5"]
    assert generators["Dense + Qwen-2.5-7B"]["measured"]["Numeric (Table)"]["n"] == 4
    assert "run again with GPT-4o" in generators["Dense + GPT-4o"]["measured"]["Average"]["gap"]
    assert found["11"]["Dense"]["measured"]["FinanceBench recall"]["n"] == 3
    assert (tmp_path / "Dense-program.jsonl").exists()


def test_the_ablation_without_a_tuned_reranker_says_so(tables: Tables) -> None:
    rows = tables("3")["3"]
    assert "no fine-tuned reranker" in rows["w/o Fine-tuning"]["measured"]["accuracy"]["gap"]
    assert "gap" in rows["HiREC"]["measured"]["page recall"]


@pytest.mark.slow
def test_all_tables_have_their_numbers(tables: Tables) -> None:
    assert tuple(tables()) == NUMBERS


def test_the_paper_s_averages_are_means_over_its_parts() -> None:
    for figures in (figures for label, figures in MAIN.items() if label not in ("Zero-shot", "Perplexity")):
        for at in (0, 1):
            values = [figure for figure in figures[at:6:2] if figure is not None]
            assert sum(values) / 3 == pytest.approx(figures[6 + at], abs=0.02)
    for figures in EXPANDED_BY_PART.values():
        for at in range(3):
            values = [figure for figure in figures[at:9:3] if figure is not None]
            assert sum(values) / 3 == pytest.approx(figures[9 + at], abs=0.02)
    assert MAIN["HiREC"][6:8] == ABLATIONS["HiREC"][1:]


def test_a_question_without_part_is_placed_by_its_answer() -> None:
    assert part_of(Question("a", "x?", "12%")) == "numeric_table"
    assert part_of(Question("a", "x?", "It rose.")) == "textual"
    assert part_of(Question("a", "x?", "12%", "numeric_text")) == "numeric_text"
