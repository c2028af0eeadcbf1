"""Settles which company a question is about if it names none in the catalog.

A figure of another company is the worst answer, so a name counts only if a filing proves whose it is:

1. A filing without a readable company may repeat the name on many pages: it is that company's own.
2. A question may describe a company instead of naming it ("the owner of Glowick"): the text of the filings decides.
3. A name must be one that a company calls its own (:mod:`finray.retrieval.own_names`), else the index lacks it.
4. A question without any name is about the only company of the index, about all of them, or unclear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from finray.core.filing_filter import FilingFilter
from finray.core.journal import Journal
from finray.core.query import OwnName, Query, Span
from finray.core.roles import QuestionReader
from finray.index.reading.filing_table import FilingTable
from finray.index.reading.reader import IndexReader
from finray.question.companies.alike_names import AlikeNames
from finray.question.companies.catalog import CompanyCatalog, Mentions
from finray.question.companies.name_runs import all_name_like, continues_name
from finray.question.companies.name_words import common_words, name_words
from finray.question.words import word_list
from finray.retrieval.company_evidence import CompanyEvidence
from finray.retrieval.company_model import CompanyModel, shipped_company_model
from finray.retrieval.own_names import OwnNames, printed_name
from finray.retrieval.question_names import is_common, names_in, prints
from finray.retrieval.unidentified import UnidentifiedFilings

_KEPT = 64
_LISTED = 5
"""Companies that the reply to an unclear question names."""
_MOST_COMPARED = 100
"""Companies that a question over all of an index may compare: the filings of each are read."""
_HITS = 100
"""Chunks that tell whether the filings print a run of capitalized words, and as a name."""
_LEAST_NAME = 0.5
"""Share of the chunks with several words that print them with a capital if they are a name."""
_SURELY_ALIKE = 1.0
"""Likeness of a word to a ticker or a short name of a company, in any case."""
_ROLE = "|".join(sorted(word_list("company_roles"), key=len, reverse=True))
_DESCRIBED = re.compile(
    rf"\b(?P<article>an?|the|its|which|what) (?P<words>(?:[\w’'&-]+ ){{0,5}}?)(?P<role>{_ROLE})\b"
    r"(?P<after>,? (?:that|which|who|whose|behind|from|with|headquartered|based|of|in)\b)?",
    re.I,
)
_EMPTY = frozenset({"whole", "entire", "same", "consolidated", "reporting", "filing", "public"})
"""Words that tell nothing of a company before its role."""
_OBJECT = rf"\b(?:{_ROLE}|brands?)(?: (?:of|behind|that|which|owns|the|and|to))*(?: [\w’'&-]+,?){{0,6}}? "
"""What stands before the name of a thing by which a question describes its company: "the buyer of the "."""
_OVER_ALL = re.compile(
    r"\b(?:which|what|who|rank|list|compare|order)\b[^?.]*?(?P<all>\b(?:(?:of|all|each|every|any) |the |these |those )*"
    r"(?:compan(?:y|ies)|firms?|filers?|registrants?|issuers?)\b|\bof (?:them|these|those)\b)",
    re.I,
)


class MeantCompany:
    """Reads the filings of an index for the names of questions."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog, model: CompanyModel | None = None) -> None:
        """``model`` chooses the company of a description; by default the one that comes with finray."""
        self._reader = reader
        self._catalog = catalog
        self._unidentified = UnidentifiedFilings(reader, catalog)
        self._evidence = CompanyEvidence(reader, catalog)
        self._alike = AlikeNames(catalog)
        self._own = OwnNames(reader, catalog)
        self._model = model
        # Roles read a question several times.
        self.company = lru_cache(_KEPT)(self._company)
        self._is_name = lru_cache(_KEPT)(self._printed_as_name)

    def settled(self, mentions: Mentions, text: str) -> Mentions:
        """``mentions`` of ``text``; if they know no company, with the one that ``text`` means by another name, a part
        or a description. Those words stay words of the question, because filings use them."""
        mentions = self._unidentified.with_unidentified(mentions, text)
        if mentions.known:
            return self._without_affiliates(mentions, text)
        names = self._names(text, mentions.unknown)
        subjects = [name for name in names if _is_subject(name, text)]
        if not subjects and describes(text, named=bool(names)):
            company = self.company(text, mentions.unknown)
            if company is not None:
                return replace(mentions, known=(company,), unknown=())
        owners = {name: self._own.owner(name) for name in names}
        absent = tuple(name for name in names if owners[name] is None and (name in subjects or not self._is_name(name)))
        if absent:
            return replace(mentions, unknown=absent)
        own = [owner for owner in owners.values() if owner is not None]
        if not own and names:
            own = self._about(text, mentions, names)
        if own:
            known = tuple(dict.fromkeys(each.company for each in own))
            return replace(mentions, known=known, unknown=(), own_names=tuple(own))
        if names:
            return replace(mentions, unknown=tuple(names))
        alike = self._surely_alike(text)
        return replace(mentions, known=(alike,)) if alike else self._unnamed(mentions, text)

    def _without_affiliates(self, mentions: Mentions, text: str) -> Mentions:
        """``mentions`` without companies whose name is only the beginning or the end of another that filings print: Dow
        Corning is not Corning. If the company calls it its own, only what prints the longer name answers."""
        spans, absent, own = list(mentions.spans), dict.fromkeys(mentions.unknown), []
        for span in mentions.spans:
            whole = _whole_name(text, span)
            if whole is None or not _is_subject(whole, text) or not self._is_name(whole):
                continue
            absent = dict.fromkeys(name for name in absent if name not in whole)
            owner = self._part_of(span.value.split(), whole, text[span.start : span.end])
            if owner is not None:
                own += [owner] if owner.relation == "part" else []
                continue
            spans.remove(span)
            absent.setdefault(whole)
        if len(spans) == len(mentions.spans):
            return replace(mentions, unknown=tuple(absent), own_names=tuple(own))
        kept = {key for span in spans for key in span.value.split()}
        known = tuple(key for key in mentions.known if key in kept)
        return replace(mentions, known=known, unknown=tuple(absent), spans=tuple(spans), own_names=tuple(own))

    def _part_of(self, companies: Sequence[str], whole: str, name: str) -> OwnName | None:
        """``whole`` as a name of one of ``companies``, called ``name``, or of its part that the other words of it
        name: "Corning Display Technologies" is Corning's Display Technologies."""
        rest = whole.removeprefix(name).strip(" -–—&") if whole.startswith(name) else ""
        owners = [self._own.owner(part) for part in (whole, rest) if part]
        own = [owner for owner in owners if owner is not None and owner.company in companies]
        spellings = dict.fromkeys(spelling for owner in own for spelling in (whole, *owner.spellings))
        return replace(own[0], spellings=tuple(spellings), with_company=True) if own else None

    def _names(self, text: str, unknown: Sequence[str]) -> list[str]:
        """The names in ``text``: ``unknown``, and other capitalized words that filings do not print in lower case."""
        found: dict[str, None] = {}
        for name in names_in(text, unknown):
            longer = (each for each in _longer_names(name, text) if self._is_name(each))
            name = next(longer, name)
            surely = name in unknown or _is_subject(name, text)
            if surely or (name.lower() not in common_words() and self._is_name(name) is not False):
                found.setdefault(name)
        distinct = {printed_name(name).pattern: name for name in reversed(found)}.values()
        return [name for name in reversed(distinct) if not any(name != other and name in other for other in distinct)]

    def _printed_as_name(self, name: str) -> bool | None:
        """Whether filings print ``name`` with capitals; None if no filing prints it."""
        pattern = printed_name(name)
        hits = self._reader.search_chunks_text(name, None, _HITS, texts=True)["text"].to_pylist()
        texts = [text for text in hits if pattern.search(text)]
        if not texts:
            return None
        if " " in name:
            return sum(prints(text, name, pattern) for text in texts) >= _LEAST_NAME * len(texts)
        return any(prints(text, name, pattern) for text in texts) and not is_common(name, texts)

    def _about(self, text: str, mentions: Mentions, names: Sequence[str]) -> list[OwnName]:
        """The names of things in the filings of the company that the text of all filings points to. Nothing says that
        they are the company's own, so only what names them answers."""
        company = self.company(text, mentions.unknown)
        if company is None:
            return []
        return [OwnName(name, company, "part", (name,)) for name in names]

    def _surely_alike(self, text: str) -> str | None:
        """The only company whose ticker or short name is a word of ``text``, in any case or number."""
        found: set[str] = set()
        for word in re.findall(r"[a-z0-9&]{3,}", text.lower()):
            for form in dict.fromkeys((word, word.removesuffix("s"))):
                if form not in common_words():
                    found |= {key for key in self._alike.companies(form) if self._alike.to(key, form) >= _SURELY_ALIKE}
        return found.pop() if len(found) == 1 else None

    def _unnamed(self, mentions: Mentions, text: str) -> Mentions:
        """For a question that names no company: the only one of the index, or all, or that it is unclear."""
        companies = self._catalog.companies
        if len(companies) == 1:
            return replace(mentions, known=tuple(companies))
        if (all_of_them := _OVER_ALL.search(text)) and len(companies) <= _MOST_COMPARED:
            return replace(mentions, over_all=True, spans=(Span("company", *all_of_them.span("all"), ""),))
        named = [company.name for company in companies.values() if company.names]
        return replace(mentions, unclear=which_company(named))

    def _company(self, text: str, unknown: tuple[str, ...]) -> str | None:
        """The company that ``text`` means with enough certainty; ``unknown`` are its names that the catalog lacks."""
        found = self._evidence.candidates(text, unknown)
        if not found.hints_at_one:  # without a name, a likeness or a role ("the buyer of …") all filings compete
            return None
        model = self._model or shipped_company_model()
        company, probability = model.choose(found)
        return company if probability >= model.threshold else None


