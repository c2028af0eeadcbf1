"""Predictions as JSON lines and Parquet rows: the one place that knows their fields and their order.

``documents`` are stored as ``{doc_name, filing_id, score, company?, form?, reasons?}``: a prediction names filings,
the index describes them. Reading one back therefore yields ``Document`` values whose ``Filing`` has only these facts.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from finray.batch.question_files import BadLine
from finray.core.question_fields import excerpt
from finray.core.types import CitedCell, Document, PageRef, Passage, Prediction, TokenUsage

_PASSAGES = pa.list_(
    pa.struct(
        [
            ("doc_name", pa.string()),
            ("filing_id", pa.string()),
            ("page", pa.int64()),
            ("start", pa.int64()),
            ("end", pa.int64()),
            ("text", pa.string()),
            ("score", pa.float64()),
        ]
    )
)
_DOCUMENTS = pa.list_(
    pa.struct(
        [
            ("doc_name", pa.string()),
            ("filing_id", pa.string()),
            ("score", pa.float64()),
            ("company", pa.string()),
            ("form", pa.string()),
            ("reasons", pa.list_(pa.string())),
        ]
    )
)
_PAGE_REFS = pa.list_(pa.struct([("doc_name", pa.string()), ("filing_id", pa.string()), ("page", pa.int64())]))
_USAGE = pa.map_(
    pa.string(),
    pa.struct(
        [
            ("prompt_tokens", pa.int64()),
            ("completion_tokens", pa.int64()),
            ("cost", pa.float64()),
            ("cached_tokens", pa.int64()),
        ]
    ),
)

_CELLS = pa.list_(
    pa.struct(
        [
            *((name, pa.string()) for name in ("name", "doc_name", "filing_id", "label", "text", "section")),
            *((name, pa.string()) for name in ("column_label", "statement", "period_end", "concept")),
            *((name, pa.int64()) for name in ("page", "months")),
            *((name, pa.float64()) for name in ("value", "fit")),
            ("box", pa.list_(pa.float64())),
        ]
    )
)

PREDICTION_SCHEMA = pa.schema(
    [
        pa.field("qid", pa.string(), nullable=False),
        pa.field("question", pa.string(), nullable=False),
        pa.field("answer", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("unit", pa.string()),
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("documents", _DOCUMENTS),
        pa.field("passages", _PASSAGES),
        pa.field("evidence", _PASSAGES),
        pa.field("iterations", pa.int64()),
        pa.field("usage", _USAGE),
        pa.field("seconds", pa.float64()),
        pa.field("settings_hash", pa.string(), nullable=False),
        pa.field("program", pa.string()),
        pa.field("missing", pa.list_(pa.string())),
        pa.field("line", pa.int64()),
        pa.field("trace", pa.list_(pa.string())),
        pa.field("rounds", pa.list_(_PAGE_REFS)),
        pa.field("grounded", pa.bool_()),
        pa.field("nearest", pa.list_(pa.string())),
        pa.field("operands", _CELLS),
        pa.field("confidence", pa.float64()),
    ]
)
"""Columns of a Parquet predictions file; the order is also that of a JSON line."""

_READER: TypeAdapter[Prediction] = TypeAdapter(Prediction)


def prediction_record(prediction: Prediction) -> dict[str, Any]:
    """The JSON object of ``prediction``, fields in the order of docs/formats.md.

    ``program``, ``missing``, ``line``, ``trace``, ``rounds``, ``grounded``, ``nearest``, ``operands`` and
    ``confidence`` appear only where they are set; the rest always.
    """
    record: dict[str, Any] = {
        "qid": prediction.qid,
        "question": prediction.question,
        "answer": prediction.answer,
        "value": None if prediction.value is None else float(prediction.value),
        "unit": prediction.unit,
        "status": prediction.status,
        "error": prediction.error,
        "documents": [document_record(document) for document in prediction.documents],
        "passages": [passage_record(passage) for passage in prediction.passages],
        "evidence": [passage_record(passage) for passage in prediction.evidence],
        "iterations": prediction.iterations,
        "usage": {stage: _usage_record(tokens) for stage, tokens in prediction.usage.items()},
        "seconds": float(prediction.seconds),
        "settings_hash": prediction.settings_hash,
    }
    optional = {
        "program": prediction.program,
        "missing": list(prediction.missing) or None,
        "line": prediction.line,
        "trace": list(prediction.trace) or None,
        "rounds": [[_page_ref_record(ref) for ref in refs] for refs in prediction.rounds] or None,
        "grounded": prediction.grounded,
        "nearest": list(prediction.nearest) or None,
        "operands": [cell_record(cell) for cell in prediction.operands] or None,
        "confidence": prediction.confidence,
    }
    return record | {name: value for name, value in optional.items() if value is not None}


def prediction_from_record(record: Mapping[str, Any]) -> Prediction:
    """The prediction that ``record`` (a JSON object or a Parquet row) holds.

    Raises ValueError with one line that names the first field that does not fit. Unknown fields are ignored.
    """
    fields = {name: value for name, value in record.items() if value is not None}
    if isinstance(fields.get("documents"), list):
        fields["documents"] = [_document_fields(entry) for entry in fields["documents"]]
    if isinstance(fields.get("usage"), list):  # how Arrow hands over a map
        fields["usage"] = {
            stage: {name: count for name, count in tokens.items() if count is not None}
            for stage, tokens in fields["usage"]
        }
    try:
        return _READER.validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"not a prediction: {where}: {first['msg']}") from error


def encode(prediction: Prediction) -> bytes:
    """One JSON line with its line feed, in UTF-8.

    JSON has no word for NaN or infinity. A prediction that holds one becomes an error that says so: one wrong
    score must not stop a run.
    """
    try:
        line = json.dumps(prediction_record(prediction), ensure_ascii=False, allow_nan=False)
    except ValueError:
        return encode(_not_finite(prediction))
    return line.encode("utf-8", errors="replace") + b"\n"


def decode(line: bytes) -> Prediction:
    """The prediction on ``line``. Raises ValueError that says what is wrong with it."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {excerpt(str(error))}") from error
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    return prediction_from_record(record)


