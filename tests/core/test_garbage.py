"""Processes that make millions of objects look for garbage seldom."""

from __future__ import annotations

import gc

from finray.core.garbage import collect_seldom

PYTHONS = (700, 10, 10)


def test_collections_are_seldom_but_go_on() -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(*PYTHONS)  # tests/conftest.py has changed it for all tests
        collect_seldom()
        assert gc.get_threshold()[0] >= 10 * PYTHONS[0]
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
