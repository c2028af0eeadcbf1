"""The question model in numpy and ONNX Runtime computes what its module was trained to."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from finray.core.errors import ModelUnavailableError
from finray.lab.training.question.question_module import QuestionModule
from finray.models.bert.tokens import placed_tokens
from finray.models.question_model import MARKS, MetricLabels, QuestionModel, question_model

LABELS = MetricLabels(("revenue", "none"), 0.5)


def test_it_computes_what_its_module_does() -> None:
    torch.manual_seed(0)
    module = QuestionModule(len(LABELS.metrics)).eval()
    with torch.no_grad():
        module.heads["marks"].weight.normal_(std=0.05)
    ids, _ = placed_tokens("How much did Torvane take in from customers?")
    marks = np.zeros((len(ids), MARKS), dtype=np.float32)
    marks[3:5, 0] = 1
    model = QuestionModel(module.state(), LABELS)
    with torch.inference_mode():
        (tags,), operations = module.questions([ids], [marks])
        metrics = module.phrases([ids])[0].log_softmax(0)
    read = model.question(ids, marks)
    np.testing.assert_allclose(read.tags, tags.numpy(), atol=1e-4)
    np.testing.assert_allclose(read.operations, operations[0].numpy(), atol=1e-4)
    np.testing.assert_allclose(model.phrase(ids), metrics.numpy(), atol=1e-4)


def test_marks_are_seen() -> None:
    ids, _ = placed_tokens("How much did Torvane take in from customers?")
    marks = np.zeros((len(ids), MARKS), dtype=np.float32)
    marked = marks.copy()
    marked[3:5, 0] = 1
    model = question_model()
    assert not np.allclose(model.question(ids, marks).tags, model.question(ids, marked).tags)


def test_weights_for_other_metrics_are_refused() -> None:
    state = QuestionModule(3).state()
    with pytest.raises(ModelUnavailableError, match="metrics"):
        QuestionModel(state, LABELS)
