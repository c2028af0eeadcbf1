"""The filings of scale_corpus.py as files: short full submissions of two pages, as EDGAR serves them, and questions on
them with exact answers.

A periodic report has a cover and an income statement, an 8-K a cover and one event. Each figure follows from company
and period alone, so that every filing that prints it agrees.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from scale_corpus import Corpus, make_corpus

from finray.core.filing import Filing
from finray.lab.sample.companies import Company

FILINGS_PER_COMPANY = 283
"""As in LOFin: 145,897 filings of 516 companies."""
_BREAK = '<hr style="page-break-after:always"/>\n'
_TITLES = {"10-K": "ANNUAL REPORT", "10-Q": "QUARTERLY REPORT", "8-K": "CURRENT REPORT"}
_BANKS = ("Halvorsen Trust Bank", "First Meridian Bank", "Bank of Ostermark", "Union Lakes Bank")


@dataclass(frozen=True, slots=True)
class Question:
    """``gold`` is the accession number of the filing that answers it, ``value`` the answer in base units, ``printed``
    as the filing prints it."""

    form: str
    text: str
    gold: str
    value: float
    unit: str
    printed: str


def corpus_of(filings: int) -> Corpus:
    """Raises ValueError for fewer than about 110 filings: one company's periodic reports over 24 years."""
    return make_corpus(filings, max(1, filings // FILINGS_PER_COMPANY))


def accession(number: int, filing: Filing) -> str:
    """Of the filing with this number in its corpus."""
    assert filing.filed_at is not None
    return f"{filing.cik}-{filing.filed_at:%y}-{number:06d}"


def write_files(folder: Path, filings: int) -> Corpus:
    """Write ``folder/CIK/ACCESSION.txt`` for each filing that is not there yet."""
    corpus = corpus_of(filings)
    for company in corpus.companies:
        (folder / company.cik).mkdir(parents=True, exist_ok=True)
    for number, filing in enumerate(corpus.filings):
        name = accession(number, filing)
        path = folder / str(filing.cik) / f"{name}.txt"
        if not path.exists():
            unfinished = path.with_suffix(".part")
            unfinished.write_text(submission(name, filing, corpus.owner[filing.filing_id]), encoding="ascii")
            unfinished.replace(path)
    return corpus


def submission(name: str, filing: Filing, company: Company) -> str:
    """SGML header and one HTML document."""
    assert filing.filed_at is not None
    assert filing.period_end is not None
    filed, end = f"{filing.filed_at:%Y%m%d}", f"{filing.period_end:%Y%m%d}"
    closing = company.calendar.year_end(filing.fiscal_year or filing.period_end.year)
    former = ""
    if company.former_name and company.renamed_on and company.renamed_on <= filing.filed_at:
        former = (
            f"\n\tFORMER COMPANY:\t\n\t\tFORMER CONFORMED NAME:\t{company.former_name.upper()}\n"
            f"\t\tDATE OF NAME CHANGE:\t{company.renamed_on:%Y%m%d}\n"
        )
    return (
        f"<SEC-DOCUMENT>{name}.txt : {filed}\n<SEC-HEADER>{name}.hdr.sgml : {filed}\n"
        f"<ACCEPTANCE-DATETIME>{filed}163012\nACCESSION NUMBER:\t\t{name}\nCONFORMED SUBMISSION TYPE:\t{filing.form}\n"
        f"PUBLIC DOCUMENT COUNT:\t\t1\nCONFORMED PERIOD OF REPORT:\t{end}\nFILED AS OF DATE:\t\t{filed}\n"
        f"\nFILER:\n\n\tCOMPANY DATA:\t\n\t\tCOMPANY CONFORMED NAME:\t\t\t{filing.company.upper()}\n"
        f"\t\tCENTRAL INDEX KEY:\t\t\t{company.cik}\n\t\tFISCAL YEAR END:\t\t\t{closing:%m%d}\n\n\tFILING VALUES:\n"
        f"\t\tFORM TYPE:\t\t{filing.form}\n\t\tSEC ACT:\t\t1934 Act\n\t\tSEC FILE NUMBER:\t{company.file_number}\n"
        f"{former}</SEC-HEADER>\n<DOCUMENT>\n<TYPE>{filing.form}\n<SEQUENCE>1\n<FILENAME>report.htm\n<TEXT>\n"
        f"<html><head><title>{escape(filing.form)}</title></head><body>\n{_cover(filing, company)}{_BREAK}"
        f"{_event(filing, company) if filing.form == '8-K' else _statement(filing)}</body></html>\n"
        "</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n"
    )


def _cover(filing: Filing, company: Company) -> str:
    form = filing.form.removesuffix("/A")
    day = _long(filing.period_end)
    period = {
        "10-K": f"For the fiscal year ended {day}",
        "10-Q": f"For the quarterly period ended {day}",
        "8-K": f"Date of Report (Date of earliest event reported): {day}",
    }[form]
    lines = [
        "UNITED STATES<br/>SECURITIES AND EXCHANGE COMMISSION",
        "Washington, D.C. 20549",
        f"FORM {filing.form}",
        *(["(Amendment No. 1)"] if filing.is_amendment else []),
        f"{_TITLES[form]} PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
        period,
        f"Commission File Number: {company.file_number}",
        filing.company,
        "(Exact name of registrant as specified in its charter)",
        company.address,
        "(Address of principal executive offices, including zip code)",
        "Securities registered pursuant to Section 12(b) of the Act:",
        f"Common Stock, $0.01 par value per share. Trading Symbol: {company.ticker}. Exchange: {company.exchange}",
    ]
    return "".join(f'<p style="text-align:center">{line}</p>\n' for line in map(_html, lines))


def _statement(filing: Filing) -> str:
    assert filing.fiscal_year is not None
    assert filing.period_end is not None
    annual = filing.fiscal_period == "FY"
    years = (filing.fiscal_year, filing.fiscal_year - 1)
    ends = (filing.period_end, filing.period_end.replace(year=filing.period_end.year - 1, day=28))
    columns = [figures(str(filing.cik), year, str(filing.fiscal_period)) for year in years]
    span = "Fiscal Year Ended" if annual else "Three Months Ended"
    head = "".join(f"<td colspan=2>{_long(end)}</td>" for end in ends)
    rows = "".join(
        f"<tr><td>{label}</td>" + "".join(f"<td>$</td><td>{column[label]:,}</td>" for column in columns) + "</tr>\n"
        for label in columns[0]
    )
    return (
        f"<p><b>{'Item 8.  Financial Statements and Supplementary Data' if annual else 'Item 1.  Financial Statements'}"
        f"</b></p>\n<p><b>{_html(filing.company.upper())}</b></p><p><b>CONSOLIDATED STATEMENTS OF INCOME</b></p>\n"
        f"<p>(in millions) (unaudited)</p>\n<table>\n<tr><td></td><td colspan='4'>{span}</td></tr>\n"
        f"<tr><td></td>{head}</tr>\n{rows}</table>\n"
        f"<p>The Company reports one segment. Revenue rose because of higher volumes and prices.</p>\n"
    )


def figures(cik: str, year: int, part: str) -> dict[str, int]:
    """Line items of an income statement in millions, by label."""
    draw = random.Random(f"{cik}:{year}:{part}")
    revenue = draw.randint(300, 2_400) * (4 if part == "FY" else 1)
    cost = int(revenue * draw.uniform(0.5, 0.7))
    selling = int(revenue * draw.uniform(0.1, 0.2))
    operating = revenue - cost - selling
    taxes = int(operating * 0.24)
    return {
        "Total revenue": revenue,
        "Cost of sales": cost,
        "Selling, general and administrative expenses": selling,
        "Operating income": operating,
        "Provision for income taxes": taxes,
        "Net income": operating - taxes,
    }


def _draw(filing: Filing) -> random.Random:
    return random.Random(f"{filing.cik}:event:{filing.period_end}")


def _event(filing: Filing, company: Company) -> str:
    day, name, draw = _long(filing.period_end), filing.company, _draw(filing)
    if draw.random() < 0.5:
        title = "Item 8.01  Other Events"
        text = (
            f"On {day}, the Board of Directors of {name} declared a quarterly cash dividend of "
            f"${_dividend(filing) / 1000:.3f} per share of common stock. Future dividends remain subject to "
            "declaration by the Board of Directors."
        )
    else:
        title = "Item 1.01  Entry into a Material Definitive Agreement"
        text = (
            f"On {day}, {name} entered into an amended and restated credit agreement with {draw.choice(_BANKS)}, as "
            f"administrative agent, providing for a ${_facility(filing):,} million revolving credit facility. "
            "Borrowings bear interest at Term SOFR plus a margin of 1.125% to 1.750%."
        )
    return f"<p><b>{title}</b></p>\n<p>{_html(text)}</p>\n<p>SIGNATURE</p>\n<p>By: {_html(company.cfo)}</p>\n"


def _dividend(filing: Filing) -> int:
    """In mills a share."""
    return 50 + int(hashlib.sha256(f"dividend:{filing.cik}:{filing.period_end}".encode()).hexdigest()[:6], 16) % 900


def _facility(filing: Filing) -> int:
    """In millions."""
    return 100 + 5 * (
        int(hashlib.sha256(f"credit:{filing.cik}:{filing.period_end}".encode()).hexdigest()[:6], 16) % 500
    )


def _long(day: dt.date | None) -> str:
    assert day is not None
    return f"{day:%B} {day.day}, {day.year}"


def _html(text: str) -> str:
    """ASCII."""
    return text.replace("&", "&amp;").encode("ascii", "xmlcharrefreplace").decode()


def questions(corpus: Corpus, indexed: Collection[str], count: int, seed: int = 0) -> list[Question]:
    """``count`` questions about as many filings of ``indexed`` (accession numbers), a third each on 10-Ks, 10-Qs and
    8-Ks."""
    draw = random.Random(f"{seed}:rehearsal")
    numbered = [(n, filing) for n, filing in enumerate(corpus.filings) if accession(n, filing) in indexed]
    chosen = []
    for form, share in zip(("10-K", "10-Q", "8-K"), _thirds(count), strict=True):
        some = [(number, filing) for number, filing in numbered if filing.form == form]
        chosen += draw.sample(some, min(share, len(some)))
    return [_question(accession(number, filing), filing, corpus.owner[filing.filing_id], draw)
            for number, filing in chosen]  # fmt: skip


def _thirds(count: int) -> Iterator[int]:
    return islice(((count + rest) // 3 for rest in (2, 1, 0)), 3)


def _question(gold: str, filing: Filing, company: Company, draw: random.Random) -> Question:
    """Names the company by its short or full name, and the period by its end: which fiscal year ends in January is a
    matter of the company's own words, which these short filings leave out."""
    name, day = draw.choices((company.short, company.name), (65, 35))[0], _long(filing.period_end)
    if filing.form == "8-K":
        if _draw(filing).random() < 0.5:
            mills = _dividend(filing)
            text = f"What quarterly cash dividend per share did {name} declare on {day}?"
            return Question("8-K", text, gold, mills / 1000, "USD/share", f"${mills / 1000:.3f}")
        millions = _facility(filing)
        text = f"According to its 8-K of {day}, how large is the revolving credit facility of {name}?"
        return Question("8-K", text, gold, millions * 1e6, "USD", f"${millions:,} million")
    assert filing.fiscal_year is not None
    label, wording = draw.choice((("Total revenue", "total revenue"), ("Net income", "net income")))
    millions = figures(str(filing.cik), filing.fiscal_year, str(filing.fiscal_period))[label]
    period = "fiscal year" if filing.form == "10-K" else "quarter"
    texts: Sequence[str] = (
        f"What was {name}'s {wording} in the {period} ended {day}?",
        f"How much {wording} did {name} report for the {period} ended {day}?",
    )
    return Question(filing.form, draw.choice(texts), gold, millions * 1e6, "USD", f"{millions:,}")


def write_questions(path: Path, asked: Sequence[Question]) -> None:
    """One JSON object a line, as `finray answer` reads them."""
    lines: list[dict[str, Any]] = [
        {
            "qid": f"R-{number:05d}",
            "question": one.text,
            "question_type": one.form,
            "value": one.value,
            "unit": one.unit,
            "evidence": [{"doc_name": one.gold, "page": 1}],
        }
        for number, one in enumerate(asked)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
