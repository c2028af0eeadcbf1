"""How well a filing's cover facts match what a question asks for: pure functions, no text.

The largest single lever in open-domain filing retrieval: filings of one company differ by year and form, and of one
year by company, while their text is nearly the same. Period and form of a filing stand in a named relation to those
asked for (filing_relations.py); ``filing_match.json`` holds one weight for each, fitted by ``finray train
filing-match``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from finray.core.fitted import FittedWeights, shipped_weights
from finray.core.period import Period
from finray.core.types import Filing
from finray.question.forms import FormContext
from finray.retrieval.filing_relations import WEIGHTS, CoverRelations, PeriodRelation, period_relations, relations

PERIOD_MATCH = 0.5
"""From this fit on a filing is one of the period asked for, or prints it beside its own."""


def match_score(
    filing: Filing,
    periods: Sequence[Period],
    asked: Sequence[str],
    implied: Mapping[str, FormContext],
    *,
    ahead: bool = False,
) -> tuple[float, tuple[str, ...]]:
    """Score in [0, 1] and the reasons, for a filing whose company already fits.

    ``ahead``: the question is about what was expected of its fiscal years, which filings print before their end.
    """
    related = relations(filing, periods, asked, implied, ahead=ahead)
    weights = shipped_filing_match().weights
    period, why = _best(related.periods, weights)
    reasons = [f"period {period:.2f} ({why})", f"form {filing.form} {weights[related.form]:.2f}"]
    if related.amendment:
        reasons.append("amendment not asked for")
    return cover_score(related, weights), tuple(reasons)


def cover_score(related: CoverRelations, weights: Mapping[str, float]) -> float:
    """In [0, 1]: a mean of the period's and the form's weight, and less for an amendment."""
    period, _ = _best(related.periods, weights)
    share = weights["form_share"]
    form = weights["form_share_undated"] if related.undated else share
    score = (1 - share) * period + form * weights[related.form]
    return score * (weights["amendment"] if related.amendment else 1.0)


def period_fit(filing: Filing, periods: Sequence[Period]) -> tuple[float, str]:
    """How well the filing covers the asked periods, 0 to 1, and why; 0 if it prints no figures of any of them. The
    latest counts most, since filings print earlier ones too."""
    return _best(period_relations(filing, periods), shipped_filing_match().weights)


def _best(related: Sequence[PeriodRelation], weights: Mapping[str, float]) -> tuple[float, str]:
    if not related:
        return PERIOD_MATCH, "no period asked"
    return max(
        (weights[each.name] * (weights["earlier_period"] if each.earlier else 1.0) if each.name else 0.0, each.why)
        for each in related
    )


@cache
def shipped_filing_match() -> FittedWeights:
    """The weights that come with finray. Raises ModelUnavailableError if their file does not fit this version."""
    return shipped_weights("finray.retrieval", "filing_match.json", WEIGHTS)
