"""The choice of a figure that a sentence states, and its refusal if none is sure."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from finray.answering.choice_model import Fitted, fitted_json
from finray.answering.sentences.features import candidates
from finray.answering.sentences.figure_answerer import FigureAnswerer
from finray.answering.sentences.figure_choice import SIGNALS, FigureModel, read_figure_model, shipped_figure_model
from finray.answering.sentences.figure_features import FEATURES, figure_candidates
from finray.answering.sentences.read import SentenceFinder
from finray.core.errors import ModelUnavailableError
from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.predictions import Answer
from finray.core.query import Query, Shape
from finray.core.roles import Curation
from finray.index.reading.facts import FilingFacts, IndexedPage
from finray.models.hash_encoder import HashEncoder

EAGER = replace(shipped_figure_model(), threshold=0.0)
"""Chooses the best figure, however unsure."""
PAGE = """Legal Proceedings
In September 2021 we agreed to pay a civil penalty of $62 million to settle the investigation by the regulator.
As of February 21, 2022, there were 166,694 holders of record of our common stock.
Advertising
Advertising costs were $5.1 billion and $4.4 billion for fiscal 2022 and 2021, respectively.
"""


class _Facts(FilingFacts):
    def __init__(self, text: str) -> None:
        vectors = HashEncoder().encode_passages([text])
        self.page = IndexedPage("f", 0, text, "Legal Proceedings\nAdvertising", "7", None, ((0, len(text)),), vectors)

    def filing(self, filing_id: str) -> Filing:
        return Filing(filing_id, "ACME", "", "", "Acme", "10-K", fiscal_year=2022, fiscal_period="FY")

    def indexed_pages(self, places: object) -> list[IndexedPage]:
        return [self.page] if places else []


def _query(text: str, year: int = 2022, **changes: object) -> Query:
    query = Query(text, text, ("acme",), periods=(Period(year, "FY"),), names=("Acme",), intents=frozenset({"amount"}))
    return replace(query, **changes)  # type: ignore[arg-type]


def _answer(query: Query, model: FigureModel = EAGER, text: str = PAGE) -> Answer | None:
    passage = Passage("ACME", "f", 0, 0, 9, text[:9], 0.5)
    facts = _Facts(text)
    return FigureAnswerer(facts, SentenceFinder(facts, HashEncoder(), read=True), model).answer(
        query, Curation((passage,), answerable=True), Journal()
    )


def test_the_figure_comes_with_its_sentence() -> None:
    answer = _answer(_query("How big was the civil penalty that Acme paid to settle the investigation?"))
    assert answer is not None
    assert (answer.status, answer.value, answer.unit) == ("answered", 62e6, "USD")
    assert answer.text.startswith("$62 million: ")
    assert "“In September 2021 we agreed to pay a civil penalty of $62 million" in answer.text
    assert answer.text.endswith("(ACME, p. 1)")
    assert "$62 million" in answer.evidence[0].text
    assert answer.confidence is not None


@pytest.mark.parametrize(
    ("top", "printed", "value", "shown"),
    [
        ("Notes (Dollars in Millions)", "$62", 62e6, "$62 million: "),
        ("Notes (Dollars in Thousands)", "$6,210", 6_210e3, "$6,210 thousand: "),
        ("Notes", "$62", 62.0, "$62: "),
        ("Notes (Dollars in Millions)", "$62.50", 62.5, "$62.50: "),
        ("Notes (Dollars in Millions)", "$62 million", 62e6, "$62 million: "),
        ("Notes (Dollars in Millions)", "$6,210,000", 6_210e3, "$6,210,000: "),
    ],
)
def test_an_amount_without_a_word_of_scale_has_that_of_its_page(
    top: str, printed: str, value: float, shown: str
) -> None:
    text = f"{top}\nLegal Proceedings\nIn September 2021 we agreed to pay a civil penalty of {printed} to settle.\n"
    answer = _answer(_query("How big was the civil penalty that Acme agreed to pay?"), text=text)
    assert answer is not None
    assert answer.value == pytest.approx(value)
    assert answer.text.startswith(shown)


@pytest.mark.parametrize(("year", "value"), [(2022, 5.1e9), (2021, 4.4e9)])
def test_the_year_asked_for_decides_between_figures_in_a_list(year: int, value: float) -> None:
    answer = _answer(_query(f"What were the advertising costs of Acme in fiscal {year}?", year))
    assert answer is not None
    assert answer.value == value


def test_a_count_is_asked_for_by_its_noun() -> None:
    shape = Shape(None, None, unit="count")
    answer = _answer(_query("How many holders of record did the common stock of Acme have?", shape=shape))
    assert answer is not None
    assert (answer.value, answer.unit) == (166_694.0, "count")


def test_a_question_that_states_its_unit_gets_no_other() -> None:
    query = _query("What percentage of costs was advertising?", shape=Shape(None, None, unit="percent"))
    assert _answer(query) is None


def test_no_figure_is_given_for_a_cause() -> None:
    assert _answer(_query("Why did Acme pay a civil penalty?", intents=frozenset({"cause", "words"}))) is None


def test_no_figure_is_chosen_below_the_threshold_or_without_sentences() -> None:
    query = _query("How big was the civil penalty that Acme paid to settle the investigation?")
    assert _answer(query, replace(EAGER, threshold=1.1)) is None
    assert _answer(query, text="Revenue | $1,200 | $1,100\n") is None


def test_what_no_sentence_tells_is_not_made_up() -> None:
    assert _answer(_query("What rent did Acme pay for its headquarters in Oslo?"), shipped_figure_model()) is None


def test_a_figure_of_the_question_is_marked() -> None:
    query = _query("Who received the $62 million penalty?")
    source = candidates(query, [_Facts(PAGE).page], [0.5], HashEncoder().encode_query("x"))
    found = figure_candidates(query, source)
    column = list(FEATURES).index("in_question")
    assert {f.value for f, row in zip(found.figures, found.features, strict=True) if row[column]} == {62e6}


def test_a_model_of_another_version_is_an_error() -> None:
    content = json.loads(
        fitted_json(Fitted(EAGER.weights, EAGER.answers, {"threshold": EAGER.threshold}), FEATURES, SIGNALS, {})
    )
    assert read_figure_model(json.dumps(content), "x").threshold == 0.0
    del content["weights"]["beside"]
    with pytest.raises(ModelUnavailableError, match=r"x is no model of figures.*beside.*fit it again"):
        read_figure_model(json.dumps(content), "x")
