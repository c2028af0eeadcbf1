"""What a question measures: named metrics, a definition in the question, or any noun phrase that a table may print."""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from finray.core.plan import Formula, Measure, Measures, Phrase, Unit
from finray.core.query import PIECES, Query, Span
from finray.core.vocabulary import MONTH
from finray.filings.tables.canonical import canonical_items
from finray.question.arithmetic import RESERVED_NAMES, ProgramError, parse
from finray.question.intents import masked
from finray.question.measures.definitions import defined_formula
from finray.question.measures.formulas import formula_of, formulas, line_items
from finray.question.measures.mentions import mentions
from finray.question.measures.operations import Reading, readings
from finray.question.measures.phrase import phrase_of, without_context
from finray.question.periods.sources import without_source
from finray.question.synonyms import qualifiers, words_of
from finray.question.wording import at_close

_MARGIN = re.compile(r"\s*+(?:(?:%|percent(?:age)?)\s*+)?margin\b", re.I)
_AS_SHARE = re.compile(
    r"\W*(?:as an? (?:%|per ?cent(?:age)?|share|proportion|fraction)|share|proportion) of (?:\w+ )?(?:total )?", re.I
)
_DIVIDED = r"(?:divided by|as an? (?:%|per ?cent(?:age)?|share|proportion|fraction) of|÷|/)"
_DEFINED = re.compile(
    r"(?:\b(?:(?:is|are)\s*+)?(?:defined|calculated|computed|measured|expressed)\s++as(?:\s*+:)?|\buse\b|\busing\b|\()\s*+"
    rf"([^().?;]{{3,90}}?\s{_DIVIDED}\s[^().?;]{{3,90}}?)(?<!\s)\s*+(?=\)|[.?;]|$)",
    re.I,
)
_ASKS_PERCENT = re.compile(r"%|\bper ?cent|\bmargin\b|\brate\b|\byield\b|\bshare of\b", re.I)
_OPERATORS = re.compile(rf"(\s{_DIVIDED}\s|\s(?:plus|minus)\s|\s[+×*]\s|[()])", re.I)
_SIGNS = {"plus": "+", "minus": "-", "+": "+", "×": "*", "*": "*"}
_INSTANT = re.compile(
    rf"\b(?:at|as of|as at)\s+(?:the\s+)?(?:(?:end|close) of|(?:fiscal\s+)?year[- ]end|{MONTH})\b|"
    r"\bon\s+the\s+last\s+day\s+of\b|"
    rf"\b(?:for|between|from|to|than|vs\.?)\s+the end of\b|"
    rf"\b(?:report|disclose)\w* for {MONTH}\b|"
    r"\bthe end of (?:Q[1-4]|the|FY|fiscal|20)\b",
    re.I,
)
_UP_OR_DOWN = re.compile(r"\b(?:increase|decrease)s?\s*+/\s*+(?:\(\s*+)?(?:increase|decrease)s?\)?", re.I)
_NARROWS = re.compile(r"\b(?:before|after|excluding|except|plus|cash and)\s++(?:(?:the|any)\s++)?$", re.I)
_NEAR = 40
"""Characters before a metric that are searched for such a word."""
_JOINED = re.compile(r",?\s+(?:and|plus)\s+", re.I)
_RATES: frozenset[Unit] = frozenset({"percent", "ratio", "days"})
_ACCRUED = frozenset({"income_tax", "interest_expense"})
"""Expenses that are paid at another time than recorded."""
_PAID = re.compile(r"\b(?:pay|paid|in cash)\b", re.I)
_MAX_WORDS = 16
_MAX_ROW_WORDS = 40
"""Most words of a row's name that includes words of change."""
_AVERAGE = re.compile(r"\bavg\(([^()]*)\)")
_MOVES = frozenset(words_of("change changes increase increases decrease decreases"))
_AVERAGES = frozenset(words_of("average averages mean"))
_SHARE_WORDS = re.compile(
    r"^\W*(?:(?:what|how much)\s+(?:was|were|is|are)\s+)?(?:the\s+)?(?:%|per ?cent(?:age)?|proportion|share|fraction)"
    r"\s+of\s+",
    re.I,
)
_ASKS_SHARE = re.compile(r"\b(?:portion|proportion|share of|fraction|margin|percentage of|how many times)\b", re.I)
_EMPTY = frozenset(words_of("total amount balance account figure number value sum table end beginning"))
"""Words that do not tell rows apart."""
_NAME = re.compile(r"(?<=[^.?!:] )[A-Z][\w&-]+")
"""A word in capitals that does not begin a sentence."""
_NO_NAMES = frozenset({"nyse", "nasdaq", "usd", "gaap", "sec", "inc", "corp", "corporation", "company", "plc"})
_SENTENCES = re.compile(r"(?<=[a-z)][.?!])\s+")
_COMBINED = {"share": "{0} / {1}", "ratio": "{0} / {1}", "difference": "{0} - {1}", "sum": "{0} + {1}"}
_UNASKED_QUALIFIERS = frozenset(
    words_of("net other sales sale paid purchases purchase payments proceeds gross gains losses issuance")
)
"""Qualifiers that no person asks for: they do not make a named metric another row."""
UNIT_OF: dict[Measure, Unit] = {"money": "USD", "shares": "shares", "per share": "USD/share", "percent": "percent"}


