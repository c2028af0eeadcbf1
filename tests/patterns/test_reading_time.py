"""Whole questions and whole pages, at the longest that is accepted, are read in little time whatever they say.

Their texts are attacks on single patterns, and the words of all patterns strung together. What is read only once for a
process, such as word lists and compiled patterns, has been read.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from finray.core.errors import FilingError
from finray.core.filing import Filing, Page
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.settings import ChunkSettings, FilingSettings
from finray.filings.cover import fiscal_text, registrant, submission
from finray.filings.cover.body_facts import body_company, read_body
from finray.filings.cover.cover_dates import cover_dates
from finray.filings.cover.facts import Facts
from finray.filings.cover.names import aliases_of
from finray.filings.cover.page import read_facts
from finray.filings.cover.release import read_release, statement_heading
from finray.filings.cover.report_signs import is_report
from finray.filings.dates import find_dates
from finray.filings.pages.chunks import chunk_page
from finray.filings.pages.headings import page_headings
from finray.filings.pages.items import label_items
from finray.filings.pages.places import label_places
from finray.filings.pdf import grid as pdf_grid
from finray.filings.pdf.lines import PositionedWord
from finray.filings.plain_text import split_text_pages
from finray.filings.read import parse_filing
from finray.filings.tables.captions import CoverText, cover_signs, plain
from finray.filings.tables.line_items import extract_line_items
from finray.filings.tables.scales import read_scale
from finray.filings.tables.statements import label_statements
from finray.filings.typed_tables import typed_grids
from finray.hirec.exchange import MAX_QUESTION_CHARACTERS
from finray.question.companies.catalog import CompanyCatalog
from finray.question.plans.operations import plans_of
from finray.question.rule_reader import RuleReader
from finray.retrieval.methods.query_expansion import expansions
from tests.patterns.attacks import AT_MOST_S, BUSY, Attack, attacks, exhaustive, seconds
from tests.patterns.inventory import Found, inventory

A_CELL_AT_MOST_S = 1e-4
"""A page of figures has up to 200,000 cells; each is located, joined with its neighbors and parsed as a number."""
PAGE = FilingSettings().max_page_characters
DAY = dt.date(2020, 6, 30)
COMPANIES = (
    "Ruthimoor Home Goods Company",
    "Belmora Cola Co",
    "American Vessel Company, Inc.",
    "Torvane plc",
    "A B C D",
)
SEPARATORS = (
    " ",
    " " * 8,
    "\n",
    "\t",
    ", ",
    ",",
    ". ",
    "; ",
    ": ",
    "-",
    " | ",
    " (",
    ") ",
    " and ",
    " in ",
    " for ",
    " of ",
)
QUESTIONS = [
    "revenue" + ", in " * 14 + "x",
    "revenue" + ", in " * 398,
    ", " * 1000,
    "What amount of widget costs did Ruthimoor Home Goods report" + (" " * 8 + "in") * 9,
    "What amount of widget costs did Ruthimoor Home Goods report" + (" " * 8 + "in") * 194,
    "What is the difference between " + "revenue and " * 164,
    "How much higher was " + "the average of the sum of " * 75,
    "Is " + "Belmora Cola's " * 132,
    "between 2010 and " + "2019 to 2020, " * 140,
]
HEADS = {
    "": "",
    "cover": "FORM 10-K\nANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d)\nFor the fiscal year ended December 31, 2020\n"
    "Commission file number 1-12345\nACME PRODUCTS INC\n(Exact name of registrant as specified in its charter)\n",
    "release": "Acme Reports Second Quarter 2020 Results\nNEW YORK - Acme Inc. (NYSE: ACM) today reported net sales, "
    "net income, revenues, EPS and results for the quarter ended June 30, 2020.\n",
    "statement": "CONSOLIDATED BALANCE SHEETS\n(in millions)\nDecember 31, 2020 2019\nTotal assets 1,000 1,000\n",
    "header": "<SEC-HEADER>\nACCESSION NUMBER: 0000000001-20-000001\nCONFORMED SUBMISSION TYPE: 10-K\nFILER:\n",
}
RUNS = (
    " ", "\n", "1 ", "(Registrant) ", "(Registrant). ", "December 31, ", "jan ", "1,234 ", "| $ | 1,234 | ) ", "¥,",
    "A. ", "Item 1. ", "ITEM 1A. RISK FACTORS\n", "REST\n\n", "Total revenue 1,000 2,000\n", "(NYSE: AB) ",
    "Acme - (NYSE: AB) ", "fiscal year ended December 31, 2020 ", "consolidated statements of consolidated\n",
    "internal. ", "Acme Inc\n", "CONFORMED SUBMISSION TYPE: 10-K\n", "COMPANY CONFORMED NAME: A\n", "FILER:\n",
    "<TYPE>10-K\n", "<TABLE><S><C>",
)  # fmt: skip


def _question(text: str) -> None:
    query = asyncio.run(_reader().read(text, Journal()))
    plans_of(query, query.companies or ("none",), Period(2023, "FY"))
    expansions(text, names=3)


@cache
def _reader() -> RuleReader:
    filings = (
        Filing(str(n), str(n), "", "", company=name, form="10-K", ticker=name[:3]) for n, name in enumerate(COMPANIES)
    )
    reader = RuleReader(CompanyCatalog(list(filings)))
    asyncio.run(reader.read("What was the revenue of Torvane in 2020?", Journal()))
    return reader


def _header(text: str) -> None:
    submission.header_facts(text)
    block = f"<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n{text}\n</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n"
    submission.parse_submission(f"{HEADS['header']}{block}".encode("utf-8", "replace"))


def _registrant(text: str) -> None:
    cover = CoverText(plain(text[:20_000]))
    cover_dates(cover)
    registrant.registrant(cover, text, lambda: registrant.signing_registrant([text]))


TEXT_READERS: dict[str, Callable[[str], object]] = {
    "cover": lambda text: read_facts([text]),
    "cover of three pages": lambda text: read_facts(
        [text[: PAGE // 3], text[PAGE // 3 : -PAGE // 3], text[-PAGE // 3 :]]
    ),
    "cover's names and dates": _registrant,
    "signs of a cover": cover_signs,
    "release": lambda text: read_release([text]),
    "heading of a statement": statement_heading,
    "body": lambda text: (read_body([text], Facts(company="Acme Corp", form="10-K")), body_company([text])),
    "dates": lambda text: list(find_dates(text)),
    "fiscal year": lambda text: fiscal_text.named_year(dt.date(2020, 1, 31), text, "Q2"),
    "quarter": lambda text: fiscal_text.find_quarter(DAY, text),
    "other names": lambda text: aliases_of("Acme Products Inc", text),
    "statements": lambda text: label_statements([text]),
    "items": lambda text: label_items([text]),
    "places": lambda text: label_places([text], [None], "10-K"),
    "headings": lambda text: page_headings([text]),
    "scale": read_scale,
    "report": lambda text: is_report([text], [None]),
    "plain text": split_text_pages,
    "typed tables": lambda text: typed_grids(text, 0),
    "header": _header,
    "chunks": lambda text: chunk_page(Page(0, text, None, None, None, ""), ChunkSettings()),
}


def _words(text: str) -> list[PositionedWord]:
    """``text`` as printed in a PDF, with lines as wide as a page."""
    words = []
    for number, line in enumerate(re.findall(r"[^\n]{1,100}", text)):
        y = 12.0 * number
        words += [(6.0 * m.start(), y, 6.0 * m.end(), y + 10, m[0]) for m in re.finditer(r"\S+", line)]
    return words


def _pdf(words: Sequence[PositionedWord], text: str) -> None:
    extract_line_items(pdf_grid.grids_of_words(words, 0), text, "balance", _FILING)


def _html(text: str) -> bytes:
    """``text`` as printed in a submission: lines as rows, forty per table, each number and label in a tagged cell."""
    rows = [
        "<tr>"
        + "".join(
            f"<td><ix:nonfraction name='us-gaap:Assets' contextref='c'>{cell}</ix:nonfraction></td>"
            for cell in re.findall(r"[\d,.$()%]+|[^\d<>&]+", line)
        )
        for line in re.findall(r"[^\n]{1,100}", text)
    ]
    tables = ["<table>" + "".join(rows[at : at + 40]) + "</table>" for at in range(0, len(rows), 40)]
    head = HEADS["cover"].replace("\n", "<br>")
    name = f"<ix:nonnumeric name='dei:EntityRegistrantName' contextref='c'>{text.translate(_NO_MARKUP)}</ix:nonnumeric>"
    page = f"<html><body>{_CONTEXT}{head}<hr style='page-break-after:always'><p>{name}{''.join(tables)}"
    return page.encode("utf-8", "replace")


_NO_MARKUP = str.maketrans("<>&", "   ")
_CONTEXT = (
    "<ix:header><ix:resources><xbrli:context id='c'><xbrli:period><xbrli:instant>2020-12-31</xbrli:instant>"
    "</xbrli:period></xbrli:context></ix:resources></ix:header>"
)


_FILING = Filing("id", "doc", "", "0" * 64, "Acme", "10-K", period_end=DAY, fiscal_year=2020)
_LIMITS = FilingSettings(max_unpaged_characters=10 * PAGE, max_page_characters=10 * PAGE)


def _slow(name: str, work: Callable[[], object], at_most: float, text: str) -> str | None:
    """None if one of three runs takes at most ``at_most`` seconds (times ``BUSY``, because the core may be shared)."""
    at_most *= BUSY

    def finish() -> None:
        with suppress(FilingError):  # turned away in time is as good
            work()

    times = []
    for _ in range(3):
        times.append(seconds(finish, 3 * at_most))
        if times[-1] <= at_most:
            return None
    return f"{name}: {min(times):.2f} s for {text[:60]!a} … {text[-60:]!a}"


def _slow_question(text: str) -> str | None:
    _reader()
    return _slow("question", partial(_question, text), AT_MOST_S, text)


def _slow_page(text: str, *, tables: bool) -> Iterator[str | None]:
    for name, read in TEXT_READERS.items():
        yield _slow(name, partial(read, text), AT_MOST_S, text)
    if tables:
        words, content = _words(text), _html(text)
        yield _slow("PDF", partial(_pdf, words, text), AT_MOST_S + len(words) * A_CELL_AT_MOST_S, text)
        at_most = 5 * AT_MOST_S + content.count(b"<td") * A_CELL_AT_MOST_S
        yield _slow("HTML", partial(parse_filing, content, "a.htm", _LIMITS), at_most, text)


def _of(folder: str) -> list[Found]:
    return [each for each in inventory()[0] if each.file.startswith(folder) and isinstance(each.pattern.pattern, str)]


@cache
def _vocabulary(folder: str) -> list[str]:
    """The words and marks that the patterns of ``folder`` search for."""
    found = {word for each in _of(folder) for word in re.findall(r"[A-Za-z]{2,}|[^\w\s\\]", each.pattern.pattern)}
    return sorted(found | {word for name in COMPANIES for word in name.split()} | {"2019", "2020", "FY", "1,234", "A"})


def _strung(draw: random.Random, folder: str, characters: int) -> str:
    words = draw.sample(_vocabulary(folder), draw.choice((1, 2, 3, 5, 20, 100)))
    separators = draw.sample(SEPARATORS, draw.choice((1, 1, 2, 5)))
    change = draw.choice((str.lower, str.title, str.upper, str))
    parts: list[str] = []
    length = 0
    while length < characters:
        parts.append(change(draw.choice(words)) + draw.choice(separators))
        length += len(parts[-1])
    return "".join(parts)[:characters]


def _attacks(folder: str) -> list[Attack]:
    return [attack for each in _of(folder) for attack in attacks(each.pattern)]


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions_that_were_or_look_slow(text: str) -> None:
    assert len(text) <= MAX_QUESTION_CHARACTERS
    assert _slow_question(text) is None


@pytest.mark.slow
@given(st.integers(min_value=0))
@hypothesis_settings(max_examples=25, deadline=None)
def test_questions_made_of_searched_words(seed: int) -> None:
    assert _slow_question(_strung(random.Random(seed), "finray/question/", MAX_QUESTION_CHARACTERS)) is None


@exhaustive
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_questions_that_attack_single_patterns() -> None:
    texts = (attack.text(MAX_QUESTION_CHARACTERS)[:MAX_QUESTION_CHARACTERS] for attack in _attacks("finray/question/"))
    assert not list(filter(None, map(_slow_question, texts)))


@pytest.mark.parametrize(
    ("head", "run"),
    [
        ("", "(Registrant). "),
        ("release", "1 "),
        ("cover", "Acme Inc\n"),
        ("statement", "Total revenue 1,000 2,000\n"),
        ("header", "COMPANY CONFORMED NAME: A\n"),
    ],
)
def test_pages_of_one_run(head: str, run: str) -> None:
    page = (HEADS[head] + run * (PAGE // len(run)))[:PAGE]
    assert not list(filter(None, _slow_page(page, tables=head == "statement")))


@exhaustive
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_pages_of_hostile_runs() -> None:
    runs = (head + run * (PAGE // len(run)) for head in HEADS.values() for run in RUNS)
    attacked = (attack.text(PAGE) for attack in _attacks("finray/filings/")[::150])
    slow = (each for page in (*runs, *attacked) for each in _slow_page(page[:PAGE], tables=True))
    assert not list(filter(None, slow))


@pytest.mark.slow
@pytest.mark.timeout(900)
@given(st.integers(min_value=0), st.sampled_from(list(HEADS.values())))
@hypothesis_settings(max_examples=10, deadline=None)
def test_pages_made_of_searched_words(seed: int, head: str) -> None:
    page = (head + _strung(random.Random(seed), "finray/filings/", PAGE))[:PAGE]
    assert not list(filter(None, _slow_page(page, tables=True)))
