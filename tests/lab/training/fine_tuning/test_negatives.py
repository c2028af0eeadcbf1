from __future__ import annotations

from dataclasses import replace

import pytest

from finray.lab.training.fine_tuning.corpus import Corpus
from finray.lab.training.fine_tuning.negatives import NegativeSampler
from finray.lab.training.fine_tuning.options import Hyperparameters, NegativeKind


def _sampler(corpus: Corpus, count: int, kind: NegativeKind, *, hard: int = 0, seed: int = 0) -> NegativeSampler:
    options = Hyperparameters(base="minilm", negatives=count, hard=hard, negative_kind=kind, seed=seed)
    return NegativeSampler(corpus, options)


@pytest.mark.parametrize("kind", ["tables", "mixed", "any"])
@pytest.mark.parametrize("hard", [0, 2])
def test_a_gold_page_is_never_a_negative(corpus: Corpus, kind: NegativeKind, hard: int) -> None:
    sampler = _sampler(corpus, 4, kind, hard=hard)
    for question in corpus.questions:
        chosen = sampler.of(question)
        assert len(chosen) == 4
        assert not {unit.page for unit in chosen} & question.spared
        assert {unit.page.partition("#")[0] for unit in chosen} == set(question.documents)


def test_tables_only_and_half_tables(corpus: Corpus) -> None:
    question = corpus.questions[0]
    tables = _sampler(corpus, 2, "tables").of(question)
    mixed = _sampler(corpus, 2, "mixed").of(question)
    assert [unit.is_table for unit in tables] == [True, True]
    assert sorted(unit.is_table for unit in mixed) == [False, True]


def test_hard_ones_share_the_words_of_the_question(corpus: Corpus) -> None:
    question = replace(corpus.questions[0], question="words of the management")
    (hardest,) = _sampler(corpus, 1, "any", hard=1).of(question)
    assert hardest.key == "revenue#3"


def test_negatives_depend_only_on_the_seed_and_the_question(corpus: Corpus) -> None:
    def sample(seed: int, order: int) -> dict[str, list[str]]:
        sampler = _sampler(corpus, 2, "any", seed=seed)
        return {q.qid: [unit.key for unit in sampler.of(q)] for q in corpus.questions[::order]}

    assert sample(0, 1) == sample(0, -1)
    assert sample(0, 1) != sample(1, 1)


def test_a_page_that_is_its_own_document_has_negatives_elsewhere(corpus: Corpus) -> None:
    question = replace(corpus.questions[0], within=False, spared=frozenset(u.page for u in corpus.units["revenue"]))
    chosen = _sampler(corpus, 8, "any").of(question)
    assert not any(unit.page.startswith("revenue#") for unit in chosen)


def test_a_filing_of_one_page_has_none(corpus: Corpus) -> None:
    single = replace(corpus, units={**corpus.units, "revenue": corpus.units["revenue"][1:2]})
    assert _sampler(single, 4, "mixed", hard=2).of(corpus.questions[0]) == []
