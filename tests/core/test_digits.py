from __future__ import annotations

import pytest

from finray.core.digits import decimal_digits, digits, significant_digits


@pytest.mark.parametrize(
    ("text", "all_of_them", "significant", "decimal"),
    [
        ("$2,826", "2826", "2826", "2826"),
        ("2,826,000", "2826000", "2826", "2826000"),
        ("(0.050)", "0050", "5", "0.050"),
        ("$3.7725 billion.", "37725", "37725", "3.7725"),
        ("—", "", "", ""),
        ("0", "0", "", "0"),
    ],
)
def test_digits_of_figures(text: str, all_of_them: str, significant: str, decimal: str) -> None:
    assert (digits(text), significant_digits(text), decimal_digits(text)) == (all_of_them, significant, decimal)
