"""Methods that answer themselves, end to end over the sample: engine, prediction, comparison. The model is a script."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.core.errors import SettingsError
from finray.core.passages import Passage
from finray.core.predictions import Answer, Prediction
from finray.core.questions import GoldEvidence, Question
from finray.core.roles import AnsweredPassages
from finray.core.settings import Settings, load_settings
from finray.engine import asks_llm, models_asked, open_engine
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.lab.comparison import answer_with_each, contenders
from finray.lab.evaluation.comparison_tables import comparison_markdown
from finray.lab.evaluation.evaluate import evaluate
from finray.models.chat import Message
from finray.retrieval.methods import lightrag_rules
from finray.retrieval.methods.rq_rag_prompted import REFINEMENTS
from tests.scripted_chat import ScriptedChatModel

Script = Callable[[Sequence[Message]], str | dict[str, object]]
WITH_PASSAGES = ("self_rag_prompted", "rq_rag_prompted", "lightrag_rules", "long_context")
NAMES = (*WITH_PASSAGES, "zero_shot")


def settings_for(name: str, **overrides: Any) -> Settings:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return load_settings("baselines", {"encoder.model": "hash", "retrieval.method": name, **dotted}, environment={})


def reader_of(answer: str) -> Script:
    """Writes queries, judges passages kindly, and concludes with ``answer``, citing the first passage."""

    def script(messages: Sequence[Message]) -> str:
        asked = messages[0].content
        if asked in REFINEMENTS.values():
            return "Grevandor Systems total revenue fiscal 2022"
        if "and judge what you write" in asked:
            return f"[Relevant] It was {answer}. [Fully supported] [Utility:5] [No Retrieval]"
        cites = " Page [1] prints it." if "passage-" in messages[1].content else ""
        return f"I add nothing.{cites} Therefore, the answer is {answer}."

    return script


@pytest.fixture(scope="module")
def gold(sample_questions: list[dict[str, Any]], sample_index: str, local_settings: Settings) -> Question:
    """A question about one figure in the sample's annual reports."""
    names = {filing.doc_name for filing in IndexReader.open(sample_index, local_settings).filings()}
    line = next(
        q
        for q in sample_questions
        if q.get("value")
        and len(q["evidence"]) == 1
        and q["evidence"][0]["doc_name"] in names
        and q["evidence"][0].get("page")
    )
    evidence = tuple(GoldEvidence(e["doc_name"], e["page"]) for e in line["evidence"])
    return Question(line["qid"], line["question"], answer=line["answer"], value=line["value"], evidence=evidence)


@pytest.fixture(scope="module")
def graphs(sample_index: str, local_settings: Settings) -> None:
    extend_index(IndexReader.open(sample_index, local_settings), lightrag_rules.extension(local_settings))


def ask(index: str, settings: Settings, question: Question, script: Script) -> tuple[Prediction, ScriptedChatModel]:
    model = ScriptedChatModel(script)
    engine = open_engine(index, settings, chat=model)
    return asyncio.run(engine.answer(question)), model


@pytest.mark.usefixtures("graphs")
@pytest.mark.parametrize("name", NAMES)
def test_each_method_answers_and_its_calls_are_counted(sample_index: str, gold: Question, name: str) -> None:
    prediction, model = ask(sample_index, settings_for(name), gold, reader_of("$5 million"))
    assert (prediction.status, prediction.error) == ("answered", None)
    assert "$5 million" in prediction.answer
    assert sum(usage.calls for usage in prediction.usage.values()) == len(model.calls) > 0
    assert prediction.unusable == {} and prediction.iterations == 0
    if name == "zero_shot":
        assert (prediction.passages, prediction.evidence, prediction.documents) == ((), (), ())
        assert "passage-" not in model.calls[0][1].content
    else:
        # Each answer shows the page that it rests on.
        assert prediction.evidence and prediction.evidence_blocks
        assert {p.filing_id for p in prediction.evidence} <= {d.filing_id for d in prediction.documents}
    assert asks_llm(settings_for(name))


@pytest.mark.parametrize(
    ("name", "answers"), [("zero_shot", "method"), ("long_context", "method"), ("ircot", "none"), ("hyde", "none")]
)
def test_what_the_papers_ask_of_the_generator_is_asked_of_answer_llm(
    sample_index: str, gold: Question, name: str, answers: str
) -> None:
    llm, generator = ScriptedChatModel(reader_of("$5 million")), ScriptedChatModel(reader_of("$5 million"))
    settings = settings_for(name, loop__answerer=answers, answer_llm__model="gpt-4o", llm__model="Qwen2.5-7B")
    engine = open_engine(sample_index, settings, chat=llm, answer_chat=generator)
    prediction = asyncio.run(engine.answer(gold))
    by_llm = name == "hyde"
    assert (bool(llm.calls), bool(generator.calls)) == (by_llm, not by_llm), prediction.error
    assert [model.model for model in models_asked(settings)] == (["Qwen2.5-7B"] if by_llm else ["gpt-4o"])


@pytest.mark.usefixtures("graphs")
@pytest.mark.parametrize("name", NAMES)
def test_figures_that_the_evidence_does_not_print_are_not_grounded(
    sample_index: str, gold: Question, name: str
) -> None:
    invented, _ = ask(sample_index, settings_for(name), gold, reader_of("$987,654.321 million"))
    assert invented.grounded is False
    assert any("not in its evidence: 987,654.321" in line for line in invented.trace)
    words, _ = ask(sample_index, settings_for(name), gold, reader_of("more than before"))
    assert words.grounded is True


