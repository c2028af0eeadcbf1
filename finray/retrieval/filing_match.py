"""Scores how well a filing's cover facts match a question, without its text.

Cover facts help most in open-domain filing retrieval: filings of one company differ by year and form, filings of one
year by company, while their text is nearly the same. ``filing_relations`` names the relation of a filing's period and
form to those asked for; ``filing_match.json`` has a weight for each, fitted by ``finray train filing-match``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from finray.core.filing import Filing
from finray.core.fitted import FittedWeights, shipped_weights
from finray.core.period import Period
from finray.question.forms import FormContext
from finray.retrieval.filing_relations import WEIGHTS, CoverRelations, PeriodRelation, period_relations, relations

PERIOD_MATCH = 0.5
"""Least fit of a filing that covers the period asked for, or prints it beside its own."""


def match_score(
    filing: Filing,
    periods: Sequence[Period],
    asked: Sequence[str],
    implied: Mapping[str, FormContext],
    *,
    ahead: bool = False,
) -> tuple[float, tuple[str, ...]]:
    """Returns a score in [0, 1] and its reasons, for a filing of the right company.

    With ``ahead`` the question asks for expectations about its fiscal years, which filings print before the years end.
    """
    related = relations(filing, periods, asked, implied, ahead=ahead)
    weights = shipped_filing_match().weights
    period, why = _best(related.periods, weights)
    reasons = [f"period {period:.2f} ({why})", f"form {filing.form} {weights[related.form]:.2f}"]
    if related.amendment:
        reasons.append("amendment not asked for")
    return cover_score(related, weights), tuple(reasons)


def cover_score(related: CoverRelations, weights: Mapping[str, float]) -> float:
    """A weighted mean of the weights of period and form, times a factor for an amendment; in [0, 1]."""
    period, _ = _best(related.periods, weights)
    share = weights["form_share"]
    form = weights["form_share_undated"] if related.undated else share
    score = (1 - share) * period + form * weights[related.form]
    return score * (weights["amendment"] if related.amendment else 1.0)


def period_fit(filing: Filing, periods: Sequence[Period]) -> tuple[float, str]:
    """How well the filing covers ``periods``, 0 to 1, and why; 0 if it prints figures of none. The latest period counts
    most, because filings print earlier ones too."""
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
