"""Recall and precision over k and over the iterations of the loop, on rankings scored by hand."""

from __future__ import annotations

from finray.core.passages import PageRef, Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.curves import curves_over_iterations, curves_over_k

GOLD = (GoldEvidence("A", 1), GoldEvidence("A", 2))


def passage(doc: str, page: int) -> Passage:
    return Passage(doc, doc, page, 0, 1, "x", 1.0)


def ref(doc: str, page: int) -> PageRef:
    return PageRef(doc, doc, page)


def pair(*places: tuple[str, int], rounds: tuple[tuple[PageRef, ...], ...] = ()) -> tuple[Question, Prediction]:
    prediction = Prediction("q", "q?", "", "answered", passages=tuple(passage(*p) for p in places), rounds=rounds)
    return Question("q", "q?", evidence=GOLD), prediction


def values(curve: dict[int, object]) -> list[float]:
    return [getattr(point, "value", None) or 0.0 for _, point in sorted(curve.items())]


def test_curves_end_with_the_longest_ranking() -> None:
    curves = curves_over_k([pair(("B", 1), ("A", 1), ("A", 2)), pair(("A", 1))])
    assert values(dict(curves["document_recall"])) == [0.5, 1.0, 1.0]
    assert values(dict(curves["page_recall"])) == [0.25, 0.5, 0.75]
    assert values(dict(curves["page_precision"])) == [0.5, 0.75, (2 / 3 + 1) / 2]
    assert curves["page_recall"][3].n == 2


def test_curves_end_at_k_max() -> None:
    assert list(curves_over_k([pair(*(("A", page) for page in range(50)))])["page_recall"]) == list(range(1, 21))


def test_questions_without_evidence_are_left_out() -> None:
    bare = (Question("r", "r?"), pair(("A", 1))[1])
    assert curves_over_k([pair(("A", 1)), bare])["page_recall"][1].n == 1
    assert curves_over_k([bare])["page_recall"] == {}


def test_iterations_start_at_the_first_retrieval_and_ended_loops_keep_what_they_had() -> None:
    two = pair(("B", 1), rounds=((ref("A", 1),), (ref("A", 1), ref("A", 2))))
    one = pair(("A", 1), ("A", 2), rounds=((ref("A", 1),),))
    curves = curves_over_iterations([two, one])
    assert values(dict(curves["page_recall"])) == [0.5, 0.5, 0.75]
    assert values(dict(curves["page_precision"])) == [0.5, 1.0, 1.0]


def test_a_loop_without_iterations_keeps_its_first_retrieval() -> None:
    looped = pair(("B", 1), rounds=((),))
    assert values(dict(curves_over_iterations([looped, pair(("A", 1))])["page_recall"])) == [0.25, 0.25]
    assert curves_over_iterations([pair(("A", 1))]) == {}
