"""Settings of encoders and rerankers, and of models from a hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from finray.core.method_settings import Section

_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")


class EncoderSettings(Section):
    """The text encoder."""

    model: str = "static"
    """"static" (token vectors distilled from all-MiniLM-L6-v2), a file that ``finray train static-encoder`` wrote
    (``.npz``), "minilm" (the embedded all-MiniLM-L6-v2, some forty times as slow on a processor), a
    sentence-transformers folder or hub name, or "hash" (a fake without weights)."""
    revision: str = ""
    """A commit, branch or tag of a hub model; only a commit never changes."""
    max_tokens: int = Field(256, ge=8)
    """Longer texts are cut; a static encoder reads them whole."""
    batch_size: Literal["auto"] | int = "auto"
    """Texts of ``max_tokens`` in one forward pass; of shorter ones more. "auto" is 65,536 tokens on a GPU and 4,096 on
    a processor, where more than that are never read at a time."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of the weights; "auto" is bfloat16 if the hardware supports it well."""
    device: str = "auto"
    """Such as "cpu" or "cuda"; "auto" takes a GPU if there is one."""
    backend: Literal["auto", "torch", "openvino", "onnx"] = "auto"
    """What computes a transformer's forward passes. "openvino" (`pip install 'finray[openvino]'`) is faster on a CPU
    without AMX; "auto" takes it there if it is installed. "onnx", for "minilm" in float32, is what "auto" takes on a
    CPU that multiplies no bf16. Vectors of all have a cosine above 0.9998 to those in float32, so it changes no index:
    it may be continued and asked with another."""
    query_prefix: str = ""
    """Prefix of a question, from the model's card ("query: " for e5)."""
    passage_prefix: str = ""
    """Prefix of a passage, from the model's card ("passage: " for e5)."""

    @field_validator("batch_size")
    @classmethod
    def _is_a_count(cls, value: Literal["auto"] | int) -> Literal["auto"] | int:
        if value != "auto" and value < 1:
            raise ValueError("must be at least 1")
        return value


class PageEncoderSettings(EncoderSettings):
    """The encoder of the method ``page_scorer``."""

    model: str = ""
    """As for ``encoder``; empty for the index's own page vectors."""
    page_characters: int = Field(0, ge=0)
    """White space is collapsed and a longer page cut to this length (arXiv 2602.17981: 2000); 0 takes the page as it
    is."""
    store: str = Field("", pattern="^[\\w-]*$")
    """Name of the stored page vectors, to keep those of several models beside one index."""


class RerankerSettings(Section):
    """A cross-encoder that reorders retrieved documents or passages."""

    model: str = ""
    """A folder or hub name; empty for none."""
    revision: str = ""
    """As for ``encoder``."""
    max_tokens: int = Field(512, ge=8)
    """Longer texts are cut."""
    batch_size: int = Field(32, ge=1)
    """Texts in one batch."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of the weights; "auto" is bfloat16 on a GPU that supports it, float32 on a CPU that multiplies no
    bf16, else that of the model's files."""
    device: str = "auto"
    """As for ``encoder``."""


class SparseEncoderSettings(RerankerSettings):
    """The sparse encoder of the method ``splade``."""

    model: str = "naver/splade-v3"
    """A sentence-transformers SparseEncoder folder or hub name, or "hash", a fake."""
    max_terms: int = Field(0, ge=0)
    """Terms of the largest weight that are kept of each text; 0 keeps all."""
    revision: str = "main"
    """As for ``encoder``."""


class HubSettings(Section):
    """Models from a hub."""

    unpinned: Literal["warn", "error"] = "warn"
    """Action if the ``revision`` of a model is not a commit: "warn" warns if there is none at all, "error" also refuses
    a branch or tag, which may change."""


def is_hub_name(model: str) -> bool:
    """Whether ``model`` has the form of a hub name and is not a folder here."""
    return bool(_HUB_NAME.fullmatch(model)) and not model.endswith(".npz") and not Path(model).is_dir()


class PlanWriterSettings(Section):
    """The small model that writes plans over rows of tables, for the answerer "statements" (docs/plans.md)."""

    backend: Literal["none", "llama_cpp", "openai"] = "none"
    """"llama_cpp" runs the model in this process (``pip install 'finray[small]'``), "openai" asks the completions of a
    server at ``base_url`` that has the adapter, such as llama-server or vLLM with ``--lora-modules``."""
    model: str = "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF"
    """A GGUF file or a folder with one, a hub name that ``finray fetch-models small`` has fetched, or the name that the
    server knows."""
    revision: str = ""
    """As for ``encoder``."""
    file: str = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    """The file of a hub model."""
    sha256: str = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
    """Of a fetched ``file``; empty to accept any."""
    adapter: str = ""
    """A GGUF file with the adapter; empty for the one that comes with finray, which fits only the default model."""
    base_url: str = "http://127.0.0.1:8080/v1"
    """Address of the server."""
    api_key_env: str = "FINRAY_PLANS_API_KEY"
    """The variable that holds the server's key."""
    threads: int = Field(2, ge=1)
    """Processors that llama.cpp uses."""
    timeout_s: float = Field(60.0, gt=0)
    """Seconds to wait for the server."""
    least_probability: float = Field(0.5, ge=0.0, le=1.0)
    """A plan whose tokens together are less likely is no answer."""
