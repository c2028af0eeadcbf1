"""Which company a question is about if it names none of the index: the text of the filings decides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import Engine, open_engine
from finray.index.job.in_process import index_in_process
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.company_evidence import CompanyEvidence
from finray.retrieval.company_features import FEATURES, SIGNALS
from finray.retrieval.company_model import CompanyModel, shipped_company_model
from finray.retrieval.meant_company import MeantCompany
from finray.retrieval.question_names import names_in

SETTINGS = load_settings(overrides={"encoder.model": "hash"}, environment={})
COVER = """<p>SECURITIES AND EXCHANGE COMMISSION</p><p>FORM 10-K</p>
<p>For the fiscal year ended December 31, 2022</p><p>Commission File Number 1-{number}</p>
<p>{name}</p><p>(Exact name of registrant as specified in its charter)</p><p>Delaware</p>"""
BREAK = '<hr style="page-break-after:always"/>'
STORIES = {
    "QUILLFERN CORPORATION": (
        "Business. We make lanterns under the Glowick brand. Our Glowick lanterns are sold in hardware shops.",
        "Acquisitions. In March 2022 we acquired Brassel Wicks, a maker of cotton wicks in Dunhaven, for $41 million.",
        "Glowick. Sales of Glowick lanterns rose 8% in fiscal 2022 because of a cold winter.",
    ),
    "TORVANE INDUSTRIES INC": (
        "Business. We grind lenses for telescopes and sell them to observatories under the Skyeye brand.",
        "Competition. Our competitors in lighting are many, among them Marlowe Lamps.",
        "Skyeye. Orders of Skyeye lenses fell 3% in fiscal 2022 after two observatories closed.",
    ),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder: Path = tmp_path_factory.mktemp("meant")
    for number, (name, pages) in enumerate(STORIES.items()):
        text = BREAK.join((COVER.format(name=name, number=9000 + number), *(f"<p>{page}</p>" for page in pages)))
        (folder / f"report-{number}.htm").write_text(f"<html><body>{text}</body></html>")
    index_in_process([str(folder)], str(folder / "index"), SETTINGS)
    return open_engine(str(folder / "index"), SETTINGS)


@pytest.fixture(scope="module")
def meant(engine: Engine) -> MeantCompany:
    return MeantCompany(engine.reader, CompanyCatalog(engine.reader.filings()), _by_names())


def _by_names() -> CompanyModel:
    """Weights for a test: names and words decide, and a name that no filing has counts against."""
    weights = np.asarray([{"bm25": 3.0, "named_words": 2.0, "least_held": 2.0}.get(name, 0.0) for name in FEATURES])
    sure = {"constant": -3.0, "margin": 1.0, "best_least_held": 3.0}
    return CompanyModel(weights, np.asarray([sure.get(name, 0.0) for name in SIGNALS]), 0.6)


@pytest.mark.parametrize(
    ("question", "company"),
    [
        ("How much did sales of Glowick lanterns rise in fiscal 2022?", "quillfern"),
        ("What did the buyer of Brassel Wicks pay in March 2022?", "quillfern"),
        ("The maker of Skyeye lenses saw orders fall in fiscal 2022. Why?", "torvane-industries"),
    ],
)
def test_a_brand_or_a_description_leads_to_its_company(meant: MeantCompany, question: str, company: str) -> None:
    assert meant.company(question, ()) == company


def test_a_name_that_no_filing_has_leads_to_none(meant: MeantCompany) -> None:
    assert meant.company("How much did Zorblax's sales of lanterns rise in fiscal 2022?", ("Zorblax",)) is None


def test_a_known_name_is_left_alone(meant: MeantCompany, engine: Engine) -> None:
    catalog = CompanyCatalog(engine.reader.filings())
    text = "What did Torvane Industries say of Glowick lanterns?"
    mentions = catalog.mentions(text)
    assert meant.settled(mentions, text) == mentions


def test_the_company_that_is_meant_is_known_and_its_words_stay(meant: MeantCompany, engine: Engine) -> None:
    catalog = CompanyCatalog(engine.reader.filings())
    text = "What was the growth of Glowick in fiscal 2022?"
    settled = meant.settled(catalog.mentions(text), text)
    assert settled.known == ("quillfern",)
    assert settled.unknown == ()
    assert settled.spans == ()


async def test_no_question_is_refused_before_the_filings_are_asked(engine: Engine) -> None:
    prediction = await engine.answer(Question("q", "What was the growth of Zorblax in fiscal 2022?"))
    assert prediction.status == "unanswerable"
    assert prediction.value is None


def test_features_are_in_range(engine: Engine) -> None:
    catalog = CompanyCatalog(engine.reader.filings())
    found = CompanyEvidence(engine.reader, catalog).candidates("Glowick lanterns in fiscal 2022", ())
    assert found.features.shape == (len(found.companies), len(FEATURES))
    assert np.isfinite(found.features).all()
    assert not found.nameless


def test_an_index_without_a_match_has_no_candidate(engine: Engine) -> None:
    reader: IndexReader = engine.reader
    assert CompanyEvidence(reader, CompanyCatalog(reader.filings())).candidates("zzzz", ()).companies == ()


def test_names_are_runs_of_capitals_without_possessives() -> None:
    text = "The buyer of Brassel Wicks paid Glowick's owner. Which price?"
    assert set(names_in(text, ())) == {"Brassel Wicks", "Glowick"}


def test_the_shipped_model_fits_this_version() -> None:
    model = shipped_company_model()
    assert model.weights.shape == (len(FEATURES),)
    assert 0.5 < model.threshold < 1.0