def arrow_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """``record`` in the shape of ``PREDICTION_SCHEMA``."""
    return {**record, "usage": list(record["usage"].items())}


def prediction_of_bad_line(bad: BadLine, settings_hash: str) -> Prediction:
    """What a question line that cannot be asked becomes."""
    return Prediction(
        qid=bad.qid,
        question=bad.text,
        answer="",
        status="error",
        error=f"line {bad.line}: {bad.reason}",
        settings_hash=settings_hash,
        line=bad.line,
    )


def _not_finite(prediction: Prediction) -> Prediction:
    return Prediction(
        qid=prediction.qid,
        question=prediction.question,
        answer="",
        status="error",
        error="the answer's value or a score is not a finite number: a bug in finray, please report it",
        iterations=prediction.iterations,
        usage=prediction.usage,
        settings_hash=prediction.settings_hash,
        line=prediction.line,
    )


def document_record(document: Document) -> dict[str, Any]:
    """One entry of ``documents``."""
    record: dict[str, Any] = {
        "doc_name": document.filing.doc_name,
        "filing_id": document.filing.filing_id,
        "score": float(document.score),
    }
    optional = {
        "company": document.filing.company,
        "form": document.filing.form,
        "reasons": list(document.reasons),
    }
    return record | {name: value for name, value in optional.items() if value}


def _document_fields(entry: object) -> object:
    if not isinstance(entry, Mapping):
        return entry
    names = {name: entry.get(name) for name in ("doc_name", "filing_id")}
    names |= {name: entry.get(name) or "" for name in ("company", "form")}
    unknown = {"source_uri": "", "content_sha256": ""}
    return {
        "filing": names | unknown,
        "score": entry.get("score"),
        "reasons": entry.get("reasons") or (),
    }


def _usage_record(tokens: TokenUsage) -> dict[str, Any]:
    counts = {"prompt_tokens": tokens.prompt_tokens, "completion_tokens": tokens.completion_tokens}
    optional = {"cost": tokens.cost, "cached_tokens": tokens.cached_tokens}
    return counts | {name: value for name, value in optional.items() if value}


def _page_ref_record(ref: PageRef) -> dict[str, Any]:
    return {"doc_name": ref.doc_name, "filing_id": ref.filing_id, "page": int(ref.page)}


def cell_record(cell: CitedCell) -> dict[str, Any]:
    """One entry of ``operands``: what is not known is left out, dates are ISO."""
    fields = {field.name: getattr(cell, field.name) for field in dataclasses.fields(cell)}
    fields["period_end"] = cell.period_end.isoformat() if cell.period_end else None
    fields["box"] = list(cell.box) if cell.box else None
    return {name: value for name, value in fields.items() if value is not None}


def passage_record(passage: Passage) -> dict[str, Any]:
    """One entry of ``passages`` and of ``evidence``."""
    return {
        "doc_name": passage.doc_name,
        "filing_id": passage.filing_id,
        "page": int(passage.page),
        "start": int(passage.start),
        "end": int(passage.end),
        "text": passage.text,
        "score": float(passage.score),
    }