class NarrowedReader:
    """The queries of ``inner`` for a question that is asked of the filings that pass ``narrowed``: if they are of one
    company, a question that names none is about it."""

    def __init__(
        self, inner: QuestionReader, catalog: CompanyCatalog, filings: FilingTable, narrowed: FilingFilter
    ) -> None:
        self._inner = inner
        self._catalog = catalog
        self._filings = filings
        self._passes = narrowed.test()

    async def read(self, question: str, journal: Journal) -> Query:
        query = await self._inner.read(question, journal)
        if not query.unclear:
            return query
        passing = (filing for filing in self._filings if self._passes(filing))
        companies = dict.fromkeys(self._catalog.company_of_filing[filing.filing_id] for filing in passing)
        if len(companies) == 1:
            return replace(query, companies=tuple(companies), unclear="")
        return replace(query, unclear=which_company([self._catalog.companies[key].name for key in companies]))


def which_company(names: Sequence[str]) -> str:
    """What a question without a company leaves open, if the index has companies of ``names``; "" if it has none."""
    if not names:
        return ""
    listed = ", ".join(sorted(names)[:_LISTED])
    among = f"the index has {len(names)}, among them {listed}" if len(names) > _LISTED else listed
    return f"which company it means ({among})"


def describes(text: str, *, named: bool) -> bool:
    """Whether ``text`` describes a company: "the maker of …", "an American retailer", not "the company's revenue".
    "Which company …" describes one if the question has a name, else it asks about all."""
    for match in _DESCRIBED.finditer(text):
        article, words = match["article"].lower(), match["words"].lower().split()
        tells = article == "its" or match["after"] is not None or not _EMPTY.issuperset(words)
        if named if article in ("which", "what") else tells:
            return True
    return False


