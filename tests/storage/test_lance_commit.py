"""Errors of Lance, as finray raises them."""

from __future__ import annotations

import pytest

from finray.storage.lance_commit import panics_as_errors


class PanicException(BaseException):
    """As PyO3 names what it raises when Rust panics."""


def test_a_panic_of_lance_is_an_error_that_can_be_caught() -> None:
    with pytest.raises(OSError, match="range start"), panics_as_errors():
        raise PanicException("range start must not be greater than end")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_anything_else_passes(error: type[BaseException]) -> None:
    with pytest.raises(error), panics_as_errors():
        raise error
