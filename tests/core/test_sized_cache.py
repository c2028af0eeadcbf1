"""A cache stays within its bytes, and keeps what was used last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.core.sized_cache import SizedCache


def test_the_value_used_longest_ago_goes_first() -> None:
    cache: SizedCache[str, int] = SizedCache(30)
    for name in "abc":
        cache.put(name, ord(name), 10)
    assert cache.get("a") == ord("a")
    cache.put("d", ord("d"), 10)
    assert [name for name in "abcd" if name in cache] == ["a", "c", "d"]
    assert cache.get("b") is None


def test_a_value_larger_than_the_cache_stays_until_the_next() -> None:
    cache: SizedCache[str, int] = SizedCache(30)
    cache.put("a", 1, 10)
    cache.put("large", 2, 100)
    assert cache.get("large") == 2
    assert "a" not in cache
    cache.put("b", 3, 10)
    assert (len(cache), cache.size, cache.get("b")) == (1, 10, 3)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 40))))
def test_its_size_is_that_of_its_values_and_within_the_limit(puts: list[tuple[str, int]]) -> None:
    cache: SizedCache[str, int] = SizedCache(50)
    for name, size in puts:
        cache.put(name, size, size)
    assert cache.size == sum(cache.get(name) or 0 for name in "abcdef")
    assert cache.size <= 50
    assert all(cache.get(name) == size for name, size in puts[-1:])
