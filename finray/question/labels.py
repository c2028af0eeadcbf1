"""Labels the words of a question, except company names: metrics, periods, forms, statements, units, operators."""

from __future__ import annotations

from finray.core.query import Span
from finray.question.forms import form_spans
from finray.question.intents import operator_spans
from finray.question.measures.mentions import mentions
from finray.question.measures.shape import shape_spans
from finray.question.periods.named import period_spans
from finray.question.wording import statement_spans


def labels(text: str) -> tuple[Span, ...]:
    """The spans of ``text``, kind by kind. Kinds may overlap: "net income growth" names a metric and an operator."""
    return (
        *mentions(text),
        *(Span("period", start, end, str(period)) for start, end, period in period_spans(text)),
        *(Span("form", start, end, " ".join(forms)) for start, end, forms in form_spans(text)),
        *(Span("statement", start, end, statement) for start, end, statement in statement_spans(text)),
        *(Span("unit", start, end, words) for start, end, words in shape_spans(text)),
        *(Span("operator", start, end, intent) for start, end, intent in operator_spans(text)),
    )
