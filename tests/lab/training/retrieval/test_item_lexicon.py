"""Learning which SEC Items use which words."""

from __future__ import annotations

import json

from finray.lab.training.retrieval.item_lexicon import MIN_FILINGS, item_lexicon_json, learn_item_lexicon


def pages(words: dict[str, str], filings: int, copies: int) -> list[tuple[str, str, str]]:
    return [(f"f{f}", item, text) for f in range(filings) for item, text in words.items() for _ in range(copies)]


def test_a_word_belongs_to_the_item_that_uses_it_more_than_others_do() -> None:
    text = {"3": "lawsuits and courts of law", "7": "margins and costs", "8": "margins and leases"}
    lexicon = learn_item_lexicon(pages(text, MIN_FILINGS, 10))
    assert lexicon["lawsuit"]["3"] > 0.8
    assert lexicon["lawsuit"]["7"] < -0.8
    assert "3" not in lexicon["margin"] or lexicon["margin"]["3"] < 0
    assert "and" not in lexicon


def test_words_of_few_companies_are_not_learned() -> None:
    common = pages({"3": "lawsuits", "7": "margins"}, MIN_FILINGS, 10)
    own = pages({"3": "grevandor", "7": "costs"}, MIN_FILINGS - 1, 10)
    assert "grevandor" not in learn_item_lexicon([*common, *own])


def test_the_file_has_one_word_per_line() -> None:
    text = item_lexicon_json({"lawsuit": {"3": 2.0}, "margin": {"7": 1.1, "8": -0.9}})
    assert json.loads(text) == {"lawsuit": {"3": 2.0}, "margin": {"7": 1.1, "8": -0.9}}
    assert len(text.splitlines()) == 4
