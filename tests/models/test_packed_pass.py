"""Packed sequences have the states that each has alone, whatever stands beside it."""

from __future__ import annotations

import pytest
import torch

from finray.models.packed_pass import packed, packed_states
from finray.models.pair_reader import pair_module, read_pairs

SEQUENCES = [list(range(2000, 2000 + length)) for length in (5, 30, 1, 17)]
SECOND = [2, 30, 0, 9]


@pytest.fixture(scope="module")
def bert() -> torch.nn.Module:
    module: torch.nn.Module = pair_module()[1]
    return module.eval()


@torch.inference_mode()
def test_states_are_those_of_each_sequence_alone(bert: torch.nn.Module) -> None:
    for tokens, second, states in zip(SEQUENCES, SECOND, packed_states(bert, packed(SEQUENCES, SECOND)), strict=True):
        types = (torch.arange(len(tokens)) >= second).long()[None]
        expected = bert(input_ids=torch.tensor([tokens]), token_type_ids=types).last_hidden_state[0]
        torch.testing.assert_close(states, expected, atol=1e-4, rtol=1e-4)


def test_gradients_reach_every_layer_but_word_embeddings_that_are_frozen(bert: torch.nn.Module) -> None:
    bert.zero_grad()
    states, _ = read_pairs(bert, [([2000, 2001], [3000]), ([2000, 2001], [])])
    states.sum().backward()
    layers = [p for name, p in bert.named_parameters() if name.startswith("encoder")]
    assert all(p.grad is not None for p in layers)


@torch.inference_mode()
def test_a_pair_without_a_second_text_is_the_first_alone(bert: torch.nn.Module) -> None:
    question = [2000, 2001, 2002]
    states, tokens = read_pairs(bert, [(question, []), (question, [3000, 3001])])
    alone, _ = read_pairs(bert, [(question, [])])
    torch.testing.assert_close(states[:1], alone, atol=1e-4, rtol=1e-4)
    assert [len(own) for own in tokens] == [0, 2]
