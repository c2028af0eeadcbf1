"""Reads yes-or-no judgements about a company, such as "is it capital-intensive": which ratios decide a question, by
which criterion, and what the question claims."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from finray.core.plan import Formula
from finray.core.query import Query
from finray.models.encoder import Encoder, Vectors
from finray.question.intents import masked
from finray.question.measures.formulas import formula_of, formulas, line_items_of
from finray.question.measures.mentions import mentions
from finray.question.measures.phrase import without_context
from finray.question.plans.judgement_criteria import NOTHING, Concentration, Ratio, Topic, criteria, spaced

MIN_SIMILARITY = 0.57
"""Least cosine between a question and a prototype of a topic; fitted on the development questions."""
MIN_LEAD = 0.08
"""Least lead over the prototypes of questions that are not judgements."""
MAX_METRICS = 3
"""Most metrics whose movement is judged together."""
_SENTENCE_END = re.compile(r"(?<=[.?!:;])\s+")
_CLAUSE = re.compile(r"(?:^|,|\s[-–—]\s)\W*(?:and |or |but |so |then )?(\w+)\b")
_BOUND = re.compile(
    r"\b(above|over|more than|greater than|higher than|exceed\w*|at least|below|under|less than|lower than)\s+"
    r"(\d+(?:\.\d+)?)\s*(%|per ?cent)?",
    re.I,
)
_BELOW = frozenset({"below", "under", "less than", "lower than"})
_PART_OF = re.compile(
    r"\b(?:sales|revenues?|profits?|margins?|business|growth) (?:of|from|in|on|for)(?: its| the| their)?$"
)
"""Before the name of a part of the company: "sales of valves"."""
_NO_MARKS = str.maketrans(',.;:?!"()', " " * 9)
_NEAR = 40
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w&.’'-]*[a-z]")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a question asks to judge. ``static``: the level of ``ratios``; ``trend``: how they moved since the period
    before. ``claim`` is 1 if the question claims a yes or a rise, -1 for the opposite, 0 if it names both or neither.
    ``quality``: it claims better or worse, not more or less."""

    topic: Topic | None
    ratios: tuple[Ratio, ...]
    static: bool
    trend: bool
    claim: int
    quality: bool
    surplus: tuple[str, str] | None = None
    """Of a cover ratio: the expressions of what pays and of what has to be paid."""


