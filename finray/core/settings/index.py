"""Settings of the index tables and of the index job."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from finray.core.method_settings import Section


class IndexSettings(Section):
    """Writing and reading of the index tables."""

    ann_rows: int = Field(2_000_000, ge=1)
    """Number of chunks above which an approximate vector index is built; fewer are searched exactly."""
    ann_pages: int = Field(100_000, ge=1)
    """Number of pages, and of filings, above which an approximate index of their vectors is built."""
    ann_recall: float = Field(0.95, gt=0, le=1)
    """Recall@10 against exact search below which `finray maintain` trains an approximate index anew, or drops it."""
    write_rows: int = Field(20_000, ge=1)
    """Chunks in one commit: many small commits bloat a Lance table."""
    cache_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """Memory in which an engine, or a bulk worker, keeps what it has read of filings, about 11 MB for a 10-K. Those
    that were last asked about longest ago go first. Raise it if questions jump between hundreds of filings."""
    in_process: Literal["auto"] | bool = "auto"
    """Index without Ray, with at most four parser processes. "auto" does so if there is no Ray cluster to use,
    ``index_job`` is left as it is, and the encoder is as light as "static" or "hash" and there are at most 100 new
    files or four processors, or it is MiniLM in ONNX Runtime and there are at most four processors: Ray takes some 20
    seconds of processor time to start. `finray extend` does without Ray only if this is true."""


class IndexJobSettings(Section):
    """The index job on Ray, and `finray extend`."""

    embed_workers_min: int = Field(0, ge=0)
    """Embedding workers to keep. 0 is one if ``embed_workers_max`` is set, else as many as that."""
    embed_workers_max: int = Field(0, ge=0)
    """Embedding workers, at most; Ray adds workers while work waits, and nodes if the cluster has an autoscaler. 0 is
    as many as the present cluster has room for: one for each ``gpus_per_worker``, or for each CPU without a GPU."""
    gpus_per_worker: Literal["auto"] | float = "auto"
    """GPUs of an embedding worker: a share of one, such as 0.5, or a whole number. "auto" is 1 if the cluster has a GPU
    or ``encoder.device`` is one. Set it if the nodes with GPUs come only with the job. With 0, workers use the CPU."""
    batch_filings: Literal["auto"] | int = "auto"
    """Filings that a worker gets at a time, at most; small jobs pass on fewer, to finish evenly. "auto" is 64 if
    ``batch_tokens`` is above 0, else 4."""
    batch_tokens: Literal["auto"] | int = "auto"
    """Filings of a batch are encoded together until they have this many tokens (estimated from their length). 0 encodes
    each filing alone. "auto" is 262144 on a GPU, else 0."""
    fixed_shapes: bool = False
    """Encode filings together in forward passes of a few fixed shapes, so that no bit of a vector depends on what else
    is in the batch. Such passes are mostly padding: an H100 encodes an eighth of the passages a second. Without it, an
    index that is built again (or resumed) has vectors with a cosine above 0.9999 to those of the first time."""

    show_ray: bool = False
    """Show Ray Data's own progress, plans and warnings, and what workers print (`--show-ray`)."""

    @field_validator("gpus_per_worker")
    @classmethod
    def _divides_gpus(cls, value: Literal["auto"] | float) -> Literal["auto"] | float:
        if value != "auto" and not (0 <= value <= 1 or (value > 1 and value == int(value))):
            raise ValueError("must be a share of one GPU (0 to 1) or a whole number of GPUs")
        return value

    @field_validator("batch_filings", "batch_tokens")
    @classmethod
    def _counts(cls, value: Literal["auto"] | int, field: ValidationInfo) -> Literal["auto"] | int:
        least = 1 if field.field_name == "batch_filings" else 0
        if value != "auto" and value < least:
            raise ValueError(f"must be at least {least}")
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if 0 < self.embed_workers_max < self.embed_workers_min:
            raise ValueError(
                f"embed_workers_max = {self.embed_workers_max} is below embed_workers_min = {self.embed_workers_min}"
            )
        return self
