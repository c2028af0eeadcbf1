"""GPUs of processes on Ray."""

from __future__ import annotations

import os

import ray


def hide_unassigned_gpus() -> None:
    """Hide all GPUs from this process and its children unless Ray assigned it one.

    Ray 2.60 shows a process with ``num_gpus`` its own GPUs but hides none from others, which would take memory that
    Ray has promised. Call it in a Ray worker before it uses CUDA.
    """
    if ray.is_initialized() and not ray.get_gpu_ids():
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
