"""Fits ``finray.answering.rankings`` to the blocks and rankings of each question's retrieved pages, some of which name
its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from finray.answering.choice_model import Fitted
from finray.answering.question_heads import QuestionHeads
from finray.answering.rankings.asked import HEADS, AskedRanking, asked_ranking
from finray.answering.rankings.choice import SIGNALS, Rankings, signals, winner
from finray.answering.rankings.ranked import Ranking, rankings_of
from finray.answering.rankings.ranking_answerer import RankingAnswerer
from finray.core.arrays import Floats
from finray.core.digits import decimal_digits
from finray.core.questions import Question
from finray.index.reading.facts import FilingFacts
from finray.lab.training.answers.ranking_labels import LabelledQuestion, gold_ranking, head_data, is_ranking
from finray.lab.training.answers.recorded import Recorded
from finray.lab.training.choices import ChoiceQuestion, ChoiceTask
from finray.lab.training.logits import conditional_logit
from finray.lab.training.question.question_heads import fit_heads, held_out_heads
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.models.row_reader import row_reader
from finray.question.synonyms import words_of

RankingQuestion: TypeAlias = ChoiceQuestion[Rankings]
RANKINGS: Final = ChoiceTask[Rankings](SIGNALS, signals, wrong=0.06)
_LEAD = 90
"""Characters of an answer in which the name of the winner stands."""
_PLAIN = frozenset(words_of("the year years ended months month three six nine total net other and of in"))


@dataclass(frozen=True)
class BlockQuestion:
    """``features`` is float64 [blocks, len(BLOCK_FEATURES)], ``gold`` bool [blocks]: which have the answer."""

    features: Floats
    gold: npt.NDArray[np.bool_]


def block_question(recorded: Recorded, asked: AskedRanking, answerer: RankingAnswerer) -> BlockQuestion | None:
    """The blocks of one question, or None if no block of the retrieved pages has the answer."""
    seen = answerer.seen(recorded.query, recorded.curation, asked)
    meant = [any(is_meant(recorded.question, each) for each in rankings_of(block)) for block in seen.blocks]
    return BlockQuestion(seen.features, np.asarray(meant, dtype=bool)) if any(meant) else None


@dataclass(frozen=True)
class FittedRankings:
    """What ``finray train rankings`` writes, and the ``questions`` that the ``choice`` was fitted to."""

    heads: QuestionHeads
    blocks: Floats
    choice: Fitted
    questions: Sequence[RankingQuestion]


def fit_blocks(questions: Sequence[BlockQuestion], l2: float) -> Floats:
    """Fit the weights of BLOCK_FEATURES. Raises ValueError without a question."""
    return conditional_logit([(each.features, each.gold.astype(np.float64)) for each in questions], l2)


def ranking_question(recorded: Recorded, answerer: RankingAnswerer, source: str) -> RankingQuestion | None:
    """The rankings of one question, or None if there is none; its qid gets the prefix ``source``."""
    question = recorded.question
    competing = answerer.competing(recorded.query, recorded.curation)
    if competing is None:
        return None
    rankings = competing.found.rankings
    asks = is_ranking(question)
    right = np.asarray([asks and names_answer(question, ranking) for ranking in rankings], dtype=bool)
    gold = np.asarray([asks and is_meant(question, ranking) for ranking in rankings], dtype=bool)
    return RankingQuestion(
        f"{source}:{question.qid}",
        recorded.group,
        competing.found,
        competing.asked,
        gold,
        right | gold,
        figure=asks,
        taken=False,
    )


def is_meant(question: Question, ranking: Ranking) -> bool:
    """Whether ``ranking`` is on an evidence page and has the figures of the written program or, without one, names the
    answer and states its figures."""
    winning = ranking.block.members[ranking.winner].cells[ranking.slot]
    if not any((winning.filing.doc_name, winning.item.page) in each.places for each in question.evidence):
        return False
    cells = _winning_cells(ranking)
    written = gold_ranking(question)
    if written is not None:
        return ranking.measured == written.measured and ", ".join(cells) == written.figures
    stated = _figures(question.answer or "")
    return names_answer(question, ranking) and all(decimal_digits(text) in stated for text in cells)


def names_answer(question: Question, ranking: Ranking) -> bool:
    """Whether the gold answer begins with the words of the winner, or states a figure of it."""
    answer = question.answer or ""
    lead = answer[:_LEAD].lower()
    own = frozenset(words_of(winner(ranking))) - _PLAIN
    if ranking.block.axis != "periods" and own and own <= frozenset(words_of(lead)):
        return True
    figures = _figures(answer)
    written = gold_ranking(question)
    if written is None and ranking.block.axis == "periods" and not _names_period(lead, ranking):
        return False
    if written is not None:
        figures = {decimal_digits(text) for text in written.figures.split(", ")}
    return any(len(decimal_digits(text)) > 2 and decimal_digits(text) in figures for text in _winning_cells(ranking))


def fit_rankings(
    recorded: Sequence[tuple[str, Recorded]],
    labelled: Sequence[LabelledQuestion],
    others: Sequence[str],
    facts: FilingFacts,
    l2: float,
    progress: Progress,
) -> FittedRankings:
    """Fit heads, blocks and choice in turn to (source, recorded answer) pairs. Blocks and choice learn from heads that
    were fitted without the question's company. Raises ValueError without a question that a ranking answers."""
    reader = row_reader()
    data = head_data([each.question for _, each in recorded], labelled, others, reader)
    held_out = held_out_heads(data, HEADS)
    answerer = RankingAnswerer(facts)
    seen = []
    for number, (_, each) in enumerate(recorded):
        progress(number, 2 * len(recorded))
        if is_ranking(each.question):
            asked = asked_ranking(held_out[number], data.states[number])
            seen.append(block_question(each, asked, answerer))
    blocks = fit_blocks([each for each in seen if each is not None], l2)
    competing = []
    for number, (source, each) in enumerate(recorded):
        progress(len(recorded) + number, 2 * len(recorded))
        choosing = RankingAnswerer(facts, heads=held_out[number], blocks=blocks)
        competing.append(ranking_question(each, choosing, source))
    questions = [each for each in competing if each is not None]
    return FittedRankings(fit_heads(data, HEADS), blocks, RANKINGS.fit(questions, l2), questions)


def _names_period(lead: str, ranking: Ranking) -> bool:
    item = ranking.block.members[ranking.winner].cells[ranking.slot].item
    end = item.period_end
    if end is None:
        return False
    return str(end.year) in lead or f"{end:%B}".lower() in lead or (item.months == 3 and "quarter" in lead)


def _winning_cells(ranking: Ranking) -> list[str]:
    member = ranking.block.members[ranking.winner]
    slots = [ranking.slot] if ranking.base is None else [ranking.slot, ranking.base]
    return [member.cells[slot].item.text for slot in slots]


def _figures(text: str) -> set[str]:
    return {decimal_digits(each) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
