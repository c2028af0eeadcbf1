"""Forward passes in float32 and int8: the states of transformers' own BERT, chosen by the processor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from finray.lab.training.input_ranges import observed_ranges
from finray.lab.training.minilm_module import minilm_layers
from finray.models.bert import forward
from finray.models.bert.forward import ForwardPass, fine_tuned_pass, input_ranges, processor_threads
from finray.models.bert.int8 import InputRange
from finray.models.bert.packing import packed
from finray.models.bert.weights import fitting, layer_shapes, minilm_weights
from finray.models.devices import multiplies_int8
from finray.models.minilm import minilm_folder

SEQUENCES = [list(range(2000, 2000 + length)) for length in (5, 30, 1, 17)]
SECOND = [2, 30, 0, 9]
LAYERS = 6
in_int8 = pytest.mark.skipif(not multiplies_int8(), reason="sums of products of bytes overflow on this processor")


def _state() -> dict[str, np.typing.NDArray[np.float32]]:
    return fitting(minilm_weights(), layer_shapes(LAYERS))


@pytest.fixture(scope="module")
def expected() -> list[np.typing.NDArray[np.float32]]:
    """The states of each sequence alone."""
    from transformers import AutoModel

    bert = AutoModel.from_pretrained(str(minilm_folder())).eval()
    found = []
    with torch.inference_mode():
        for tokens, second in zip(SEQUENCES, SECOND, strict=True):
            types = (torch.arange(len(tokens)) >= second).long()[None]
            states = bert(input_ids=torch.tensor([tokens]), token_type_ids=types).last_hidden_state[0]
            found.append(states.numpy())
    return found


@pytest.fixture(scope="module")
def ranges() -> dict[str, InputRange]:
    bert = minilm_layers(LAYERS)
    with observed_ranges(bert, LAYERS) as found:
        bert(packed(SEQUENCES, SECOND))
    return input_ranges(found, LAYERS)


def test_states_are_those_of_each_sequence_alone(expected: list[np.typing.NDArray[np.float32]]) -> None:
    states = ForwardPass(_state(), LAYERS).states(packed(SEQUENCES, SECOND))
    assert [len(own) for own in states] == [len(own) for own in SEQUENCES]
    for own, wanted in zip(states, expected, strict=True):
        np.testing.assert_allclose(own, wanted, atol=1e-4)


@in_int8
def test_int8_comes_close(expected: list[np.typing.NDArray[np.float32]], ranges: dict[str, InputRange]) -> None:
    states = ForwardPass(_state(), LAYERS, ranges).states(packed(SEQUENCES, SECOND))
    for own, wanted in zip(states, expected, strict=True):
        cosines = (own * wanted).sum(1) / np.linalg.norm(own, axis=1) / np.linalg.norm(wanted, axis=1)
        assert cosines.min() > 0.99


@in_int8
def test_int8_states_do_not_depend_on_the_other_sequences(ranges: dict[str, InputRange]) -> None:
    one = ForwardPass(_state(), LAYERS, ranges)
    together = one.states(packed(SEQUENCES, SECOND))
    for own, second, wanted in zip(SEQUENCES, SECOND, together, strict=True):
        np.testing.assert_allclose(one.states(packed([own], [second]))[0], wanted, atol=0.02)


@pytest.mark.parametrize("fast", [True, False])
def test_the_processor_chooses(fast: bool, ranges: dict[str, InputRange], monkeypatch: pytest.MonkeyPatch) -> None:
    """Fine-tuned layers compute in int8 if the processor does so fast, and in float32 otherwise."""
    monkeypatch.setattr(forward, "multiplies_int8", lambda: fast)
    state = {f"bert.{name}": value for name, value in _state().items()}
    state |= {f"bert.{name}.low": each.low for name, each in ranges.items()}
    state |= {f"bert.{name}.high": each.high for name, each in ranges.items()}
    given = packed(SEQUENCES, SECOND)
    chosen = fine_tuned_pass(state, LAYERS).states(given)
    wanted = ForwardPass(_state(), LAYERS, ranges if fast else None).states(given)
    assert all(np.array_equal(*each) for each in zip(chosen, wanted, strict=True))


def test_threads_share_a_pass() -> None:
    one, given = ForwardPass(_state(), LAYERS), [packed([own], [0]) for own in SEQUENCES]
    alone = [one.states(each)[0] for each in given]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda each: one.states(each)[0], given * 5))
    for at, states in enumerate(together):
        np.testing.assert_array_equal(states, alone[at % len(alone)])


def test_threads_are_those_that_openmp_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert processor_threads() == 3
    for unset in ("", "0", "all"):
        monkeypatch.setenv("OMP_NUM_THREADS", unset)
        assert processor_threads() >= 1