def _is_subject(name: str, text: str) -> bool:
    """Whether the question is about what ``name`` names: "Glowick's sales", "the sales of Glowick", but not "the owner
    of Glowick" or "Glowick's owner"."""
    found = re.escape(name)
    if re.search(rf"{found}['’]s?(?! (?:[\w-]+ )?(?:{_ROLE})\b)", text):
        return True
    asked = re.search(rf"\b(?:of|for|by|did|does|do|has|had|have|was|were|is|at) (?:the )?{found}\b", text)
    return asked is not None and not re.search(_OBJECT + rf"(?:the )?{found}", text)


_CAPITALS = r"[A-Z][\w&.-]*(?: [A-Z][\w&.-]*)*"
_JOINING = r" (?:of|and|for) (?:the )?"


def _longer_names(name: str, text: str) -> list[str]:
    """``name`` with the capitalized words that a possessive or "of" joins to it, as in "Sam's Club" or "Bank of
    China", the longest first."""
    on = rf"{re.escape(name)}(?:['’]s {_CAPITALS}|(?:{_JOINING}{_CAPITALS})+)?"
    found = (re.search(pattern, text) for pattern in (rf"(?:{_CAPITALS}{_JOINING})?{on}", on))
    return [match[0] for match in found if match is not None and match[0] != name]


def _whole_name(text: str, span: Span) -> str | None:
    """The capitalized words around the name at ``span`` that belong to a longer name; None if there are none. A
    possessive ends a name, and so do words that questions have in capitals."""
    words = name_words(text)
    first = next((at for at, word in enumerate(words) if word.start >= span.start), None)
    last = next((at for at in reversed(range(len(words))) if words[at].end <= span.end), None)
    if first is None or last is None:
        return None
    start, end = first, last
    while start > 0 and continues_name(words, start) and all_name_like(words[start - 1 : start]):
        start -= 1
    while end + 1 < len(words) and continues_name(words, end + 1) and not words[end + 1].is_legal_suffix:
        end += 1
    if (start, end) == (first, last):
        return None
    while end + 1 < len(words) and words[end + 1].is_legal_suffix:
        end += 1
    return text[words[start].start : words[end].end]
