"""Arguments of the application."""

from __future__ import annotations

import pytest

from finray.core.errors import SettingsError
from serve.config import read_arguments


@pytest.mark.parametrize(
    ("replicas", "message"),
    [
        ({"min_replicas": 3}, "argument 'answering': .*min_replicas is 3, more than max_replicas, 1"),
        ({"max_replicas": 0}, "argument 'answering.max_replicas': "),
        ({"replicas": 2}, "argument 'answering.replicas': "),
    ],
)
def test_replicas_that_cannot_be_are_refused(replicas: dict[str, int], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_arguments({"index": "i", "answering": replicas})
