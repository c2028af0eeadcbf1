from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.api.byte_cache import ByteCache


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 60), st.booleans()), max_size=60))
def test_the_cache_stays_within_its_bytes_and_returns_the_last_value(
    steps: list[tuple[str, int, bool]],
) -> None:
    cache, last = ByteCache(100), dict[str, bytes]()
    for key, size, reads in steps:
        if reads:
            assert cache.get(key) in (None, last.get(key))
        else:
            last[key] = bytes([ord(key)]) * size
            cache.put(key, last[key])
            assert cache.get(key) == last[key]
        held = [value for each in last if (value := cache.get(each)) is not None]
        assert cache.bytes_held == sum(map(len, held)) <= 100


def test_recently_used_values_stay() -> None:
    cache = ByteCache(10)
    for key in "ab":
        cache.put(key, b"12345")
    assert cache.get("a")
    cache.put("c", b"12345")
    assert [cache.get(key) is not None for key in "abc"] == [True, False, True]
    cache.put("a", b"x" * 11)  # replaces a value by one that is too large to keep
    assert cache.get("a") is None
    cache.clear()
    assert cache.bytes_held == 0
