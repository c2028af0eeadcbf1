"""The words of a question to look for in sentences and rows."""

from __future__ import annotations

import re
from typing import Final

from finray.core.query import Query
from finray.core.vocabulary import YEAR
from finray.question.synonyms import words_of
from finray.question.terms import stem
from finray.question.words import word_list

_STOP: Final = frozenset(stem(word) for word in word_list("stop")) | {"that", "not"}
_YEAR: Final = re.compile(YEAR)


def asked_words(query: Query) -> tuple[str, ...]:
    """The words of the question without company names, years and function words, each once."""
    names = {word for name in query.names for word in words_of(name)}
    words = (word for word in words_of(query.text) if word not in names and word not in _STOP)
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and not _YEAR.fullmatch(word)))
