"""Whose a name is, by what filings say of it, and what a question with that name is answered with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from finray.core.filing_filter import FilingFilter
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import Engine, open_engine
from finray.index.job.in_process import index_in_process
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.own_names import OwnNames, printed_name

SETTINGS = load_settings(overrides={"encoder.model": "hash"}, environment={})
COVER = """<p>SECURITIES AND EXCHANGE COMMISSION</p><p>FORM 10-K</p>
<p>For the fiscal year ended December 31, 2022</p><p>Commission File Number 1-{number}</p>
<p>{name}</p><p>(Exact name of registrant as specified in its charter)</p><p>Delaware</p>"""
BREAK = '<hr style="page-break-after:always"/>'
STATEMENT = """<p>CONSOLIDATED STATEMENTS OF INCOME</p><p>(in millions)</p><table>
<tr><td></td><td colspan="2">Year ended December 31,</td></tr><tr><td></td><td>2022</td><td>2021</td></tr>
<tr><td>Net sales</td><td>{sales}</td><td>900</td></tr><tr><td>Cost of sales</td><td>600</td><td>500</td></tr>
<tr><td>Operating income</td><td>210</td><td>200</td></tr><tr><td>Net income</td><td>{income}</td><td>110</td></tr>
</table>"""
SEGMENTS = """<p>Net sales by segment (in millions)</p><table>
<tr><td></td><td colspan="2">Year ended December 31,</td></tr><tr><td></td><td>2022</td><td>2021</td></tr>
<tr><td>Net sales:</td><td></td><td></td></tr><tr><td>Glowick</td><td>415</td><td>390</td></tr>
<tr><td>Wayfarer Lighting</td><td>585</td><td>510</td></tr><tr><td>Total net sales</td><td>1,000</td><td>900</td></tr>
</table>"""
OTHERS = ("Marlowe Lamps", "Öster Lysen", "Harrow Stores", "Pennant Bank", "Tallowmere", "Quillfern Insurance Trust")
FILINGS = {
    "QUILLFERN CORPORATION": (
        "Quillfern Corporation (formerly known as Brightwater Lamps, Inc.) makes lanterns and lamps.",
        "Our two segments are Glowick and Wayfarer Lighting (WL). The Glowick segment sells lanterns under our Glowick "
        "brand. The Wayfarer Lighting segment sells to hotels.",
        "Our competitors include Marlowe Lamps and Öster Lysen AB. Harrow Stores, our largest customer, bought 14% of "
        "what we sold. We have a credit agreement with Pennant Bank, N.A., as administrative agent.",
        "In 2019 we sold our candle business to Tallowmere Inc. Quillfern Insurance Trust is an unaffiliated third "
        "party.",
        STATEMENT.format(sales="1,000", income="120"),
        SEGMENTS,
    ),
    "TORVANE INDUSTRIES INC": (
        "We grind lenses for telescopes. Marlowe Lamps is a customer of ours.",
        STATEMENT.format(sales="2,500", income="95"),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    for number, (name, pages) in enumerate(FILINGS.items()):
        body = [page if page.startswith("<") else f"<p>{page}</p>" for page in pages]
        text = BREAK.join((COVER.format(name=name, number=7000 + number), *body))
        (folder / f"report-{number}.htm").write_text(f"<html><body>{text}</body></html>")
    return folder


@pytest.fixture(scope="module")
def engine(folder: Path) -> Engine:
    index_in_process([str(folder)], str(folder / "index"), SETTINGS)
    return open_engine(str(folder / "index"), SETTINGS)


@pytest.fixture(scope="module")
def own(engine: Engine) -> OwnNames:
    return OwnNames(engine.reader, CompanyCatalog(engine.reader.filings()))


@pytest.fixture
def ask(engine: Engine) -> Callable[[str], Prediction]:
    return lambda text: asyncio.run(engine.answer(Question("q", text)))


@pytest.mark.parametrize(
    ("name", "relation"), [("Brightwater Lamps", "company"), ("Glowick", "part"), ("Wayfarer Lighting", "part")]
)
def test_a_company_tells_which_names_are_its_own(own: OwnNames, name: str, relation: str) -> None:
    owner = own.owner(name)
    assert owner is not None
    assert (owner.company, owner.relation) == ("quillfern", relation)
    assert name in owner.sentence


@pytest.mark.parametrize("name", OTHERS)
def test_names_of_others_are_nobodys_own(own: OwnNames, name: str) -> None:
    assert own.owner(name) is None


def test_an_abbreviation_that_a_filing_defines_is_a_spelling(own: OwnNames) -> None:
    owner = own.owner("Wayfarer Lighting")
    assert owner is not None
    assert owner.spellings == ("Wayfarer Lighting", "WL")


def test_a_name_is_found_in_any_punctuation_and_without_its_legal_form() -> None:
    pattern = printed_name("Procter & Gamble Co.")
    assert pattern.search("by PROCTER AND GAMBLE in")
    assert pattern.search("Procter &amp; Gamble".replace("&amp;", "&"))
    assert not pattern.search("Procter Gambles")
    assert printed_name("Sam's Club").search("at Sam’s Club stores")


@pytest.mark.parametrize(
    "name",
    [
        "Marlowe Lamps",
        "Öster Lysen",
        "Harrow Stores",
        "Pennant Bank",
        "Tallowmere",
        "Quillfern Insurance Trust",
        "Zorblax",
    ],
)
@pytest.mark.parametrize("metric", ["net sales", "operating income", "net income"])
def test_a_company_that_a_filing_only_names_is_not_in_the_index(
    ask: Callable[[str], Prediction], name: str, metric: str
) -> None:
    prediction = ask(f"What was {name}'s {metric} in fiscal 2022?")
    assert prediction.status == "unanswerable"
    assert prediction.value is None
    assert f"filings of {name}" in prediction.answer


def test_a_former_name_is_answered_for_its_company(ask: Callable[[str], Prediction]) -> None:
    prediction = ask("What was Brightwater Lamps' net income in fiscal 2022?")
    assert prediction.value == 120e6
    assert "QUILLFERN CORPORATION" in prediction.answer
    assert any("formerly known as Brightwater Lamps" in passage.text for passage in prediction.evidence)


def test_a_segment_is_answered_by_rows_that_name_it_and_by_no_other(ask: Callable[[str], Prediction]) -> None:
    assert ask("What were Glowick's net sales in fiscal 2022?").value == 415e6
    assert ask("What was Glowick's net income in fiscal 2022?").value is None
    assert ask("What were Wayfarer Lighting's total assets in fiscal 2022?").value is None


def test_a_question_without_a_company_asks_which(ask: Callable[[str], Prediction]) -> None:
    prediction = ask("What was net income in fiscal 2022?")
    assert (prediction.status, prediction.value) == ("unanswerable", None)
    assert prediction.unclear == "which company it means (QUILLFERN CORPORATION, TORVANE INDUSTRIES INC)"
    assert prediction.passages


async def test_a_filter_that_leaves_one_company_says_which(engine: Engine) -> None:
    question = Question("q", "What was net income in fiscal 2022?")
    one = await engine.answer(question, narrowed=FilingFilter(companies=("TORVANE INDUSTRIES INC",)))
    assert one.value == 95e6
    both = await engine.answer(question, narrowed=FilingFilter(fiscal_years=(2022,)))
    assert both.unclear is not None


async def test_the_only_company_of_an_index_is_meant_and_named(folder: Path, tmp_path: Path) -> None:
    index_in_process([str(folder / "report-1.htm")], str(tmp_path / "index"), SETTINGS)
    alone = open_engine(str(tmp_path / "index"), SETTINGS)
    prediction = await alone.answer(Question("q", "What was net income in fiscal 2022?"))
    assert prediction.value == 95e6
    assert prediction.answer.endswith("(TORVANE INDUSTRIES INC, FY2022)")
    other = await alone.answer(Question("q", "What was Marlowe Lamps' net income in fiscal 2022?"))
    assert other.value is None


def test_all_companies_of_the_index_are_compared(ask: Callable[[str], Prediction]) -> None:
    assert ask("Which of them had the highest revenue in fiscal 2022?").answer.startswith("TORVANE INDUSTRIES INC")
    ranked = ask("Rank all companies by net income in fiscal 2022").answer
    assert ranked.index("QUILLFERN") < ranked.index("TORVANE")