def measures_of(query: Query) -> tuple[Measures, ...]:
    """What the question may measure, the likeliest first; empty if it asks for words."""
    if "words" in query.intents:
        return ()
    named = [] if query.unexplained or is_narrowed(query) else [named_measures(query)]
    if "which" not in query.intents and "not_an_amount" in query.intents:
        return tuple(named)
    moving = bool(query.intents & {"change", "which"})
    spelled = spelled_measures(query, moving=moving, aggregate="aggregate" in query.intents)
    # "How much of net income was paid out as dividends" names two metrics, and asks for neither.
    combined = bool(named) and len(named[0].formulas) > 1 and bool(spelled) and not spelled[0].phrases
    return (*spelled, *named) if spells_definition(query) or combined else (*named, *spelled)


def named_measures(query: Query) -> Measures:
    """The metrics that the question names; a definition in the question overrides ours."""
    found = _metrics(query)
    result: list[Formula] = []
    for mention, following in itertools.zip_longest(found, found[1:]):
        formula = formula_of(mention.value)
        between = "" if following is None else query.text[mention.end : following.start]
        if formula.unit in _RATES and _AS_SHARE.match(query.text, mention.end):
            # "Gross margin as a percentage of revenue" is the margin; that of anything else is of a row called so.
            is_rate = following is not None and _AS_SHARE.fullmatch(between) and _is_part(formula, following.value)
            return Measures((formula,) if is_rate else ())
        if following is not None and _AS_SHARE.fullmatch(between):
            other = formula_of(following.value)
            name = f"{formula.names[0]} as a percentage of {other.names[0]}"
            return Measures((Formula("ratio", (name,), f"({formula.expression}) / ({other.expression})", "percent"),))
        if _MARGIN.match(query.text[mention.end :]) and formula.unit == "USD":
            formula = Formula(
                f"{formula.key}_margin", (f"{formula.names[0]} margin",), f"({formula.expression}) / revenue", "percent"
            )
        result.append(formula)
    compound = [f for f in result if f.key in formulas() or f.key.endswith("_margin")]
    covered = {item for f in compound for item in line_items(f)}
    result = [f for f in result if f in compound or f.key not in covered]
    result = [replace(each, expression=_based(each, query)) for each in result]
    own = defined_formula(query.question)
    if own is not None:
        shown = result[0] if result else Formula("defined", ("the defined metric",), own, "ratio")
        return Measures((replace(shown, expression=own),))
    return Measures(tuple(result))


def _is_part(formula: Formula, metric: str) -> bool:
    """Whether all line items of ``metric`` are among those of ``formula``."""
    return set(line_items(formula_of(metric))) <= set(line_items(formula))


def spells_definition(query: Query) -> bool:
    """Whether the question spells out a quotient, so that a metric that it also names is not the answer."""
    return _DEFINED.search(query.question) is not None


def is_narrowed(query: Query) -> bool:
    """Whether a word beside the named metric changes which row is meant: "current income tax expense"."""
    found = _metrics(query)
    rest = masked(query.text, found, "")
    if any(_NARROWS.search(query.text, max(0, m.start - _NEAR), m.start) for m in found):
        return True
    if any(_JOINED.fullmatch(query.text[a.end : b.start]) for a, b in itertools.pairwise(found)):
        return True
    if any(mention.value in _ACCRUED for mention in found) and _PAID.search(rest):
        return True
    counted = phrase_of(query.text, query.names, moving=True)
    if counted is not None and counted.measure == "shares" and any(formula_of(m.value).unit == "USD" for m in found):
        return True
    phrase = phrase_of(rest, query.names, moving=True)
    telling = {word for line in qualifiers() for side in line for word in side} - _UNASKED_QUALIFIERS
    return phrase is not None and bool(telling & set(phrase.words))


