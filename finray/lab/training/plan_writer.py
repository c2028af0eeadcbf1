"""Trains the model that writes plans: low-rank adapters (LoRA, arXiv 2106.09685) on the upper layers of a small model.

A CPU with bf16 instructions is enough: a sample of 300 tokens takes 1.7 CPU seconds for 0.5 billion parameters. The
weights that the adapter is trained beside are those of the quantized model it will run with, dequantized once.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from finray.core.arrays import Floats
from finray.core.errors import ModelUnavailableError

RANK: Final = 16
SCALE: Final = 2.0
"""Factor of the adapter's product, alpha / rank."""
_ATTENTION: Final = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output"}
_FEED_FORWARD: Final = {"gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}
"""Projections of a layer, and their names in GGUF."""
_WARM_UP, _FLOOR = 15, 0.05
_TOGETHER: Final = 4
"""Samples in one pass; those of a batch are sorted by length first."""


@dataclass(frozen=True, slots=True)
class Training:
    """``first_layer`` is the lowest with an adapter: gradients end there, which saves a sixth of the time.
    ``seconds`` bounds the time; the learning rate falls to its end by then."""

    samples: int
    seconds: float
    first_layer: int = 8
    batch: int = 8
    learning_rate: float = 3e-4
    longest: int = 700
    """Tokens of a sheet; more are cut off at its beginning."""
    checkpoint_seconds: float = 300.0
    seed: int = 3


class Adapted(nn.Module):
    """``base(x) + SCALE * up(down(x))`` for a frozen linear layer; both factors float32, ``up`` zero at first."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.empty(RANK, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, RANK))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        lowered = nn.functional.linear(x, self.down.to(x.dtype))
        added: torch.Tensor = self.base(x) + nn.functional.linear(lowered, (self.up * SCALE).to(x.dtype))
        return added


def load_base(folder: Path) -> tuple[Any, Any]:
    """(model, tokenizer) of a GGUF file or a folder of transformers, in bfloat16. Raises ModelUnavailableError."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    if folder.is_file():
        source, more = str(folder.parent), {"gguf_file": folder.name}
        # Without this, transformers 5.19 and newer keep the weights packed and compute in float32.
        own = {**more, "quantization_config": GgufConfig(dequantize=True)}
    else:
        source, more, own = str(folder), {}, {}
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **more)
        model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.bfloat16, **own)
    except (OSError, ValueError) as error:
        raise ModelUnavailableError(f"cannot load {folder}: {str(error).splitlines()[0]}") from error
    return model, tokenizer