class Prototypes:
    """Example questions of each topic, for comparison by meaning; encoded when first needed. The encoder should be a
    transformer, for which the thresholds are fitted: cosines of summed word vectors are high for any two questions."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def nearest(self, text: str) -> Topic | None:
        """The topic of the example nearest to ``text``; None if it is far, or one that is not a judgement is near."""
        topics, vectors = self._examples
        near = vectors @ self._encoder.encode_query(text)
        best = int(np.argmax(near))
        other = max(float(score) for score, topic in zip(near, topics, strict=True) if topic is None)
        sure = near[best] >= MIN_SIMILARITY and near[best] - other >= MIN_LEAD
        return topics[best] if sure else None

    @cached_property
    def _examples(self) -> tuple[tuple[Topic | None, ...], Vectors]:
        """The topic of each example, None for questions that are not judgements, and their vectors."""
        known = criteria()
        asks = [(topic, ask) for topic in known.topics for ask in topic.asks] + [(None, ask) for ask in known.other]
        vectors = self._encoder.encode_passages([spaced(ask) for _, ask in asks])
        return tuple(topic for topic, _ in asks), vectors


def judgement_of(query: Query, prototypes: Prototypes) -> Judgement | None:
    """What ``query`` asks to judge; None if it asks for no verdict, or for one that the statements cannot decide: about
    a segment, a product, adjusted figures, several companies."""
    known = criteria()
    sentences = [s for s in _SENTENCE_END.split(query.question) if _asks_verdict(s)]
    if not sentences or len(query.companies) > 1 or "which" in query.intents:
        return None
    asked = _plain(" ".join(sentences), query)
    named = {word for sentence in sentences for word in _NAME.findall(without_context(sentence, query.names))}
    if known.narrow.search(_plain(query.text, query)) or any(word.lower() in query.unexplained for word in named):
        return None
    narrow = {word for word in query.unexplained if not known.explained.fullmatch(spaced(word))}
    if any(_is_part(spaced(word), asked) for word in narrow):
        return None
    claim, quality = _claim(asked)
    moving = [known.trend.search(_plain(sentence, query)) is not None for sentence in sentences]
    several = len(set(query.asked)) > 1
    base = Judgement(None, (), not all(moving) and not several, any(moving) or several, claim, quality)
    metrics = tuple(dict.fromkeys(span.value for span in mentions(" ".join(sentences)))) or query.metrics
    return (
        _bounded(query, base, metrics)
        or _covering(asked, sentences, base)
        or _on_topic(query, asked, metrics, base)
        or _moved(query, metrics, base)
        or _meant(query, asked, prototypes, base)
    )


def doubts(question: str) -> bool:
    """Whether ``question`` allows that its ratio may be meaningless for the company."""
    return criteria().doubt.search(question.lower()) is not None


def concentration_of(query: Query) -> Concentration | None:
    """How to judge whether the company depends on few customers; None unless ``query`` asks for that."""
    known = criteria()
    sentences = [s for s in _SENTENCE_END.split(query.question) if _asks_verdict(s)]
    asked = _plain(" ".join(sentences), query)
    about = known.concentration.customers.search(asked) and known.depends.search(asked)
    return known.concentration if about and len(query.companies) < 2 else None


def _asks_verdict(sentence: str) -> bool:
    opens = criteria().opens
    return (
        any(match[1].lower() in opens for match in _CLAUSE.finditer(sentence))
        or criteria().verdict.search(spaced(sentence)) is not None
    )


def _bounded(query: Query, base: Judgement, metrics: Sequence[str]) -> Judgement | None:
    """The judgement of a question with a criterion of its own: "was the current ratio above 1.0"."""
    bound = _BOUND.search(query.question)
    rates = [key for key in metrics if key in formulas() and formulas()[key].unit in ("ratio", "percent")]
    if bound is None or len(rates) != 1:
        return None
    value = float(bound[2]) / (100 if bound[3] else 1)
    line = f"{bound[2]}{bound[3] or ''}"
    ratio = replace(_ratio_of(rates[0]), yes=value, no=value, says=f"{line} the line")
    topic = Topic("", (ratio,), f"above {line}", f"below {line}", "", NOTHING, NOTHING)
    claim = -1 if bound[1].lower() in _BELOW else 1
    return replace(base, topic=topic, ratios=(ratio,), static=True, trend=False, claim=claim, quality=False)


def _covering(asked: str, sentences: Sequence[str], base: Judgement) -> Judgement | None:
    """The judgement whether one figure pays for others, by the words of the sentences that ask."""
    known = criteria()
    if known.cover.search(asked) is None:
        return None
    text = " ".join(sentences)
    keys = [span.value for span in mentions(text)]
    text = spaced(masked(text, mentions(text), "|"))
    for words, key in known.cover_names:
        if words.search(text):
            text = words.sub("|", text)
            keys.append(key)
    uses = [key for key in dict.fromkeys(keys) if key in known.uses]
    sources = [key for key in dict.fromkeys(keys) if key in known.sources and key not in uses]
    if not uses or (uses == ["interest_expense"] and not sources):
        return None  # the topic of interest coverage asks for more than a cover of 1
    source = sources[0] if sources else known.uses[uses[0]]
    if "capex" in uses and source == "free_cash_flow":
        source = "operating_cash_flow"
    pays, due = formula_of(source).expression, " + ".join(uses)
    names = f"{formula_of(source).names[0]} to {' plus '.join(formula_of(key).names[0] for key in uses)}"
    formula = Formula("cover", (names,), f"({pays}) / ({due})", "ratio")
    ratio = Ratio(formula, 1.0, 1.0, "a ratio of at least 1 cover")
    topic = Topic("cover", (ratio,), "covered", "not covered", "", NOTHING, NOTHING)
    return replace(base, topic=topic, ratios=(ratio,), static=True, claim=1, quality=False, surplus=(pays, due))


def _on_topic(query: Query, asked: str, metrics: Sequence[str], base: Judgement) -> Judgement | None:
    """The judgement on a topic that is named by its words, or by one of its ratios and a word such as "healthy"."""
    topics = criteria().topics
    found = next((topic for topic in topics if topic.subjects.search(asked)), None)
    if found is None and base.static and base.quality:
        found = next((t for t in topics if any(r.formula.key in metrics for r in t.ratios)), None)
    if found is None or (found.compares and set(metrics) - {r.formula.key for r in found.ratios}):
        return None
    if found.compares and _left(query, found):
        return None
    named = [ratio for ratio in found.ratios if ratio.formula.key in query.metrics and ratio.formula.key in formulas()]
    own = named or [ratio for ratio in found.ratios if not ratio.optional or found.compares]
    return _of_topic(found, replace(base, ratios=tuple(own)), asked)


def _moved(query: Query, metrics: Sequence[str], base: Judgement) -> Judgement | None:
    """The judgement on how the metrics moved that the question names, unless another word narrows them."""
    if not base.trend or not metrics:
        return None
    covered = line_items_of(key for key in metrics if key in formulas())
    ratios = tuple(_ratio_of(key) for key in metrics if key not in covered)
    return None if _left(query) or not ratios else replace(base, ratios=ratios[:MAX_METRICS], static=False)


def _left(query: Query, topic: Topic | None = None) -> bool:
    """Whether a word of the question is left unexplained: it may narrow what is compared."""
    explained = criteria().explained
    rest = topic.subjects.sub(" ", spaced(query.question)) if topic is not None else spaced(query.question)
    return any(spaced(w) in rest and not explained.fullmatch(spaced(w)) for w in query.unexplained)


def _is_part(word: str, asked: str) -> bool:
    """Whether ``word`` names a part of the company: "the valves business", "sales of valves"."""
    padded = f" {asked.translate(_NO_MARKS)} "
    before = (
        f" {word} {noun}" for noun in ("business", "unit", "arm", "line", "operations", "sales", "revenue", "profit")
    )
    if any(part in padded for part in before):
        return True
    start, found, _ = padded.partition(f" {word} ")
    return bool(found) and _PART_OF.search(start[-_NEAR:]) is not None


def _meant(query: Query, asked: str, prototypes: Prototypes, base: Judgement) -> Judgement | None:
    """The judgement on the topic whose prototypes are nearest in meaning."""
    topic = prototypes.nearest(asked)
    if topic is None or (topic.compares and _left(query, topic)):
        return None
    return _of_topic(topic, replace(base, ratios=tuple(r for r in topic.ratios if not r.optional)), asked)


def _of_topic(topic: Topic, base: Judgement, asked: str) -> Judgement:
    """``base`` on ``topic``: its level, or its movement if the topic compares."""
    if topic.compares:
        return replace(base, topic=topic, static=False, trend=True)
    claim = base.claim
    if base.static:
        claim = (claim or 1) if base.quality else -1 if topic.inverted.search(asked) else 1
    return replace(base, topic=topic, claim=claim)


def _claim(text: str) -> tuple[int, bool]:
    """The claim in ``text`` (1, -1, or 0 for neither or both), and whether it is about better or worse."""
    words = criteria().claims
    better, worse, more, less = (words[name].search(text) is not None for name in ("better", "worse", "more", "less"))
    if better or worse:
        return (better or more) - (worse or less), True
    return more - less, False


def _plain(text: str, query: Query) -> str:
    """``text`` without periods and companies, lower case, hyphens as spaces."""
    return spaced(without_context(text, query.names))


def _ratio_of(key: str) -> Ratio:
    return Ratio(formula_of(key), lower=key in criteria().lower)
