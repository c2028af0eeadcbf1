"""The layers in torch while they are trained."""

from __future__ import annotations

import torch

from finray.lab.training.minilm_module import minilm_layers
from finray.lab.training.readers.trained_pairs import read_pairs
from finray.models.pair_reader import LAYERS


def test_gradients_reach_every_layer_but_not_the_words() -> None:
    bert = minilm_layers(LAYERS).train()
    states, _ = read_pairs(bert, [([2000, 2001], [3000]), ([2000, 2001], [])])
    torch.autograd.backward(states.sum())
    assert all(p.grad is not None for name, p in bert.named_parameters() if name.startswith("encoder"))
    assert not bert.embeddings["word_embeddings"].weight.requires_grad


def test_some_states_are_dropped_only_while_it_is_trained() -> None:
    bert, pairs = minilm_layers(LAYERS), [([2000, 2001], [3000])]
    with torch.no_grad():
        trained = [read_pairs(bert.train(), pairs)[0] for _ in range(2)]
        used = [read_pairs(bert.eval(), pairs)[0] for _ in range(2)]
    assert not torch.equal(*trained)
    assert torch.equal(*used)


@torch.inference_mode()
def test_a_pair_without_a_second_text_is_the_first_alone() -> None:
    bert, question = minilm_layers(LAYERS).eval(), [2000, 2001, 2002]
    states, tokens = read_pairs(bert, [(question, []), (question, [3000, 3001])])
    alone, _ = read_pairs(bert, [(question, [])])
    torch.testing.assert_close(states[:1], alone, atol=1e-4, rtol=1e-4)
    assert [len(own) for own in tokens] == [0, 2]