def spelled_measures(query: Query, *, moving: bool = False, aggregate: bool = False) -> tuple[Measures, ...]:
    """What the question's own words may measure, the likeliest first: quotients, differences and sums that it spells
    out, or one phrase. Empty if it has too few or too many words for one row of a table.

    ``moving`` if it asks for a change, ``aggregate`` if it asks for an average or a sum.
    """
    text = _UP_OR_DOWN.sub("change", without_source(query.text, query.source, query.intents))
    if (defined := _DEFINED.search(query.question)) is not None:
        return _arithmetic(defined.group(1), query)
    if re.search(rf"\s{_DIVIDED}\s", text):
        return _arithmetic(text, query)
    read = [
        measures
        for reading in readings(without_context(text, query.names))
        if (measures := _read(reading, query)) is not None
    ]
    phrase = _phrase(text, query, moving=moving, aggregate=aggregate)
    whole = [_row(phrase)] if phrase is not None and _names_row(phrase) else []
    if (moving or aggregate) and len(query.asked) < 2:
        # "the change in other assets", "the average price": a table may print it as a row
        row = _phrase(text, query)
        if row is not None and row != phrase and len(row.words) <= _MAX_ROW_WORDS:
            must = _MOVES if moving else _AVERAGES
            whole = [replace(_row(replace(row, must=must)), settled=True), *whole]
    summed = bool(read) and any(sign in read[0].formulas[0].expression for sign in ("mean(", " + "))
    return (*whole, *read) if summed else tuple(read or whole)


def tagged_measures(query: Query, quantities: Sequence[Sequence[str]], operation: str) -> tuple[Measures, ...]:
    """What ``quantities``, each in the pieces of the question that name it, may measure by ``operation``: one row, or
    two combined. Empty if the rules read another operation, or if the words name a metric that other words narrow."""
    named = tuple(" ".join(pieces) for pieces in quantities)
    template = _template(query, operation, len(named))
    if template is None:
        return ()
    if operation == "value" and _ASKS_SHARE.search(query.question) is not None and query.shape.unit is None:
        return ()
    percent = operation == "share" or (operation == "ratio" and _ASKS_PERCENT.search(query.question) is not None)
    measures = _read(Reading(template, named, percent), query)
    if measures is None or (len(measures.phrases) < len(named) and _narrowed_beside(query, quantities)):
        return ()
    return (replace(measures, settled=len(named) > 1),)


def divides_rate(quantities: Sequence[Sequence[str]]) -> bool:
    """Whether one of two ``quantities``, each in the pieces of the question that name it, is called like a rate of
    which the other is no part: the quotient of "return on assets" and "the balance" is not that rate."""
    named = [_metric_named(" ".join(pieces)) for pieces in quantities]
    pairs = zip(named, reversed(named), strict=True)
    return len(named) == 2 and any(
        one is not None and one.unit in _RATES and (other is None or not _is_part(one, other.key))
        for one, other in pairs
    )


def quantity_phrases(query: Query) -> tuple[Phrase, ...]:
    """The query's ``quantities`` as phrases that a row may print, except those that cannot be the name of a row."""
    read = (_phrase(words.replace(PIECES, " "), query) for words in query.quantities)
    return tuple(phrase for phrase in read if phrase is not None and _names_row(phrase))


def _names_row(phrase: Phrase) -> bool:
    """Whether ``phrase`` may be the name of a row: not too long, and with a word that tells rows apart."""
    return len(phrase.words) <= _MAX_WORDS and not set(phrase.words) <= _EMPTY


def _template(query: Query, operation: str, quantities: int) -> str | None:
    """The formula over this many quantities, if ``operation`` agrees with the rules; None if it does not."""
    periods = len(query.asked)
    if quantities > 1:
        return _COMBINED.get(operation) if periods < 2 else None
    if query.intents & {"growth", "change"}:
        agreed = periods == 2 or operation in ("growth", "difference")
    elif "aggregate" in query.intents:
        agreed = periods >= 2 or operation in ("average", "sum")
    else:
        agreed = periods < 2 and operation == "value"
    return "{0}" if quantities and agreed else None


def _narrowed_beside(query: Query, quantities: Sequence[Sequence[str]]) -> bool:
    """Whether a sentence with the quantities has a further name: "net sales reported in EMEA"."""
    pieces = [piece for own in quantities for piece in own]
    known = [*pieces, *(query.text[span.start : span.end] for span in query.spans)]
    sentences = [each for each in _SENTENCES.split(query.text) if any(piece in each for piece in pieces)]
    rest = " ".join(sentences or [query.text])
    for words in sorted(known, key=len, reverse=True):
        rest = rest.replace(words, ",")
    return any(name.lower() not in _NO_NAMES for name in _NAME.findall(rest))


