"""Algorithm 1 over fakes: the calls of each role, their order, and the prediction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from finray.core.errors import FinrayError, ModelReplyError
from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.passages import Document, PageRef, Passage
from finray.core.predictions import Answer, Prediction, TokenUsage
from finray.core.query import Query
from finray.core.questions import Question
from finray.core.roles import FIRST, Curation, Roles, Turn
from finray.core.settings import Settings, load_settings
from finray.hirec.loop import answer_question


def passage(name: str) -> Passage:
    return Passage(f"{name}-10k", name, 0, 0, 1, name, 1.0)


@dataclass
class Fake:
    """Every role. Retrieving for a question yields passages named after it; ``curations`` are handed out in turn."""

    curations: Sequence[Curation] = ()
    per_retrieval: int = 2
    fails: dict[str, Exception] = field(default_factory=dict)
    retrieved: list[str] = field(default_factory=list)
    curated: list[list[str]] = field(default_factory=list)
    answered_from: list[str] = field(default_factory=list)
    k: set[tuple[str, int]] = field(default_factory=set)

    async def read(self, question: str, journal: Journal) -> Query:
        self._do("transform", journal)
        return Query(question=question, text=question)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        self._do("documents", journal)
        self.k.add(("documents", k))
        self.retrieved.append(query.text)
        filing = Filing(query.text, f"{query.text}-10k", "", "", "c", "10-K")
        return [Document(filing, 1.0)]

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        self._do("passages", journal)
        self.k.add(("passages", k))
        assert [d.filing.filing_id for d in documents] == [query.text]
        return [passage(f"{query.text}.{number}") for number in range(self.per_retrieval)]

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST) -> Curation:
        self._do("curate", journal)
        self.curated.append([p.filing_id for p in passages])
        return self.curations[len(self.curated) - 1]

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        self._do("answer", journal)
        self.answered_from = [p.filing_id for p in curation.kept]
        return Answer("42", "answered", 42.0, "USD", "40 + 2", curation.kept)

    def _do(self, stage: str, journal: Journal) -> None:
        journal.spend(stage, TokenUsage(10, 1))
        if stage in self.fails:
            raise self.fails[stage]


def run(fake: Any, *, repeatable: bool = False, **overrides: object) -> Prediction:
    roles = Roles(fake, fake, fake, fake, fake, repeatable=repeatable)
    return asyncio.run(answer_question(Question("q1", "q"), roles, chosen(**overrides)))


def chosen(**overrides: object) -> Settings:
    dotted = {name.replace("__", "."): value for name, value in overrides.items()}
    return load_settings(overrides=dotted, environment={})


def keep(*names: str, ask: str | None = None) -> Curation:
    missing = (f"what {ask} would bring",) if ask else ()
    return Curation(tuple(passage(name) for name in names), answerable=ask is None, missing=missing, complementary=ask)


def test_enough_evidence_stops_the_loop() -> None:
    fake = Fake([keep("q.1")])
    prediction = run(fake)
    assert prediction.status == "answered"
    assert (prediction.answer, prediction.value, prediction.unit, prediction.program) == ("42", 42.0, "USD", "40 + 2")
    assert fake.retrieved == ["q"]
    assert fake.answered_from == ["q.1"]
    assert prediction.iterations == 1
    assert [p.filing_id for p in prediction.evidence] == ["q.1"]
    assert fake.k == {("documents", 5), ("passages", 10)}


def test_what_is_missing_is_asked_for_and_joined_to_what_was_kept() -> None:
    fake = Fake([keep("q.1", ask="more"), keep("q.1", "more.0")])
    prediction = run(fake)
    assert fake.retrieved == ["q", "more"]
    assert fake.curated == [["q.0", "q.1"], ["q.1", "more.0", "more.1"]]
    assert fake.answered_from == ["q.1", "more.0"]
    assert prediction.iterations == 2
    assert [d.filing_id for d in prediction.documents] == ["q", "more"]
    assert any("what more would bring" in line and "'more'" in line for line in prediction.trace)


def test_rounds_tell_what_was_at_hand_after_each_iteration() -> None:
    prediction = run(Fake([keep("q.1", ask="more"), keep("q.1", "more.0")]))
    named = [[place.filing_id for place in places] for places in prediction.rounds]
    assert named == [["q.1", "more.0", "more.1"], ["q.1", "more.0"]]
    assert prediction.rounds[1][0] == PageRef("q.1-10k", "q.1", 0)


def test_a_page_counts_once_in_a_round() -> None:
    twice = Curation((passage("q.0"), replace(passage("q.0"), start=1)), answerable=True)
    assert len(run(Fake([twice])).rounds[0]) == 1


def test_passages_are_the_first_retrieval_before_curation() -> None:
    prediction = run(Fake([keep(ask="more"), keep("more.0")]))
    assert [p.filing_id for p in prediction.passages] == ["q.0", "q.1"]


def test_a_passage_that_is_found_again_is_kept_once() -> None:
    fake = Fake([keep("q.0", ask="q"), keep("q.0")])
    run(fake)
    assert fake.curated[1] == ["q.0", "q.1"]


def test_iterations_are_limited_and_the_last_retrieval_still_counts() -> None:
    fake = Fake([keep("q.0", ask="a"), keep("q.0", "a.0", ask="b"), keep("q.0", "a.0", "b.0", ask="c")])
    prediction = run(fake, loop__i_max=3)
    assert len(fake.curated) == prediction.iterations == 3
    assert fake.retrieved == ["q", "a", "b", "c"]
    assert fake.answered_from == ["q.0", "a.0", "b.0", "c.0", "c.1"]


@pytest.mark.parametrize(("repeatable", "retrieved"), [(False, ["q", "a", "a", "a"]), (True, ["q", "a"])])
def test_the_same_question_is_retrieved_for_once_if_it_finds_the_same(repeatable: bool, retrieved: list[str]) -> None:
    fake = Fake([keep("q.0", ask="a"), keep("q.0", "a.1", ask="a"), keep("q.0", ask="a")])
    prediction = run(fake, repeatable=repeatable, loop__i_max=3)
    assert fake.retrieved == retrieved
    assert fake.curated == [["q.0", "q.1"], ["q.0", "a.0", "a.1"], ["q.0", "a.1", "a.0"]]
    assert fake.answered_from == ["q.0", "a.0", "a.1"]
    assert prediction.iterations == len(prediction.rounds) == 3


def test_no_complementary_question_ends_the_loop() -> None:
    fake = Fake([Curation((passage("q.0"),), answerable=False, missing=("x",))])
    assert run(fake).iterations == 1
    assert fake.retrieved == ["q"]
    assert fake.answered_from == ["q.0"]


def test_at_most_max_kept_are_kept() -> None:
    fake = Fake([keep("q.0", "q.1", "q.2", ask="a"), keep()], per_retrieval=3)
    run(fake, loop__max_kept=2)
    assert fake.curated[1] == ["q.0", "q.1", "a.0", "a.1", "a.2"]


def test_without_filter_every_passage_stays() -> None:
    fake = Fake([keep(ask="a"), keep("a.0")])
    run(fake, loop__filter=False)
    assert fake.curated[1] == ["q.0", "q.1", "a.0", "a.1"]
    assert fake.answered_from == ["q.0", "q.1", "a.0", "a.1"]


def test_without_curation_the_first_retrieval_is_answered_from() -> None:
    fake = Fake()
    prediction = run(fake, loop__curate=False)
    assert fake.curated == []
    assert prediction.iterations == 0
    assert prediction.rounds == ()
    assert fake.answered_from == ["q.0", "q.1"]


@pytest.mark.parametrize("stage", ["transform", "documents", "passages", "curate", "answer"])
def test_a_failing_role_is_an_error_prediction_that_names_it(stage: str) -> None:
    prediction = run(Fake([keep("q.0")], fails={stage: ModelReplyError(f"{stage} said nonsense")}))
    assert prediction.status == "error"
    assert prediction.error == f"ModelReplyError: {stage} said nonsense"
    assert (prediction.qid, prediction.question, prediction.answer) == ("q1", "q", "")
    assert prediction.usage[stage] == TokenUsage(10, 1, calls=1)
    assert prediction.settings_hash == chosen().answer_hash()


def test_a_bug_is_not_passed_off_as_an_answer() -> None:
    with pytest.raises(ZeroDivisionError):
        run(Fake([keep("q.0")], fails={"answer": ZeroDivisionError()}))


def test_a_refusal_names_what_the_curator_missed() -> None:
    @dataclass
    class Refusing(Fake):
        async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
            return Answer("no", "unanswerable")

    fake = Refusing([Curation((), answerable=False, missing=("revenue of FY 2020",))])
    prediction = run(fake)
    assert (prediction.status, prediction.missing) == ("unanswerable", ("revenue of FY 2020",))


async def test_cancellation_passes_through() -> None:
    class Hanging(Fake):
        async def curate(
            self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST
        ) -> Curation:
            await asyncio.Event().wait()
            raise AssertionError

    fake: Any = Hanging()
    task = asyncio.create_task(answer_question(Question("q1", "q"), Roles(fake, fake, fake, fake, fake), chosen()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_usage_adds_up_by_stage() -> None:
    prediction = run(Fake([keep("q.0", ask="a"), keep("q.0")]))
    assert prediction.usage == {
        "transform": TokenUsage(20, 2, calls=2),
        "documents": TokenUsage(20, 2, calls=2),
        "passages": TokenUsage(20, 2, calls=2),
        "curate": TokenUsage(20, 2, calls=2),
        "answer": TokenUsage(10, 1, calls=1),
    }


def test_the_settings_hash_distinguishes_settings() -> None:
    first, second = run(Fake([keep("q.0")])), run(Fake([keep("q.0")]), loop__i_max=2)
    assert first.settings_hash != second.settings_hash
    assert replace(first, seconds=0.0, settings_hash="") == replace(second, seconds=0.0, settings_hash="")


def test_finray_errors_of_any_kind_are_reported() -> None:
    assert run(Fake(fails={"transform": FinrayError("no")})).error == "FinrayError: no"
