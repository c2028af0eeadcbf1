"""Which operation a question asks for."""

from __future__ import annotations

import itertools

from finray.question.plans import OPERATIONS


def test_exactly_one_operation_holds_for_any_features() -> None:
    features = sorted(set().union(*(row.when | row.unless for row in OPERATIONS)))
    for count in range(len(features) + 1):
        for chosen in itertools.combinations(features, count):
            assert sum(row.holds(frozenset(chosen)) for row in OPERATIONS) == 1, chosen
