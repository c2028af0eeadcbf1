"""The wording of a question: its text without instructions, its unexplained words, and the statements it names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from finray.core.filing import Statement
from finray.core.query import Span
from finray.core.vocabulary import COUNT, MONTHS
from finray.question.measures.mentions import mentions
from finray.question.words import blanked, word_list

_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z\"“(])")
_INSTRUCTION = re.compile(
    r"^(?:please\s+)?(?:answer|round|calculate|compute|give|provide|respond|address|base|use|utilize|state|define|"
    r"assume|consider|express|show|report|rely|refer|ensure|make sure|do not|don't|return|keep|write)\b"
    r"|^you are\b|^if .{0,80}\b(?:not|isn't|aren't)\b.{0,120}\b(?:state|say|explain)\b"
    r"|^[^.?]{0,60}\b(?:is|are) defined as\b",
    re.I,
)
_LEAD_IN = re.compile(
    r"^(?:[^?]{0,200}\bhere(?:'s| is) the question:\s*)|^(?:based on|basing|by|taking|using|looking|drawing|"
    r"according to|considering|relying|given|with reference to|in light of|from)\b[^?]{10,200}?,\s+"
    r"(?=(?:what|how|which|did|does|is|was|were|has|have|who|when|why|can|by)\b)",
    re.I,
)

STATEMENT_WORDS: tuple[tuple[Statement, re.Pattern[str]], ...] = (
    ("cash_flow", re.compile(r"\bcash[- ]flows? statements?\b|\bstatements? of (?:consolidated )?cash flows?\b", re.I)),
    (
        "comprehensive_income",
        re.compile(r"\bstatements? of (?:consolidated )?comprehensive (?:income|loss|earnings)\b", re.I),
    ),
    (
        "income",
        re.compile(
            r"\bincome statements?\b|\bstatements? of (?:consolidated )?(?:income|operations|earnings)\b|\bP ?& ?L\b|"
            r"\bprofit and loss\b|\bprofit (?:&|or) loss\b",
            re.I,
        ),
    ),
    (
        "balance",
        re.compile(r"\bbalance sheets?\b|\bstatements? of (?:consolidated )?financial (?:position|condition)\b", re.I),
    ),
    (
        "equity",
        re.compile(
            r"\bstatements? of (?:changes in )?(?:share|stock)holders['’]? ?(?:equity|investment)\b|"
            r"\bstatements? of (?:changes in )?equity\b",
            re.I,
        ),
    ),
)
_ABOUT = re.compile(
    r"^\W*(?:what|how|here|question|quick|so|just|and|now|next|one|another|a|an|the|for|tell|give|let)\b[^:?\d]{2,80}:\s+",
    re.I,
)
"""A clause before the question that says what it is about: "What's the liquidity picture: current ratio of ...?"."""
_AT_CLOSE = re.compile(
    r",?\s*\b(?:based on|using|on the basis of|taking|with|on)\s+(?:the\s+)?(?:fiscal\s+)?"
    r"(?:year[- ]?end|period[- ]?end|closing|ending)\b[^,?.]*",
    re.I,
)
"""Words that take the balances at the end of the period where a metric is usually of average ones."""
_YEARS_OF_GROWTH = re.compile(
    rf"\b{COUNT}[- ]years?\s+(?=(?:[a-z]+\s+)?(?:CAGR|compound\w*|annuali[sz]ed|average annual))", re.I
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_COMMON = word_list("common")
_FORMULA = re.compile(r"\s*\([^()]*(?:/|\bdivided by\b)[^()]*\)")
"""A formula in parentheses: "the current ratio (current assets / current liabilities)"."""
_DEFINITION = re.compile(
    r"(?:,\s*+|(?<!\s)\s*+)\bwhere\s++[^,.?]{2,60}?\s++(?:is|are)\s++defined\s++as\b.*?(?=[.?](?:\s|$)|$)", re.I | re.S
)
_CONTRAST = re.compile(
    r"[,(:;–—-]? ?\b(?:and )?(?:not|rather than|as opposed to|instead of) (?:just |only |for )?(?:the |a |its |that )?"
    r"(?:(?:single|full|whole|entire|trailing|first|six|nine|twelve|fiscal|calendar|june|march|september|december)"
    r"[ -]){0,2}"
    r"(?:quarter|year(?:[ -]to[ -]date)?|half(?:[ -]year)?|months?)(?: (?:alone|figure|number|total|amount))?\)?"
    r"(?= ?(?:[,:;.?)]|$)):?|"
    r"\b(?:just|only) (?=the (?:quarter|three|six|nine|year)\b)|"
    r"(?<=\w) (?:alone|on its own|by itself)\b(?= ?(?:[,:;.?)]|$))",
    re.I,
)
"""A period that is not meant: "not the quarter", "as opposed to the full year", "alone". Expects single spaces."""
_ORDER = re.compile(r"(?:^\W*|[.!?,;:]\s*|\b(?:please|to|you|and|then)\s+)compute\b", re.I)
"""The verb "compute": the noun is something that companies sell."""


def unexplained_words(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    """Words of ``text`` outside ``spans`` that are not common in numeric questions, except numbers, fiscal years and
    quarters."""
    explained = [*((span.start, span.end) for span in spans), *(order.span() for order in _ORDER.finditer(text))]
    words = re.findall(r"[^\W\d_][\w&'’-]*", blanked(text, explained).lower())
    return tuple(
        word
        for word in (re.sub(r"['’]s?$", "", w) for w in words)
        if word
        and word not in _COMMON
        and word not in MONTHS
        and not word.endswith("ly")
        and not re.fullmatch(r"fy\d*(?:q\d)?|q\d+|[ks]", word)
    )


def without_instructions(question: str) -> str:
    """The question without personas, rounding instructions, definitions and lead-ins; unchanged if nothing is left."""
    asked = _FORMULA.sub(" ", _DEFINITION.sub("", question.strip()))
    kept = [s for s in _SENTENCE.split(asked) if not _INSTRUCTION.search(s.strip())] or [asked]
    text = " ".join(_LEAD_IN.sub("", sentence, count=1).strip() for sentence in kept).strip()
    text = _without_asides(text)
    squeezed = " ".join(text.split())
    if _CONTRAST.search(squeezed) is not None:
        text = " ".join(_CONTRAST.sub(" ", squeezed).split()).strip(" ,:;") or text
    return text or question.strip()


def at_close(question: str) -> bool:
    """Whether ``question`` says that a metric is of balances at the end of the period, not of average ones."""
    match = _AT_CLOSE.search(question)
    return match is not None and bool(mentions(question[: match.start()]))


def _without_asides(text: str) -> str:
    """``text`` without what only says what it is about, or how its metric is made."""
    about = _ABOUT.match(text)
    if about is not None and mentions(text[about.end() :]) and not mentions(about[0]):
        text = text[about.end() :]
    if at_close(text):
        text = _AT_CLOSE.sub("", text)
    # The years say how many there are.
    return _YEARS_OF_GROWTH.sub("", text) if len(set(_YEAR.findall(text))) > 1 else text


def statement_spans(text: str) -> tuple[tuple[int, int, Statement], ...]:
    """(start, end, statement) of each phrase that names a primary statement."""
    return tuple((*m.span(), statement) for statement, pattern in STATEMENT_WORDS for m in pattern.finditer(text))


def statements_named(question: str) -> tuple[Statement, ...]:
    """The primary statements that the question names, in the order of the annual report."""
    return tuple(dict.fromkeys(statement for _, _, statement in statement_spans(question)))
