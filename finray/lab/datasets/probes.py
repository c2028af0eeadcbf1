"""Unanswerable questions, derived from answerable ones: they measure whether finray knows what an index lacks.

There are three types. ``unanswerable_company`` asks about a company without filings in the index,
``unanswerable_period`` about a year that no filing of the company prints, ``unanswerable_metric`` for a row of other
companies' statements whose words occur on no page of the company's filings.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from finray.core.data_files import shipped
from finray.core.filing import Filing, LineItem
from finray.core.questions import Question
from finray.index.reading.reader import IndexReader
from finray.lab.datasets.hashing import hashed_qid
from finray.lab.datasets.xbrl.phrasing import Asker
from finray.question.companies.catalog import CompanyCatalog
from finray.question.companies.company_groups import core_name
from finray.question.measures.mentions import mentions
from finray.question.periods.named import periods_in
from finray.question.synonyms import variants, words_of

YEARS_PRINTED = 6
"""Years before its own that an annual report may print: five of selected data (Regulation S-K, Item 301, until 2021),
and one more in the change of a balance sheet."""
YEARS_AHEAD = 1
"""Years after its own that it may mention in an outlook."""
_SHIFTS = sorted(range(-30, 31), key=abs)
_REACH = 8
"""A probe asks for one of this many years, the nearest that no filing prints."""
_LABEL_WORDS = range(2, 6)
_MIN_LABELS = 50
"""Minimum number of statement rows of a company; some annual reports only refer to their statements."""
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class ProbeSource:
    """An index by company key: filings, the ``labels`` of the rows of primary statements, and for each word of any
    label the ``pages`` (filing id, page) that print it."""

    catalog: CompanyCatalog
    filings: Mapping[str, Sequence[Filing]]
    labels: Mapping[str, Collection[str]]
    pages: Mapping[str, Mapping[str, Collection[tuple[str, int]]]]


def probe_source(reader: IndexReader) -> ProbeSource:
    """Read every page and line item of the index once."""
    catalog = CompanyCatalog(reader.filings())
    filings: dict[str, list[Filing]] = defaultdict(list)
    labels: dict[str, set[str]] = defaultdict(set)
    for filing in reader.filings():
        company = catalog.company_of_filing[filing.filing_id]
        filings[company].append(filing)
        items: Sequence[LineItem] = reader.line_items([filing.filing_id]).get(filing.filing_id, ())
        labels[company].update(item.label for item in items if item.statement is not None)
    wanted = {word for own in labels.values() for label in own for way in variants(words_of(label)) for word in way}
    pages: dict[str, dict[str, set[tuple[str, int]]]] = {company: defaultdict(set) for company in filings}
    for company, own in filings.items():
        for filing in own:
            for row in reader.pages([filing.filing_id], ["filing_id", "page", "text"]).to_pylist():
                for word in wanted.intersection(words_of(row["text"])):
                    pages[company][word].add((row["filing_id"], row["page"]))
    return ProbeSource(catalog, filings, labels, pages)


def make_probes(questions: Sequence[Question], source: ProbeSource, *, count: int, seed: int) -> list[Question]:
    """At most ``count`` distinct probes of each type; fewer if the questions or the index do not suffice."""
    rng = random.Random(seed)
    shuffled = list(questions)
    rng.shuffle(shuffled)
    makers = {
        "unanswerable_company": _company_probes(shuffled, source, rng),
        "unanswerable_period": _period_probes(shuffled, source, rng),
        "unanswerable_metric": _metric_probes(source, rng),
    }
    made: list[Question] = []
    for kind, texts in makers.items():
        asked: set[str] = set()
        while len(asked) < count and (text := next(texts, None)) is not None:
            if text not in asked:
                asked.add(text)
                qid = hashed_qid("probe", f"{kind}|{text}")
                made.append(Question(qid=qid, question=text, question_type=kind))
    return made


def strangers() -> tuple[str, ...]:
    """Names of well-known companies, as people write them."""
    lines = shipped(__package__, "company_names.txt").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def _company_probes(questions: Sequence[Question], source: ProbeSource, rng: random.Random) -> Iterator[str]:
    indexed = {"".join(core_name(name)) for c in source.catalog.companies.values() for name in (*c.names, *c.tickers)}
    absent = [name for name in strangers() if "".join(core_name(name)) not in indexed]
    for question in questions:
        found = source.catalog.mentions(question.question)
        if len(found.known) == 1 and not found.unknown and absent:
            text = question.question
            stranger = rng.choice(absent)
            for span in reversed(found.spans):
                text = text[: span.start] + stranger + text[span.end :]
            yield text


def _period_probes(questions: Sequence[Question], source: ProbeSource, rng: random.Random) -> Iterator[str]:
    for question in questions:
        companies = source.catalog.mentions(question.question).known
        years = {period.year for period in periods_in(question.question)}
        if len(companies) != 1 or not years or any(str(year) not in question.question for year in years):
            continue
        own = {year for filing in source.filings[companies[0]] for year in _own_years(filing)}
        shifts = [by for by in _SHIFTS if all(_unprinted(year + by, own) for year in years)]
        if shifts:
            yield _shifted(question.question, years, rng.choice(shifts[:_REACH]))


def _shifted(text: str, years: Collection[int], by: int) -> str:
    """``text`` with ``by`` added to each of ``years``."""
    return _YEAR.sub(lambda match: str(int(match[0]) + by) if int(match[0]) in years else match[0], text)


def _unprinted(year: int, own: Collection[int]) -> bool:
    return 1995 <= year <= 2035 and not any(each - YEARS_PRINTED <= year <= each + YEARS_AHEAD for each in own)


def _own_years(filing: Filing) -> set[int]:
    dates = [date.year for date in (filing.period_end, filing.filed_at) if date is not None]
    return {*dates, *([filing.fiscal_year] if filing.fiscal_year is not None else [])}


def _metric_probes(source: ProbeSource, rng: random.Random) -> Iterator[str]:
    """Questions for a statement row that only other companies have."""
    labels = sorted({label.lower() for own in source.labels.values() for label in own if _is_plain(label)})
    annual = [
        filing
        for company, own in source.filings.items()
        for filing in own
        if filing.form == "10-K" and filing.fiscal_year and len(source.labels[company]) >= _MIN_LABELS
    ]
    annual.sort(key=lambda filing: filing.filing_id)
    rng.shuffle(labels)
    for _ in annual:  # each label once before any is repeated
        for label in labels:
            filing = rng.choice(annual)
            if _reports_nothing_like(label, source.catalog.company_of_filing[filing.filing_id], source):
                period = rng.choice(("fiscal {}", "FY{}", "fiscal year {}")).format(filing.fiscal_year)
                yield Asker(filing, rng).ask("value", label, period=period, when=f"in {period}")


def _is_plain(label: str) -> bool:
    """Whether a label has two to five words and no proper names: names of segments and products reveal the company."""
    words = label.split()
    return len(words) in _LABEL_WORDS and all(w.isalpha() for w in words) and label[1:] == label[1:].lower()


def _reports_nothing_like(label: str, company: str, source: ProbeSource) -> bool:
    meant = {metric.value for metric in mentions(label)}
    if any(meant & {metric.value for metric in mentions(own)} for own in source.labels[company]):
        return False
    pages = source.pages[company]
    return not any(set.intersection(*(set(pages.get(w, ())) for w in way)) for way in variants(words_of(label)) if way)
