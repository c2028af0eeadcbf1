"""Answers in words: at most three sentences of the passages' pages, quoted as printed, each with its page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from finray.answering.asked_words import asked_words
from finray.answering.qualifiers import contradicts_text, sides_of
from finray.answering.sentences.cues import kinds_asked
from finray.answering.sentences.features import Candidates
from finray.answering.sentences.kinds import asked_kind
from finray.answering.sentences.model import SentenceModel, choose, shipped_sentence_model
from finray.answering.sentences.quotes import matched_share, quoted_number
from finray.answering.sentences.read import SentenceFinder
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.filings.pages.sentences import BULLETS, Sentence, page_sentences
from finray.index.reading.facts import FilingFacts, IndexedPage
from finray.question.measures.definitions import unread_definition
from finray.question.synonyms import word_set

_MIN_HELD = 0.6
"""Least share, in the sentences, of the words that narrow a known metric ("net interest margin")."""
_MIN_COVERAGE = 0.5
"""Least share of the question's words in sentences whose figure is the answer."""
_EVENT = re.compile(r"Item [1-8]\.\d\d\b", re.I)
_ASKS_WHAT = re.compile(r"\bwhat (?:did|does|do|would|will|had|has|have|happen\w*)\b", re.I)
"""Questions for an act and not for an amount: "what did it change"."""
_NEAREST = 3


class WordsAnswerer:
    """Chooses sentences by ``model``, by default the one that comes with finray."""

    def __init__(self, facts: FilingFacts, sentences: SentenceFinder, model: SentenceModel | None = None) -> None:
        self._facts = facts
        self._sentences = sentences
        self._model = model

    def answer(self, query: Query, passages: Sequence[Passage], journal: Journal, *, amount: bool = False) -> Answer:
        """The sentences that answer, else a refusal with the closest passages. ``amount``: the question may ask for an
        amount, which no row surely prints."""
        found = self._sentences.find(query, passages)
        if (event := self._event(query, passages, found.pages)) is not None:
            return event
        if not found.sentences:
            return self._refused(query, found.pages, amount=amount)
        model = self._model or shipped_sentence_model()
        scores, kind = model.scores(found.features), asked_kind(query)
        asked = sides_of(query)
        able = [
            kind.held_by(sentence) and not (kind.of_figure and contradicts_text(asked, sentence.text))
            for sentence in found.sentences
        ]
        if not any(able):
            journal.note(f"answer: no sentence holds what is asked for: {kind.kind or 'more than a pointer'}")
            return self._refused(query, found.pages, amount=amount)
        chosen = choose(found, scores, able)
        probability = model.probability(found, scores, chosen)
        journal.note(f"answer: {len(chosen)} of {len(found.sentences)} sentences answer with {probability:.2f}")
        text = " ".join(found.sentences[number].text for number in chosen)
        surely = amount and not _ASKS_WHAT.search(query.text)
        if probability < (model.amount_threshold if surely else model.threshold):
            return self._refused(query, found.pages, amount=amount)
        cited, evidence = cited_sentences(query, found, chosen, passages)
        number = quoted_number(query.question, text) if _is_about(query, text) else None
        if number is None:
            return Answer(cited, "answered", evidence=evidence)
        return Answer(cited, "answered", number.value, number.unit, evidence=evidence)

    def _refused(self, query: Query, pages: Sequence[IndexedPage], *, amount: bool) -> Answer:
        """A refusal with the closest pages."""
        unread = unread_definition(query.question)
        other = (f"a definition that is understood, in place of {excerpt(unread, 80)!r}",) if unread else ()
        answer = Answer.refused(*other, f"{'a figure for' if amount else 'a sentence that answers'} {query.worded!r}")
        return replace(answer, nearest=tuple(map(self._named, pages[:_NEAREST])))

    def _named(self, page: IndexedPage) -> str:
        """The page with its first heading, if it has one."""
        title = page.headings.partition("\n")[0]
        return f"{title} {_page(self._facts.filing(page.filing_id).doc_name, page)}".lstrip()

    def _event(self, query: Query, passages: Sequence[Passage], pages: Sequence[IndexedPage]) -> Answer | None:
        """The event of a current report: the first sentence under its first Item that is not a list of exhibits (Form
        8-K, General Instruction B). A question about the reported event shares no words with it."""
        if not (passages and "8-K" in query.forms and "event" in query.intents):
            return None
        filing = self._facts.filing(passages[0].filing_id)
        if not filing.form.startswith("8-K"):
            return None
        for page in sorted((p for p in pages if p.filing_id == filing.filing_id), key=lambda p: p.page):
            for sentence in page_sentences(page.text, page.headings):
                if _EVENT.match(sentence.heading):
                    evidence = _passage(page, filing.doc_name, sentence.start, sentence.end, passages[0].score)
                    return Answer(f"“{sentence.text}” {_page(filing.doc_name, page)}", "answered", evidence=(evidence,))
        return None


def _is_about(query: Query, text: str) -> bool:
    """Whether the question may ask for a figure, and ``text`` has enough of its words to state that figure."""
    wanted = asked_words(query)
    held = len(word_set(text).intersection(wanted))
    narrower = bool(query.metrics) and matched_share(query.unexplained, text) < _MIN_HELD
    return "words" not in query.intents and held >= _MIN_COVERAGE * len(wanted) and not narrower


def cited_sentences(
    query: Query, found: Candidates, chosen: Sequence[int], passages: Sequence[Passage]
) -> tuple[str, tuple[Passage, ...]]:
    """Quotes the chosen sentences in the order of the pages, neighbors together. Returns the quotations, and the
    stretches of pages that they are from."""
    parts: list[str] = []
    evidence: list[Passage] = []
    for run in _runs(chosen, found):
        page = found.pages[found.numbers[run[0]]]
        sentences = [found.sentences[number] for number in run]
        text = " ".join(sentence.text for sentence in sentences).lstrip(BULLETS + " ")
        source = next(p for p in passages if (p.filing_id, p.page) == (page.filing_id, page.page))
        parts.append(f"{_lead(query, sentences)}“{text}” {_page(source.doc_name, page)}")
        evidence.append(_passage(page, source.doc_name, sentences[0].start, sentences[-1].end, source.score))
    return " ".join(parts), tuple(evidence)


def _runs(chosen: Sequence[int], found: Candidates) -> list[list[int]]:
    """``chosen`` in the order of the filing, in runs of sentences with nothing printed between them."""
    runs: list[list[int]] = []
    for number in sorted(chosen, key=lambda n: (found.pages[found.numbers[n]].page, found.sentences[n].start)):
        page, sentence = found.pages[found.numbers[number]], found.sentences[number]
        if runs and found.numbers[runs[-1][-1]] == found.numbers[number]:
            between = page.text[found.sentences[runs[-1][-1]].end : sentence.start]
            if not between.strip():
                runs[-1].append(number)
                continue
        runs.append([number])
    return runs


def _lead(query: Query, sentences: Sequence[Sentence]) -> str:
    """The heading, if it has words of the question that the sentences lack, or may be the person asked for."""
    heading = sentences[0].heading
    own = word_set(" ".join(sentence.text for sentence in sentences))
    lacking = set(asked_words(query)) & word_set(heading) - own
    return f"{heading}: " if heading and (lacking or "person" in kinds_asked(query)) else ""


def _page(doc_name: str, page: IndexedPage) -> str:
    return f"({doc_name}, p. {page.page + 1})"


def _passage(page: IndexedPage, doc_name: str, start: int, end: int, score: float) -> Passage:
    return Passage(doc_name, page.filing_id, page.page, start, end, page.text[start:end], score)
