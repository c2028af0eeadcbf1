"""Reports whose cover could not be read: found by the names in their text, and never before a filing that matches."""

from __future__ import annotations

from pathlib import Path

import pytest

from finray.core.filing import UNIDENTIFIED
from finray.core.journal import Journal
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import Engine, open_engine
from finray.index import layout, schema
from finray.index.job.in_process import index_in_process
from finray.index.job.summary import IndexSummary

SETTINGS = load_settings(overrides={"encoder.model": "hash"}, environment={})
COVER = """SECURITIES AND EXCHANGE COMMISSION
FORM 10-K
For the fiscal year ended December 31, {year}
Commission File Number 1-9595
QUILLFERN CORPORATION
(Exact name of registrant as specified in its charter)
Delaware
"""
STORY = """What {name} makes, and for whom.
{name} makes lanterns. Its registered shareholders approved the annual report in May. The registrant employs 400 people.
The securities exchange act applies. {name} faces {risk} as its principal risk in fiscal year {year}. {itself}
"""
ITSELF = "This Annual Report on Form 10-K covers the year ended December 31, 2022. This Form 10-K has many pages."
STATEMENTS = (
    """Consolidated Statements of Income
For the years ended December 31, {year} and {before}
(in millions)|{year}|{before}
Net sales|{sales}|1,100
Cost of goods sold|734|650
Gross profit|500|450
Selling, general and administrative|210|190
Income before taxes|290|260
Provision for income taxes|61|55
Net income|229|205
Diluted earnings per share|1.10|1.00
""",
    """Consolidated Balance Sheets
(in millions)|{year}|{before}
Cash and cash equivalents|50|45
Accounts receivable|120|110
Total current assets|300|280
Total assets|900|850
Accounts payable|80|70
Total current liabilities|200|190
Total liabilities|400|390
Retained earnings|300|280
Total liabilities and shareholders' equity|900|850
""",
)
BREAK = '<hr style="page-break-after:always"/>'


def page(text: str) -> str:
    rows = [line.split("|") for line in text.splitlines()]
    table = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows if len(row) > 1)
    return "".join(f"<p>{row[0]}</p>" for row in rows if len(row) == 1) + (f"<table>{table}</table>" if table else "")


def report(
    name: str, year: int, *, covered: bool, risk: str = "drought", sales: str = "1,234", itself: str = ""
) -> str:
    pages = [page(text) for text in (*([COVER] if covered else []), STORY, STORY, *STATEMENTS)]
    text = BREAK.join(pages).format(name=name, year=year, before=year - 1, risk=risk, sales=sales, itself=itself)
    return f"<html><body>{text}</body></html>"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[IndexSummary, str]:
    folder = tmp_path_factory.mktemp("unidentified")
    (folder / "quillfern-2022.htm").write_text(report("Quillfern", 2022, covered=True))
    (folder / "quillfern-2020.htm").write_text(report("Quillfern", 2020, covered=True))
    scan = report("Zorblax Widgets", 2022, covered=False, risk="piracy", sales="4,321", itself=ITSELF)
    (folder / "scan-1.htm").write_text(scan)
    (folder / "scan-2.htm").write_text(report("Quillfern", 2021, covered=False))
    (folder / "invoice.txt").write_text("INVOICE 17\nTo Zorblax Widgets\nLanterns, 3 at $20\nTotal due $60.\n")
    uri = str(folder / "index")
    return index_in_process([str(folder)], uri, SETTINGS), uri


@pytest.fixture(scope="module")
def engine(indexed: tuple[IndexSummary, str]) -> Engine:
    return open_engine(indexed[1], SETTINGS)


async def found(engine: Engine, question: str) -> list[str]:
    journal = Journal()
    query = await engine.roles.reader.read(question, journal)
    return [d.filing.doc_name for d in await engine.roles.documents.documents(query, 5, journal)]


def test_they_are_indexed_marked_and_named_in_the_summary(indexed: tuple[IndexSummary, str], engine: Engine) -> None:
    summary, uri = indexed
    assert (summary.indexed, [failure.reason for failure in summary.failures]) == (4, ["not_a_filing"])
    assert [(Path(m.source_uri).stem, m.marks, m.unknown) for m in summary.marked] == [
        ("scan-1", ("unidentified",), ("company",)),
        ("scan-2", ("unidentified",), ("company", "form", "period")),
    ]
    rows = layout.open_table(uri, schema.FILINGS).to_table(["doc_name", "status", "company", "form"]).to_pylist()
    stored = {row["doc_name"]: (row["status"], row["company"], row["form"]) for row in rows}
    assert stored["scan-1"] == ("unidentified", UNIDENTIFIED, "10-K")
    assert stored["scan-2"] == ("unidentified", UNIDENTIFIED, UNIDENTIFIED)
    assert stored["quillfern-2022"][0] == "indexed"
    assert "Zorblax" in engine.reader.cover_summaries()[_id(engine, "scan-1")]


async def test_a_company_that_only_their_text_names_is_found_and_answered(engine: Engine) -> None:
    assert await found(engine, "What was Zorblax Widgets' net sales in fiscal 2022?") == ["scan-1"]
    asked = Question("q", "What was Zorblax Widgets' net sales in fiscal 2022?")
    prediction = await engine.answer(asked)
    assert prediction.value == 4321e6
    assert {passage.doc_name for passage in prediction.evidence} == {"scan-1"}


async def test_they_come_behind_every_match_and_before_the_filings_of_other_years(engine: Engine) -> None:
    assert await found(engine, "What was Quillfern's net sales in fiscal 2022?") == [
        "quillfern-2022", "scan-2", "quillfern-2020",
    ]  # fmt: skip
    assert await found(engine, "What was Quillfern's net sales?") == ["quillfern-2022", "quillfern-2020", "scan-2"]


async def test_a_question_without_a_company_finds_them_by_their_text(engine: Engine) -> None:
    assert (await found(engine, "Which report speaks of piracy as its principal risk?"))[0] == "scan-1"


async def test_a_company_that_is_named_nowhere_has_no_filing(engine: Engine) -> None:
    assert await found(engine, "What was Torvane Corporation's net sales in fiscal 2022?") == []
    prediction = await engine.answer(Question("q", "What was Unidentified's net sales in fiscal 2022?"))
    assert prediction.status == "unanswerable"


async def test_a_filing_that_names_two_companies_of_a_comparison_is_found_once(tmp_path: Path) -> None:
    marlowe = report("Marlowe", 2022, covered=True).replace("QUILLFERN", "MARLOWE").replace("1-9595", "1-9696")
    (tmp_path / "marlowe.htm").write_text(marlowe)
    (tmp_path / "quillfern.htm").write_text(report("Quillfern", 2022, covered=True))
    (tmp_path / "scan.htm").write_text(report("Quillfern and Marlowe", 2021, covered=False))
    index_in_process([str(tmp_path)], str(tmp_path / "index"), SETTINGS)
    both = open_engine(str(tmp_path / "index"), SETTINGS)
    documents = await found(both, "Compare the net sales of Quillfern and Marlowe in fiscal 2022")
    assert sorted(documents) == ["marlowe", "quillfern", "scan"]


def _id(engine: Engine, name: str) -> str:
    return next(filing.filing_id for filing in engine.reader.filings() if filing.doc_name == name)
