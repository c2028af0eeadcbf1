"""An index of filings and closed-domain questions -> an open-domain benchmark like LOFin.

Written under ``out``: ``numeric_table``, ``numeric_text``, ``textual`` (each question in one of them) and
``multi_document`` (those with gold pages in several filings, again), each with a question file of every split;
``documents.jsonl`` and ``set_aside.jsonl`` (the filings, and the files without pages or unreadable);
``unresolved.jsonl`` (questions without an accepted gold page, for annotation); ``summary.json``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from finray.batch.question_files import BadLine
from finray.core.errors import FilingError, QuestionError, SourceError
from finray.core.filing import Filing, LineItem
from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS
from finray.core.predictions import TokenUsage
from finray.core.questions import GoldEvidence, Question
from finray.core.settings import FilingSettings
from finray.filings.read import doc_name
from finray.index import layout, schema
from finray.index.reading.reader import IndexReader
from finray.lab.datasets.hashing import hashed_share
from finray.lab.datasets.lofin_builder.closed import ClosedQuestion, Context, is_tabular, read_financebench, read_finqa
from finray.lab.datasets.lofin_builder.gold_pages import FilingPages, FoundPage, Similarity
from finray.lab.datasets.lofin_builder.printed_pages import PrintedQuestion, find_printed
from finray.lab.datasets.lofin_builder.rewriting import Rewrite
from finray.lab.datasets.lofin_builder.secqa import secqa_questions
from finray.lab.datasets.records import as_object, index_of, json_lines, qid_of, text_of
from finray.lab.datasets.xbrl.tagged import TaggedFiling, read_tagged_filing
from finray.lab.evaluation.metrics import numeric_reference
from finray.question.companies.catalog import CompanyCatalog
from finray.question.companies.company_groups import core_name
from finray.storage.locations import read_bytes

Part = Literal["numeric_table", "numeric_text", "textual"]
PARTS: tuple[Part, ...] = ("numeric_table", "numeric_text", "textual")
MULTI_DOCUMENT = "multi_document"
Split = Literal["source", "company"]
Progress = Callable[[int, int], None]
_ANNUAL = ("10-K", "10-KT", "10-K405", ANNUAL_REPORT_TO_HOLDERS)
_DEVELOP_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Request:
    """``finqa`` and ``financebench`` are files, ``tickers`` EDGAR's company_tickers.json, ``annotated`` a file with
    pages that people chose (``{"qid", "doc_name", "page"}`` a line), ``secqa`` the most questions of each template.

    ``split`` "source" keeps the splits of the sources (FinQA's train, dev and test; all others test), "company" puts
    each company into develop or test."""

    index: str
    out: str
    finqa: Sequence[str] = ()
    financebench: Sequence[str] = ()
    secqa: int = 100
    seed: int = 0
    split: Split = "source"
    tickers: str | None = None
    annotated: str | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """A known gold page, and the page that was found without it."""

    qid: str
    doc_name: str
    known: int
    found: FoundPage


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A question without gold page. ``candidates`` are pages that a method chose, ``reason`` why none was accepted."""

    qid: str
    source: str
    question: str
    reason: str
    doc_name: str | None = None
    candidates: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Built:
    """The benchmark. ``by`` counts how questions were made open-domain, ``usage`` the tokens that took."""

    questions: list[tuple[str, Question]] = field(default_factory=list)
    """Split and question; ``question_type`` is the part."""
    unresolved: list[Unresolved] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)
    bad: list[tuple[str, BadLine]] = field(default_factory=list)
    by: Counter[str] = field(default_factory=Counter)
    usage: TokenUsage = field(default_factory=TokenUsage)
    unreadable: dict[str, str] = field(default_factory=dict)
    """By URI, the reason why an annual report could not be read again for SEC-QA's templates."""


