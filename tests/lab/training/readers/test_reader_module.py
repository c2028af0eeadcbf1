"""The module in torch that is trained reads as the reader that is used afterwards."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from finray.core.errors import ModelUnavailableError
from finray.lab.training.minilm_module import minilm_layers
from finray.lab.training.readers.reader_module import load_state, role_logits, row_heads
from finray.lab.training.readers.trained_pairs import TrainedPairs
from finray.models.bert import forward
from finray.models.bert.weights import shipped_weights
from finray.models.pair_reader import LAYERS, STATE
from finray.models.row_reader import ROLES, ROW_TOKENS, WEIGHTS, RowReader

QUESTION = "How much did Acme pay for variable leases in 2022?"
ROWS = (
    "Variable lease costs | Lease cost | amount",
    "Inventories | Raw materials | amount",
    "Risk-free rate | percent",
)


def test_both_score_rows_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "multiplies_int8", lambda: False)
    bert, heads = minilm_layers(LAYERS).eval(), row_heads()
    assert load_state(bert, heads, shipped_weights(WEIGHTS)) == []
    pairs = [(QUESTION, text) for text in (*ROWS, "")]
    with torch.inference_mode():
        states, _ = TrainedPairs(bert, torch.device("cpu")).states(pairs, ROW_TOKENS)
        roles, present = role_logits({name: head.eval() for name, head in heads.items()}, [states])
    scores = RowReader().rows(QUESTION, ROWS)
    expected = np.stack([scores.first, scores.second, scores.listed, scores.operand], axis=1)
    assert roles[:-1].numpy() == pytest.approx(expected, abs=0.2)  # it is trained in bf16
    assert float(present[0]) == pytest.approx(scores.present, abs=0.2)


def test_questions_of_different_length_are_compared_apart() -> None:
    """A question's rows are compared with one another, not with those of other questions of a batch."""
    heads = row_heads()
    torch.manual_seed(0)
    for weight in heads["rivals"].parameters():
        torch.nn.init.normal_(weight)
    for head in heads.values():
        head.eval()
    states = [torch.randn(3, STATE), torch.randn(6, STATE)]
    (together, present), alone = role_logits(heads, states), [role_logits(heads, [own]) for own in states]
    assert together.shape == (9, ROLES)
    assert torch.allclose(together, torch.cat([roles for roles, _ in alone]), atol=1e-4)
    assert torch.allclose(present, torch.cat([there for _, there in alone]), atol=1e-4)
    assert not torch.allclose(role_logits(heads, [states[1][1:]])[0], alone[1][0][1:], atol=1e-2)


def test_what_weights_lack_is_named() -> None:
    lacking = load_state(minilm_layers(LAYERS), row_heads(), {"ops.bias": np.zeros(27)})
    assert "ops.weight" in lacking
    assert "ops.bias" not in lacking
    assert not any("word_embeddings" in name for name in lacking)


def test_weights_of_another_shape_are_refused() -> None:
    with pytest.raises(ModelUnavailableError, match="another reader"):
        load_state(minilm_layers(LAYERS), row_heads(), {"ops.bias": np.zeros(3)})
