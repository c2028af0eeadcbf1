"""Words for comparison, and the wordings of one phrase."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.question.synonyms import MAX_VARIANTS, qualifiers, variants, words_of


def test_words_are_compared_without_endings_hyphens_and_function_words() -> None:
    assert words_of("Non-current liabilities of the U.S.") == words_of("noncurrent liability us")
    assert words_of("long-term debt") == words_of("longterm debts")
    assert words_of("long-term debt") != words_of("short-term debt")


def test_plain_speech_and_captions_are_wordings_of_each_other() -> None:
    assert words_of("accounts payable") in variants(words_of("money owed to suppliers"))
    assert words_of("trade payables") in variants(words_of("accounts payable"))
    assert words_of("other net sales") in variants(words_of("other revenue"))


def test_two_phrases_may_change_at_once() -> None:
    found = variants(words_of("domestic pretax income"))
    assert any(set(words_of("united states income before taxes")) <= set(words) for words in found)


def test_deferred_and_current_exclude_each_other() -> None:
    sides = [frozenset(words_of("current")), frozenset(words_of("deferred"))]
    assert any(list(line) == sides for line in qualifiers())


@given(st.text(max_size=200))
def test_any_text_has_few_wordings_and_is_the_first(text: str) -> None:
    words = words_of(text)
    assert variants(words)[0] == words
    assert len(variants(words)) <= MAX_VARIANTS