def _phrase(text: str, query: Query, *, moving: bool = False, aggregate: bool = False) -> Phrase | None:
    """:func:`phrase_of` ``text``, a part of the question, with the measure that the question states for its answer."""
    instant = _INSTANT.search(query.question) is not None
    phrase = phrase_of(text, query.names, moving=moving, instant=instant, aggregate=aggregate)
    asked = query.shape.unit
    if phrase is None or (asked != "money" and asked != "shares" and asked != "per share"):
        return phrase
    return replace(phrase, measure=asked, stated=True)


def _row(phrase: Phrase) -> Measures:
    """The figure in the row that ``phrase`` names."""
    name = _identifier(phrase)
    return Measures((Formula(name, (phrase.text,), name, UNIT_OF[phrase.measure]),), {name: phrase})


def _read(reading: Reading, query: Query) -> Measures | None:
    """The formula of ``reading``, over phrases; None if an operand is empty or two are equal."""
    phrases: dict[str, Phrase] = {}
    parts: list[str] = []
    units: set[Unit] = set()
    for words in reading.operands:
        operand = _operand(words, query, phrases)
        if operand is None:
            return None
        parts.append(operand[0])
        units.add(operand[1])
    if len(set(parts)) < len(parts) or ("/" in reading.template and _mixes(units)):
        return None
    expression = reading.template.format(*parts)
    unit: Unit = "percent" if reading.percent else "ratio" if "/" in reading.template else "USD"
    if unit == "USD" and len(units) == 1:
        unit = units.pop()
    named = " and ".join(reading.operands)
    return Measures((Formula("defined", (named,), expression, unit),), phrases, settled=True)


def _arithmetic(text: str, query: Query) -> tuple[Measures, ...]:
    """``text`` as an expression; empty if it is not one."""
    phrases: dict[str, Phrase] = {}
    parts: list[str] = []
    units: set[Unit] = set()
    for token in _OPERATORS.split(text):
        word = token.strip().lower()
        if not word:
            continue
        if _OPERATORS.fullmatch(token):
            parts.append(_SIGNS.get(word, word if word in "()" else "/"))
            continue
        operand = _operand(_SHARE_WORDS.sub("", token), query, phrases)
        if operand is None:
            return ()
        parts.append(operand[0])
        units.add(operand[1])
    expression = " ".join(parts)
    if "/" in expression and _mixes(units):
        return ()
    try:
        parse(expression)
    except ProgramError:
        return ()
    unit: Unit = "percent" if _ASKS_PERCENT.search(query.question) else "ratio"
    return (Measures((Formula("defined", (" ".join(text.split()),), expression, unit),), phrases, settled=True),)


def _operand(words: str, query: Query, phrases: dict[str, Phrase]) -> tuple[str, Unit] | None:
    """The metric that ``words`` name as an expression, or the name of a new phrase in ``phrases``; and its unit. None
    if ``words`` cannot be the name of a row."""
    phrase = _phrase(words, query)
    if phrase is None or not _names_row(phrase):
        return None
    if (formula := _metric_named(phrase.text)) is not None:
        return f"({_based(formula, query)})", formula.unit
    name = _identifier(phrase)
    phrases[name] = phrase
    return name, UNIT_OF[phrase.measure]


def _based(formula: Formula, query: Query) -> str:
    """The expression of ``formula``, over closing balances if ``query`` says so."""
    return _AVERAGE.sub(r"\1", formula.expression) if at_close(query.question) else formula.expression


def _metric_named(words: str) -> Formula | None:
    """The metric that has ``words`` as its name."""
    whole = (mention for mention in mentions(words) if (mention.start, mention.end) == (0, len(words)))
    mention = next(whole, None)
    return None if mention is None else formula_of(mention.value)


def _mixes(units: Collection[Unit]) -> bool:
    """Whether a quotient of operands in ``units`` means nothing: rates beside amounts."""
    return any(unit in _RATES for unit in units) and any(unit not in _RATES for unit in units)


def _identifier(phrase: Phrase) -> str:
    """The name of ``phrase`` as an operand, other than those of functions, keywords and line items."""
    name = phrase.name
    taken = name in RESERVED_NAMES or keyword.iskeyword(name) or name in canonical_items()
    return f"the_{name}" if taken else name


def _metrics(query: Query) -> Sequence[Span]:
    return [span for span in query.spans if span.kind == "metric"]
