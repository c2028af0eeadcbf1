"""The order of a bulk run: questions about the same companies one after another, each company at one worker.

Reading the pages and line items of a company's filings costs as much as answering a question about them, and a worker
keeps only some filings in memory. Questions that jump between companies therefore take twice the time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest

from finray.core.questions import Question
from finray.question.companies.catalog import CompanyCatalog

Topic = tuple[str, ...]
"""The companies that a question names, in order; empty if it names none of the index."""
TopicOf = Callable[[Question], Topic]
_READ_CHARACTERS = 2_000
"""Of longer questions only the beginning is read: a topic only saves time."""


def topics_in(catalog: CompanyCatalog) -> TopicOf:
    """The topic of a question, by the companies of ``catalog`` (0.1 ms)."""
    return lambda question: tuple(sorted(catalog.mentions(question.question[:_READ_CHARACTERS]).known))


def by_topic(questions: Iterable[Question], topic_of: TopicOf, streams: int) -> list[Question]:
    """``questions`` dealt to ``streams`` workers: each stream has the questions of a topic one after another, and about
    as many questions as the others. The streams alternate."""
    topics: dict[Topic, list[Question]] = {}
    for question in questions:
        topics.setdefault(topic_of(question), []).append(question)
    shares: list[tuple[int, int, list[Question]]] = [(0, number, []) for number in range(max(1, streams))]
    for group in sorted(topics.values(), key=len, reverse=True):
        count, number, stream = shares[0]
        stream.extend(group)
        heapq.heapreplace(shares, (count + len(group), number, stream))
    ordered: Sequence[list[Question]] = [stream for _, _, stream in sorted(shares, key=lambda share: share[1])]
    return [question for question in chain.from_iterable(zip_longest(*ordered)) if question is not None]
