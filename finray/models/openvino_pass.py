"""Forward passes of a transformer by OpenVINO (extra ``openvino``): on processors without AMX, bf16 passes take three
quarters of torch's time, at the same distance from float32 (``docs/benchmarks.md``)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from finray.core.errors import ModelUnavailableError
from finray.core.extras import extra

Ids = npt.NDArray[np.int64]
ForwardPass = Callable[[Ids, Ids], torch.Tensor]
"""Token ids and attention mask, both int64 [rows, width], to the last hidden states, float32 [rows, width, size]."""

_PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}
_TELEMETRY = "openvino_telemetry"


def openvino_pass(model: torch.nn.Module, dtype: str, threads: int | None) -> ForwardPass:
    """Forward passes of ``model``, whose weights are float32, in ``dtype`` ("auto": bf16 if the processor has it) on
    ``threads`` (None: OpenVINO's choice). May be called from several threads, one of which computes at a time.

    Raises MissingExtraError without OpenVINO, ModelUnavailableError if it cannot run the model so.
    """
    if dtype not in ("auto", *_PRECISIONS):
        raise ModelUnavailableError(
            f"encoder.dtype is {dtype!r}, which OpenVINO does not compute on a CPU; set 'auto', 'bfloat16' or "
            "'float32', or encoder.backend = 'torch'"
        )
    with _without_telemetry(), extra("openvino", "encoder.backend = 'openvino'"):
        import openvino
    core = openvino.Core()
    fast = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    options: dict[str, Any] = {"INFERENCE_PRECISION_HINT": _PRECISIONS.get(dtype, "bf16" if fast else "f32")}
    options |= {"NUM_STREAMS": 1} | ({} if threads is None else {"INFERENCE_NUM_THREADS": threads})
    example = {name: torch.ones(2, 16, dtype=torch.int64) for name in ("input_ids", "attention_mask")}
    try:
        with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tracing warns about every branch of the model
            graph = openvino.convert_model(_LastStates(model.eval()), example_input=example)
        request = core.compile_model(graph, "CPU", options).create_infer_request()
    except (RuntimeError, ValueError, TypeError) as error:
        raise ModelUnavailableError(
            f"OpenVINO cannot run this encoder: {' '.join(str(error).split())[:300]}; set encoder.backend = 'torch'"
        ) from error
    lock = Lock()

    def run(ids: Ids, mask: Ids) -> torch.Tensor:
        with lock:
            return torch.from_numpy(np.array(request.infer([ids, mask])[0]))  # a copy: the next pass overwrites it

    return run


class _LastStates(torch.nn.Module):
    """``model`` with the only output that is used."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states


@contextmanager
def _without_telemetry() -> Iterator[None]:
    """Block the import of OpenVINO's telemetry, which reports to a server as soon as OpenVINO is imported."""
    before = sys.modules.get(_TELEMETRY)
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment]  # how Python marks a module that must not be imported
    try:
        yield
    finally:
        if before is None:
            del sys.modules[_TELEMETRY]
        else:
            sys.modules[_TELEMETRY] = before
