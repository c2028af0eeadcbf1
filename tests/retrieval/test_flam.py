"""FinGEAR's lexicon: terms in text, weights of Items, budgets."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import SettingsError
from finray.core.method_settings import FingearParameters
from finray.models.hash_encoder import HashEncoder
from finray.retrieval.flam import (
    Flam,
    Lexicon,
    PhraseMatcher,
    count_terms,
    item_budgets,
    item_weights,
    lexicon_terms,
    term_weights,
)

TERMS = ("capital ratio", "CET1", "CET1 ratio", "net income", "R&D")
LEXICON = Lexicon(TERMS, HashEncoder(16).encode_passages(TERMS), ((0, 1, 2), (3, 4)))
COUNTS = st.dictionaries(
    st.sampled_from(["1", "1A", "3", "7", "7A", "8"]),
    st.dictionaries(st.integers(0, 4), st.integers(0, 50)),
    min_size=1,
)


def found(text: str) -> list[str]:
    return [TERMS[number] for number in PhraseMatcher(TERMS).find(text)]


def test_the_longest_term_wins_whatever_its_case_and_endings() -> None:
    assert found("What was JPMorgan Chase & Co.'s CET1 ratio in 2008?") == ["CET1 ratio"]
    assert found("CET1 rose; both capital\nratios and R&D too") == ["CET1", "capital ratio", "R&D"]
    assert found("net incomes, net outcomes") == ["net income"]
    assert found("") == []


def test_the_shipped_lexicon_has_the_terms_of_the_paper_and_the_names_of_line_items() -> None:
    terms = lexicon_terms("")
    assert {"CET1 ratio", "capital ratio", "net income", "operating income"} <= {*terms}
    assert len(terms) > 400


def test_a_lexicon_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "finrad.txt"
    file.write_text("# source: FinRAD\nEBITDA\nebitda\n\nbook-to-bill ratio\n", "utf-8")
    assert lexicon_terms(str(file)) == ("book-to-bill ratio", "EBITDA")
    file.write_text("#\n\n", "utf-8")
    with pytest.raises(SettingsError, match="has 0 terms; give 1 to"):
        lexicon_terms(str(file))


def test_weights_are_the_relative_frequencies_of_figure_2() -> None:
    """However the occurrences of an Item are divided between the terms."""
    counts = {"1": {0: 22}, "1A": {0: 10, 1: 4}, "7": {1: 40, 2: 24}}
    assert item_weights(counts) == pytest.approx({"1": 0.22, "1A": 0.14, "7": 0.64})


def test_the_other_weightings_damp_or_sharpen_frequent_terms() -> None:
    counts = {0: 60, 1: 30, 2: 10, 3: 0}
    relative = term_weights(counts)
    assert relative == {0: 0.6, 1: 0.3, 2: 0.1}
    assert term_weights(counts, "logarithmic")[0] < relative[0] < term_weights(counts, "exponential")[0]
    dominant = {0: 60} | dict.fromkeys(range(1, 9), 5)
    assert term_weights(dominant, "softmax")[0] > 0.9 > term_weights(dominant)[0]
    items = {"7": {0: 60}, "8": {1: 30, 2: 10}, "9": {3: 0}}
    assert item_weights(items, "logarithmic")["8"] > item_weights(items)["8"]
    assert item_weights(items, "softmax")["9"] == 0.0
    assert item_weights({"1": {}, "7": {0: 0}}) == {}


def test_budgets_of_the_papers_example() -> None:
    """k = 10: "Item 7 receives 6, Item 1 2, and Item 1A 2"."""
    assert item_budgets({"7": 0.6, "1": 0.2, "1A": 0.2}, 10) == {"7": 6, "1": 2, "1A": 2}


def test_what_rounding_leaves_goes_to_the_larger_weight() -> None:
    """With the weights of figure 2 rounding gives 6 + 2 + 1; Items 7 and 1A lost 0.4 each."""
    assert item_budgets({"7": 0.64, "1": 0.22, "1A": 0.14}, 10) == {"7": 7, "1": 2, "1A": 1}


@given(COUNTS, st.integers(0, 40), st.sampled_from(["relative", "logarithmic", "exponential", "softmax"]))
def test_weights_add_up_to_one_and_budgets_to_k(counts: dict[str, dict[int, int]], k: int, weighting: str) -> None:
    weights = item_weights(counts, weighting)
    if not weights:
        assert not any(any(found.values()) for found in counts.values()) and item_budgets(weights, k) == {}
        return
    assert math.isclose(sum(weights.values()), 1.0) and min(weights.values()) >= 0
    budgets = item_budgets(weights, k)
    assert sum(budgets.values()) == k and min(budgets.values()) >= 0
    assert all(abs(budgets[item] - k * weight) <= 1.5 for item, weight in weights.items())


def flam(**chosen: object) -> Flam:
    counts = count_terms(
        PhraseMatcher(TERMS), {"7": ["CET1 and capital ratios", "net income"], "8": ["CET1 ratio"] * 3}
    )
    return Flam(LEXICON, counts, FingearParameters.model_validate(chosen))


def test_terms_of_the_same_cluster_count_too() -> None:
    weights, terms = flam().weights("What was the CET1 ratio?", np.zeros(16, np.float32), ["7", "8", "9"])
    assert terms == ["CET1 ratio"]
    assert weights == pytest.approx({"7": 0.4, "8": 0.6, "9": 0.0})


def test_a_question_without_a_term_takes_the_nearest_one() -> None:
    vector = HashEncoder(16).encode_query("net income")
    weights, terms = flam().weights("How much was earned?", vector, ["7", "8"])
    assert terms == ["net income"] and weights == {"7": 1.0, "8": 0.0}


def test_nothing_tells_items_apart_without_flam_or_if_no_term_occurs() -> None:
    assert flam(flam=False).weights("CET1 ratio", np.zeros(16, np.float32), ["7", "8"]) == ({}, [])
    assert flam().weights("CET1 ratio", np.zeros(16, np.float32), ["9", "9A"]) == ({}, ["CET1 ratio"])


def test_a_lexicon_is_stored_with_its_vectors_and_clusters() -> None:
    again = Lexicon.from_bytes(LEXICON.to_bytes())
    assert (again.terms, again.clusters) == (LEXICON.terms, LEXICON.clusters)
    np.testing.assert_array_equal(again.vectors, LEXICON.vectors)
    assert again.expanded([3]) == {3, 4} and again.nearest(LEXICON.vectors[2]) == 2


def test_clusters_come_from_the_vectors() -> None:
    chosen = FingearParameters(reduction="spectral", dimension=2)
    lexicon = Lexicon.of(lexicon_terms("")[:60], HashEncoder(), chosen)
    assert {term for members in lexicon.clusters for term in members} == set(range(60))
