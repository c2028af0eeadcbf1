"""Fitting the model that chooses sentences, with sentences made up here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finray.answering.sentences.features import FEATURES, Candidates
from finray.answering.sentences.model import SIGNALS, choose, read_sentence_model
from finray.cli import main
from finray.core.questions import GoldEvidence, Question
from finray.core.records import to_json
from finray.filings.pages.sentences import Sentence, page_sentences
from finray.index.reading.facts import IndexedPage
from finray.index.reading.reader import IndexReader
from finray.lab.training.answers.sentence_data import overlap
from finray.lab.training.answers.sentences import SentenceQuestion, fit_sentences, held_out_tests

COLUMN = {name: at for at, name in enumerate(FEATURES)}


def question(number: int, *, in_words: bool = True) -> SentenceQuestion:
    """Eight sentences in paragraphs of their own; the evidence is the one with the question's words, if any."""
    random = np.random.default_rng(number)
    page = IndexedPage("f", 0, "", "", None, None, (), np.zeros((0, 4), np.float32))
    features = random.uniform(0, 0.3, (8, len(FEATURES)))
    gold = np.zeros(8)
    if in_words:
        features[number % 8, COLUMN["best_words"]] = 1.0
        gold[number % 8] = 1.0
    sentences = tuple(Sentence(10 * n, 10 * n + 9, f"Sentence {n}.", "", n) for n in range(8))
    found = Candidates((page,), sentences, (0,) * 8, features)
    return SentenceQuestion(f"q{number}", f"company {number % 6}", found, gold, in_words)


QUESTIONS = [question(n, in_words=n % 4 != 0) for n in range(60)]


def test_the_words_of_the_question_are_learned_to_matter() -> None:
    model = fit_sentences(QUESTIONS, l2=0.1)
    assert model.weights[COLUMN["best_words"]] == max(model.weights)
    found = question(21).found
    assert choose(found, model.scores(found.features))[0] == 21 % 8


def test_questions_without_a_sentence_that_answers_fall_below_the_threshold() -> None:
    model = fit_sentences(QUESTIONS, l2=0.1)
    below = []
    for each in (question(n, in_words=n % 2 == 0) for n in range(100, 140)):
        scores = model.scores(each.found.features)
        probability = model.probability(each.found, scores, choose(each.found, scores))
        below.append((probability < model.threshold, each.in_words))
    refused = {flag: np.mean([low for low, in_words in below if in_words is flag]) for flag in (True, False)}
    assert refused[False] > 0.8
    assert refused[True] < 0.3


def test_held_out_tests_are_of_all_questions_with_sentences() -> None:
    tests = held_out_tests(QUESTIONS, l2=0.1)
    assert len(tests) == len(QUESTIONS)
    assert np.mean([test.best for test in tests if test.in_words]) > 0.9
    assert not any(test.any for test in tests if not test.in_words)


def test_overlap_is_by_word_triples_of_the_shorter_text() -> None:
    gold = "driven by increased interest rates"
    assert overlap(gold, "Interest expense rose, driven by increased interest rates on our debt.") == 1.0
    assert (
        overlap(
            "a long quotation, driven by increased interest rates, of a page",
            "Driven by increased interest rates, of a",
        )
        == 1.0
    )
    assert overlap(gold, "Interest rates increased.") == 0.0
    assert overlap("", "Words.") == 0.0


def test_the_command_fits_to_questions_over_an_index(
    sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = IndexReader.open(sample_index)
    filing = next(filing for filing in reader.filings() if filing.form == "10-K")
    asked: list[Question] = []
    for page in reader.pages([filing.filing_id]).to_pylist():
        for sentence in page_sentences(page["text"], page["headings"])[:2]:
            evidence = GoldEvidence(filing.doc_name, page["page"], sentence.text)
            text = f"{filing.company} in fiscal {filing.fiscal_year}: why {sentence.text[:150].lower()}?"
            asked.append(Question(f"q{len(asked)}", text, "so", "open_words", (evidence,)))
    questions = tmp_path / "questions.jsonl"
    questions.write_bytes(b"".join(to_json(question) + b"\n" for question in asked[:20]))
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    out = tmp_path / "model.json"
    sources = ["--questions", str(questions), "--index", sample_index, "--preset", str(preset), "--out", str(out)]
    monkeypatch.setattr("sys.argv", ["finray", "train", "sentences", *sources])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert len(read_sentence_model(out.read_text("utf-8"), "model.json").answers) == len(SIGNALS)