class Corpus:
    """The filings of an index, found by name, or by ticker and year. Keeps the pages of the last one in memory."""

    def __init__(self, reader: IndexReader, tickers: Mapping[str, tuple[str, str]]) -> None:
        self.filings = reader.filings()
        self._reader = reader
        self._tickers = tickers
        by_id = {filing.filing_id: filing for filing in self.filings}
        # A copy of a filing under another name is one filing in the index.
        sources = layout.read_table(reader.uri, schema.SOURCES, columns=["source_uri", "filing_id"]).to_pylist()
        self._by_name = {
            doc_name(row["source_uri"]): by_id[row["filing_id"]] for row in sources if row["filing_id"] in by_id
        }
        self._by_name |= {filing.doc_name: filing for filing in self.filings}
        self._last: tuple[str, FilingPages] | None = None

    def filing(self, context: Context) -> Filing | None:
        """The filing of ``context``: its name, or the annual report of the ticker's company for the year."""
        if context.doc_name is not None:
            return self._by_name.get(context.doc_name)
        cik, title = self._tickers.get(context.ticker or "", ("", ""))
        core = core_name(title) if title else None

        def matches(filing: Filing) -> bool:
            own = filing.ticker == context.ticker or (cik and filing.cik == cik) or core == core_name(filing.company)
            annual = filing.form in _ANNUAL and not filing.is_amendment
            return bool(own and annual and filing.fiscal_year == context.year)

        return min(filter(matches, self.filings), key=lambda f: (_ANNUAL.index(f.form), f.doc_name), default=None)

    def line_items(self, filing: Filing) -> Sequence[LineItem]:
        return self._reader.line_items([filing.filing_id]).get(filing.filing_id, ())

    def pages(self, filing: Filing) -> FilingPages:
        if self._last is None or self._last[0] != filing.filing_id:
            rows = self._reader.pages([filing.filing_id], ["page", "text"]).to_pylist()
            texts = [""] * (1 + max((row["page"] for row in rows), default=-1))
            for row in rows:
                texts[row["page"]] = row["text"]
            self._last = (filing.filing_id, FilingPages(texts))
        return self._last[1]


async def build(
    request: Request, settings: FilingSettings, similarity: Similarity, rewrite: Rewrite, progress: Progress
) -> tuple[Built, Corpus]:
    """All questions of the benchmark. Raises SourceError, IndexMissingError, ModelError."""
    corpus = Corpus(IndexReader.open(request.index), read_tickers(request.tickers))
    annotated = read_annotated(request.annotated)
    built = Built()
    closed: list[ClosedQuestion] = []
    for uris, read in ((request.finqa, read_finqa), (request.financebench, read_financebench)):
        for uri in uris:
            for line in read(uri):
                if isinstance(line, BadLine):
                    built.bad.append((uri, line))
                else:
                    closed.append(line)
    # Filing by filing: preparing the pages of one takes longer than searching them.
    closed.sort(key=lambda each: [context.doc_name or f"{context.ticker} {context.year}" for context in each.contexts])
    printed = _printed_pages(closed, corpus)
    for done, each in enumerate(closed):
        progress(done, len(closed))
        await _add(each, corpus, annotated, printed, similarity, rewrite, built)
    if request.secqa:
        tagged = tagged_filings(corpus.filings, settings, built.unreadable)
        for question in secqa_questions(tagged, most=request.secqa, seed=request.seed):
            prose = all(
                gold.text and not is_tabular(gold.text) and " | " not in gold.text for gold in question.evidence
            )
            built.questions.append(("test", replace(question, question_type=part_of(question, tabular=not prose))))
    if request.split == "company":
        built.questions = split_by_company(built.questions, corpus.filings)
    progress(len(closed), len(closed))
    return built, corpus


def _printed_pages(closed: Sequence[ClosedQuestion], corpus: Corpus) -> dict[str, FoundPage]:
    """The pages of questions that know only the page number of another edition, by qid."""
    by_filing: dict[str, tuple[Filing, dict[str, PrintedQuestion]]] = {}
    for each in closed:
        context = each.contexts[0] if len(each.contexts) == 1 else None
        filing = corpus.filing(context) if context is not None else None
        if context is None or filing is None or context.has_text or context.printed is None:
            continue
        _, asked = by_filing.setdefault(filing.filing_id, (filing, {}))
        asked[each.question.qid] = PrintedQuestion(each.question.question, context.printed, each.question.value)
    found: dict[str, FoundPage] = {}
    for filing, asked in by_filing.values():
        found |= find_printed(corpus.pages(filing), corpus.line_items(filing), asked)
    return found


async def _add(
    closed: ClosedQuestion,
    corpus: Corpus,
    annotated: Mapping[tuple[str, str], int],
    printed: Mapping[str, FoundPage],
    similarity: Similarity,
    rewrite: Rewrite,
    built: Built,
) -> None:
    """Add ``closed`` to the questions, or to the unresolved ones."""
    gold = _gold(closed, corpus, annotated, printed, similarity, built.agreements)
    if isinstance(gold, Unresolved):
        built.unresolved.append(gold)
        return
    question = closed.question
    if closed.source == "finqa" and (year := closed.contexts[0].year or gold.filing.fiscal_year):
        rewritten = await rewrite(question.question, gold.filing, year)
        built.by[rewritten.by] += 1
        built.usage += rewritten.usage
        question = replace(question, question=rewritten.text)
    part = part_of(question, tabular=gold.tabular)
    question = replace(question, evidence=gold.evidence, question_type=part, source=closed.source)
    built.questions.append((closed.split, question))


@dataclass(frozen=True, slots=True)
class _Gold:
    """The evidence of a question, whether it is a table, and the filing of its first page."""

    filing: Filing
    evidence: tuple[GoldEvidence, ...]
    tabular: bool


