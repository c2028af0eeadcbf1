from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.sorted_keys import ArrowColumn, KeyedValues, SortedKeys, key_bytes

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.sets(_TEXT), st.text())
def test_every_key_is_found_where_it_is_and_no_other(keys: set[str], other: str) -> None:
    ordered = sorted(keys)
    found = SortedKeys(pa.array(ordered, pa.string()))
    assert list(found) == ordered == found[:]
    assert [found.position(key) for key in ordered] == list(range(len(ordered)))
    assert found.position(other) == (ordered.index(other) if other in keys else None)
    assert (other in found) == (other in keys)


@given(st.sets(st.text(st.characters())), st.text(st.characters()))
def test_keys_may_have_lone_surrogates_as_bytes(keys: set[str], other: str) -> None:
    ordered = sorted(keys)
    found = SortedKeys(pa.array([key_bytes(key) for key in ordered], pa.binary()))
    assert list(found) == ordered
    assert found.position(other) == (ordered.index(other) if other in keys else None)


def test_slices_of_a_larger_column_are_keys_too() -> None:
    column = pa.chunked_array([pa.array(["a", "b"]), pa.array(["c", "d"])]).slice(1, 2)
    keys = SortedKeys(column)
    assert (list(keys), keys[-1], keys.position("c"), keys.position("d")) == (["b", "c"], "c", 1, None)
    with pytest.raises(IndexError):
        keys[2]


@pytest.mark.parametrize(
    ("keys", "why"), [(["b", "a"], "not in order"), (["a", "a"], "not in order"), ([None], "null")]
)
def test_other_than_different_keys_in_order_are_refused(keys: list[str | None], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        SortedKeys(pa.array(keys, pa.string()))


def test_keyed_values_are_a_mapping() -> None:
    values = KeyedValues[int](SortedKeys(pa.array(["a", "b"])), ArrowColumn(pa.array([1, 2])))
    assert values == {"a": 1, "b": 2}
    assert (list(values.values()), list(values.items()), values.get("c")) == ([1, 2], [("a", 1), ("b", 2)], None)
    assert ("a", 1) in values.items()
    assert ("a", 2) not in values.items()
    with pytest.raises(KeyError, match="c"):
        values["c"]