def adapt(model: Any, first_layer: int) -> dict[str, nn.Parameter]:
    """Adds adapters to ``model`` in place; returns their parameters by GGUF name."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    found: dict[str, nn.Parameter] = {}
    for number, layer in enumerate(model.model.layers):
        if number < first_layer:
            continue
        for block, names in ((layer.self_attn, _ATTENTION), (layer.mlp, _FEED_FORWARD)):
            for name, stored in names.items():
                adapted = Adapted(getattr(block, name))
                setattr(block, name, adapted)
                found[f"blk.{number}.{stored}.weight.lora_a"] = adapted.down
                found[f"blk.{number}.{stored}.weight.lora_b"] = adapted.up
    return found


def train(
    samples: Sequence[Mapping[str, Any]],
    model: Any,
    tokenizer: Any,
    checkpoint: Path,
    plan: Training,
    progress: Callable[[int, float], None],
) -> dict[str, Floats]:
    """Trains on ``samples`` (``prompt`` and ``plan``) in a fixed random order; goes on from ``checkpoint`` if it is
    there. ``progress`` gets the samples done and the mean loss of a token. Returns the adapter's arrays by GGUF
    name."""
    parameters = adapt(model, plan.first_layer)
    optimizer = torch.optim.AdamW(parameters.values(), lr=plan.learning_rate, weight_decay=0.0, betas=(0.9, 0.98))
    order = list(samples)
    random.Random(plan.seed).shuffle(order)
    done, spent = _resumed(checkpoint, parameters, optimizer)
    started = saved = time.monotonic()
    model.train()
    while done < plan.samples and (elapsed := spent + time.monotonic() - started) < plan.seconds:
        batch = [order[(done + at) % len(order)] for at in range(plan.batch)]
        done += plan.batch
        through = min(1.0, max(done / plan.samples, elapsed / plan.seconds))
        decay = _FLOOR + (1 - _FLOOR) * 0.5 * (1 + math.cos(math.pi * through))
        for group in optimizer.param_groups:
            group["lr"] = plan.learning_rate * min(1.0, done / plan.batch / _WARM_UP) * decay
        loss = _step(batch, model, tokenizer, plan)
        torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        progress(done, loss)
        if time.monotonic() - saved > plan.checkpoint_seconds:
            saved = time.monotonic()
            _save(checkpoint, parameters, optimizer, done, spent + saved - started)
    _save(checkpoint, parameters, optimizer, done, spent + time.monotonic() - started)
    return {name: each.detach().float().numpy() for name, each in parameters.items()}


def _step(batch: Sequence[Mapping[str, Any]], model: Any, tokenizer: Any, plan: Training) -> float:
    """Adds the gradients of ``batch``; returns its mean loss of a token of a plan."""
    pairs = [encoded(each["prompt"], each["plan"], tokenizer, plan.longest) for each in batch]
    pairs.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
    tokens = sum(len(target) for _, target in pairs)
    total = 0.0
    for start in range(0, len(pairs), _TOGETHER):
        some = pairs[start : start + _TOGETHER]
        longest = max(len(prompt) + len(target) for prompt, target in some)
        ids = torch.full((len(some), longest), int(tokenizer.eos_token_id))
        mask = torch.zeros((len(some), longest), dtype=torch.long)
        places: list[tuple[int, int]] = []
        for row, (prompt, target) in enumerate(some):
            ids[row, : len(prompt) + len(target)] = torch.tensor([*prompt, *target])
            mask[row, : len(prompt) + len(target)] = 1
            places += [(row, len(prompt) - 1 + at) for at in range(len(target))]
        states = model.model(input_ids=ids, attention_mask=mask).last_hidden_state
        at = torch.tensor(places)
        logits = model.lm_head(states[at[:, 0], at[:, 1]]).float()
        targets = torch.tensor([token for _, target in some for token in target])
        loss = nn.functional.cross_entropy(logits, targets, reduction="sum")
        (loss / tokens).backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    return total / tokens


def encoded(prompt: str, plan: str, tokenizer: Any, longest: int) -> tuple[list[int], list[int]]:
    """Token ids of the sheet and of the plan with the end of text."""
    sheet = list(tokenizer(prompt)["input_ids"])[-longest:]
    return sheet, [*tokenizer(f" {plan}")["input_ids"], int(tokenizer.eos_token_id)]


def _resumed(checkpoint: Path, parameters: Mapping[str, nn.Parameter], optimizer: Any) -> tuple[int, float]:
    if not checkpoint.is_file():
        return 0, 0.0
    kept = torch.load(checkpoint, weights_only=True)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(kept["adapter"][name])
    optimizer.load_state_dict(kept["optimizer"])
    return int(kept["done"]), float(kept["seconds"])


def _save(checkpoint: Path, parameters: Mapping[str, nn.Parameter], optimizer: Any, done: int, seconds: float) -> None:
    adapter = {name: each.data for name, each in parameters.items()}
    state = {"adapter": adapter, "optimizer": optimizer.state_dict(), "done": done, "seconds": seconds}
    partial = checkpoint.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(checkpoint)


def write_adapter(arrays: Mapping[str, Floats], path: Path, *, name: str, architecture: str = "qwen2") -> None:
    """Writes the adapter as GGUF, float16, for llama.cpp."""
    from gguf import GGUFWriter

    writer = GGUFWriter(str(path), architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", SCALE * RANK)
    writer.add_name(name)
    for key, array in arrays.items():
        writer.add_tensor(key, np.ascontiguousarray(array, dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
