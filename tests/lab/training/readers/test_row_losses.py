"""Losses of many questions at once are the sums of those of each."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from finray.lab.training.readers.row_losses import choice_loss, each_loss, marked, padded, split

CPU = torch.device("cpu")
ROWS = [torch.tensor([1.0, -2.0, 0.5]), torch.tensor([0.3]), torch.tensor([2.0, 2.0])]
GOLD = [[0, 2], [0], []]
THERE = marked([range(len(own)) for own in ROWS], 3, CPU)


def test_padding_takes_no_part_in_a_choice() -> None:
    log_probabilities = [torch.log_softmax(own, 0) for own in ROWS]
    expected = -torch.logsumexp(log_probabilities[0][[0, 2]], 0) - log_probabilities[1][0]
    assert float(choice_loss(padded(ROWS), marked(GOLD, 3, CPU), THERE)) == pytest.approx(float(expected), abs=1e-6)


def test_questions_without_gold_have_no_choice() -> None:
    assert float(choice_loss(padded(ROWS[2:]), marked([[]], 2, CPU), THERE[2:, :2])) == 0.0


def test_each_row_counts_within_its_question() -> None:
    wanted = [torch.tensor([1.0, 0.0, 1.0]), torch.tensor([1.0]), torch.tensor([0.0, 0.0])]
    expected = sum(
        float(functional.binary_cross_entropy_with_logits(own, gold)) for own, gold in zip(ROWS, wanted, strict=True)
    )
    assert float(each_loss(padded(ROWS), marked(GOLD, 3, CPU), THERE)) == pytest.approx(expected)


def test_gradients_stay_finite_beside_padding() -> None:
    logits = padded(ROWS).requires_grad_()
    (choice_loss(logits, marked(GOLD, 3, CPU), THERE) + each_loss(logits, marked(GOLD, 3, CPU), THERE)).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
    assert not logits.grad[~THERE].any()


def test_items_are_split_by_sizes() -> None:
    assert split("abcdef", [2, 0, 3]) == ["ab", "", "cde"]