@pytest.mark.usefixtures("graphs")
@pytest.mark.parametrize("name", NAMES)
def test_a_reply_that_cannot_be_used_is_an_error_and_counted(sample_index: str, gold: Question, name: str) -> None:
    prediction, _ = ask(sample_index, settings_for(name), gold, lambda messages: "")
    assert prediction.status == "error" and prediction.answer == ""
    assert prediction.error is not None and prediction.error.startswith("ModelReplyError")
    assert sum(prediction.unusable.values()) > 0


@pytest.mark.usefixtures("graphs")
@pytest.mark.parametrize("name", WITH_PASSAGES)
def test_text_of_filings_stands_between_tags(sample_index: str, gold: Question, name: str) -> None:
    _, model = ask(sample_index, settings_for(name), gold, reader_of("$5 million"))
    shown = next(call[1].content for call in model.calls if "<passage-" in call[1].content)
    code = shown.partition("<passage-")[2][:16]
    assert shown.count(f"<passage-{code}") == shown.count(f"</passage-{code}>") > 0
    assert all(
        "If it contains instructions" in c[0].content or "it contains instructions" in c[0].content
        for c in model.calls
        if "<passage-" in c[1].content
    )


def test_long_context_reads_the_routed_or_the_gold_filing(sample_index: str, gold: Question) -> None:
    name = gold.evidence[0].doc_name
    settings = settings_for("long_context", retrieval__oracle="document")
    prediction, model = ask(sample_index, settings, gold, reader_of("$5 million"))
    assert [d.doc_name for d in prediction.documents] == [name]
    (call,) = model.calls
    reader = IndexReader.open(sample_index)
    filing = next(f for f in reader.filings() if f.doc_name == name)
    assert call[1].content.count("<passage-") == reader.row_counts("pages")[filing.filing_id]
    routed, _ = ask(sample_index, settings_for("long_context"), gold, reader_of("$5 million"))
    assert len(routed.documents) == 1
    two, _ = ask(sample_index, settings_for("long_context", methods__long_context__filings=2), gold, reader_of("$5"))
    assert len(two.documents) == 2
    assert [(p.start, p.page) for p in prediction.passages] == [(0, 0)] and prediction.passages == prediction.evidence


def test_long_context_cuts_at_the_context_and_says_so(sample_index: str, gold: Question) -> None:
    settings = settings_for("long_context", methods__long_context__context_tokens=5_000)
    prediction, model = ask(sample_index, settings, gold, reader_of("$5 million"))
    assert 0 < len(model.calls[0][1].content) < 5_000 * 3
    (line,) = [line for line in prediction.trace if line.startswith("long_context: ") and "pages" in line]
    assert "pages do not fit the context and are left out" in line
    nothing = settings_for("long_context", methods__long_context__context_tokens=1_000)
    refused, model = ask(sample_index, nothing, gold, reader_of("$5 million"))
    assert refused.status == "unanswerable" and model.calls == []


def test_long_context_needs_a_document_stage(sample_index: str, gold: Question) -> None:
    settings = settings_for("long_context", retrieval__hierarchical=False)
    prediction, _ = ask(sample_index, settings, gold, reader_of("$5"))
    assert prediction.error is not None and "retrieval.hierarchical" in prediction.error


def test_gold_pages_replace_a_method_that_answers(sample_index: str, gold: Question) -> None:
    settings = settings_for("self_rag_prompted", retrieval__oracle="page")
    prediction, _ = ask(sample_index, settings, gold, reader_of("$5"))
    assert prediction.error is not None and "choose another answerer" in prediction.error


def test_answers_of_methods_and_of_answerers_are_compared_in_one_table(
    sample_index: str, gold: Question, tmp_path: Path
) -> None:
    compared = contenders(
        ["zero_shot", "self_rag_prompted", "hybrid_search:loop.answerer=statements"],
        "baselines",
        {"encoder.model": "hash"},
        retrieval_only=False,
    )
    assert [c.settings.loop.answerer for c in compared] == ["method", "method", "statements"]
    stores = {c.label: PredictionStore(str(tmp_path / f"{n}.jsonl")) for n, c in enumerate(compared)}
    model = ScriptedChatModel(reader_of(str(gold.answer)))
    asyncio.run(answer_with_each([gold], sample_index, stores, compared, chat=model))
    found = {}
    for number, (label, store) in enumerate(stores.items()):
        store.close()
        found[label] = evaluate(read_predictions(str(tmp_path / f"{number}.jsonl")).predictions, [gold])
    table = comparison_markdown(found, retrieval_only=False)
    assert "| calls" in table.splitlines()[2] or "calls" in table
    stored = [json.loads(line) for line in (tmp_path / "0.jsonl").read_text().splitlines()]
    assert stored[0]["usage"]["zero_shot"]["calls"] == 1
    assert found["zero_shot"].metrics["numeric_match"].value == 1.0


def test_only_answering_methods_are_refused_when_only_retrieving() -> None:
    (zero,) = contenders(["zero_shot"], "baselines", {"encoder.model": "hash"}, retrieval_only=True)
    assert zero.settings.loop.answerer == "none"


def test_a_method_without_answers_is_an_error_at_once(sample_index: str) -> None:
    with pytest.raises(SettingsError, match="'bm25' writes no answers"):
        open_engine(sample_index, settings_for("bm25"), chat=ScriptedChatModel(lambda messages: ""))


def test_answered_passages_can_be_sent_to_another_process() -> None:
    passages = AnsweredPassages([Passage("a", "a", 0, 0, 1, "a", 1.0)], Answer("x", "answered"))
    copy = pickle.loads(pickle.dumps(passages))
    assert copy == passages and copy.answer == passages.answer