def _gold(
    closed: ClosedQuestion,
    corpus: Corpus,
    annotated: Mapping[tuple[str, str], int],
    printed: Mapping[str, FoundPage],
    similarity: Similarity,
    agreements: list[Agreement],
) -> _Gold | Unresolved:
    """The gold pages of ``closed``: annotated, known or found. Adds each known page that was also found to
    ``agreements``."""
    qid = closed.question.qid

    def unresolved(reason: str, doc_name: str | None = None, found: FoundPage | None = None) -> Unresolved:
        named = {"words": found.by_words, "meaning": found.by_meaning} if found else {}
        candidates = {name: page for name, page in named.items() if page is not None}
        return Unresolved(qid, closed.source, closed.question.question, reason, doc_name, candidates)

    filings: list[Filing] = []
    evidence: list[GoldEvidence] = []
    tabular = closed.tabular
    for context in closed.contexts:
        filing = corpus.filing(context)
        if filing is None:
            wanted = context.doc_name or f"annual report of {context.ticker} for {context.year}"
            return unresolved(f"not in the index: {wanted}")
        pages = corpus.pages(filing)
        found = pages.find(context, similarity) if context.has_text else printed.get(qid)
        if context.page is not None and found is not None:
            agreements.append(Agreement(qid, filing.doc_name, context.page, found))
        page = annotated.get((qid, filing.doc_name), context.page)
        if page is None and found is not None:
            page = found.agreed
        if page is None:
            both = found is not None and None not in (found.by_words, found.by_meaning)
            reason = "the methods differ" if both else "one method found no page" if found else "no gold text"
            return unresolved(reason, filing.doc_name, found)
        if page >= len(pages.texts):
            return unresolved(f"page {page} is past the end: {len(pages.texts)} pages", filing.doc_name, found)
        if tabular is None:
            tabular = is_tabular(pages.texts[page])
        filings.append(filing)
        evidence.append(GoldEvidence(filing.doc_name, page, context.prose or context.table or None))
    if not filings:
        return unresolved("no gold evidence")
    return _Gold(filings[0], tuple(evidence), bool(tabular))


def part_of(question: Question, *, tabular: bool) -> Part:
    """The part of a question: answers that are not a number are textual, including yes and no."""
    if numeric_reference(question) is None:
        return "textual"
    return "numeric_table" if tabular else "numeric_text"


def tagged_filings(
    filings: Sequence[Filing], settings: FilingSettings, unreadable: dict[str, str]
) -> list[TaggedFiling]:
    """The annual reports with inline XBRL, read again from their source. Adds to ``unreadable`` the reason why one
    could not be read."""
    tagged = []
    for filing in filings:
        if filing.form != "10-K" or filing.source_uri.lower().endswith(".pdf"):
            continue
        try:
            read = read_tagged_filing(read_bytes(filing.source_uri), filing.source_uri, settings)
        except (SourceError, FilingError) as error:
            unreadable[filing.source_uri] = str(error)
            continue
        if read.facts:
            tagged.append(replace(read, filing=filing))
    return tagged


def split_by_company(
    questions: Sequence[tuple[str, Question]], filings: Sequence[Filing]
) -> list[tuple[str, Question]]:
    """Each question in the split of its companies, develop or test, without questions about companies of both."""
    catalog = CompanyCatalog(filings)
    company = {filing.doc_name: catalog.company_of_filing[filing.filing_id] for filing in filings}
    kept = []
    for _, question in questions:
        splits = {_split_of(company[gold.doc_name]) for gold in question.evidence}
        if len(splits) == 1:
            kept.append((splits.pop(), question))
    return kept


def _split_of(company: str) -> str:
    return "develop" if hashed_share(company) < _DEVELOP_SHARE else "test"


def read_tickers(uri: str | None) -> dict[str, tuple[str, str]]:
    """(CIK of ten digits, name) by ticker, from EDGAR's company_tickers.json. Raises SourceError."""
    if uri is None:
        return {}
    try:
        rows = json.loads(read_bytes(uri)).values()
        return {str(row["ticker"]).upper(): (f"{int(row['cik_str']):010d}", str(row["title"])) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{uri!r} is not EDGAR's company_tickers.json: {error!r}") from error


def read_annotated(uri: str | None) -> dict[tuple[str, str], int]:
    """Pages by (qid, doc_name), from lines of unresolved.jsonl to which people added ``page``. Raises SourceError."""
    if uri is None:
        return {}
    pages: dict[tuple[str, str], int] = {}
    for number, record in json_lines(read_bytes(uri)):
        try:
            line = as_object(record)
            pages[qid_of(line, "qid"), text_of(line, "doc_name")] = index_of(line, "page")
        except QuestionError as error:
            raise SourceError(f"{uri!r}, line {number}: {error}; it needs qid, doc_name and page") from error
    return pages
