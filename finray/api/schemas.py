"""JSON schemas of replies for the OpenAPI file. That of a prediction comes from ``finray.batch.predictions``, where its
fields are: a field that is added there appears here by itself."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from finray.batch.predictions import PREDICTION_SCHEMA, prediction_record
from finray.core.types import Prediction
from finray.index.schema import FACTS_SCHEMA, filings_schema

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_COVER = (
    *("filing_id", "doc_name", "content_sha256", "company", "form", "cik", "ticker", "commission_file_number"),
    *("is_amendment", "amends", "filed_at", "period_end", "fiscal_year", "fiscal_period", "fiscal_year_end", "aliases"),
)


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def reply_schemas() -> dict[str, Schema]:
    """Every schema that a reply refers to, by name."""
    prediction = {field.name: _of_arrow(field.type, field.nullable) for field in PREDICTION_SCHEMA}
    always = list(prediction_record(Prediction("", "", "", "error")))
    version = {"index_version": {**_TEXT, "description": "The version of the index that the whole reply comes from."}}
    passages = prediction["passages"] | {"type": "array"}
    documents = prediction["documents"] | {"type": "array"}
    covers = {
        name: _of_arrow(filings_schema(1).field(name).type, filings_schema(1).field(name).nullable) for name in _COVER
    }
    covers |= {"provenance": {"type": "object", "additionalProperties": _TEXT}, "n_pages": _COUNT}
    place = {name: {"type": ["string", "null"]} for name in ("item", "statement", "place")}
    facts = {field.name: _of_arrow(field.type, field.nullable) for field in FACTS_SCHEMA if field.name not in _KEYS}
    cover = _object(covers)
    return {
        "Error": _object(
            {
                "error": _object(
                    {
                        "message": _TEXT,
                        "type": {
                            "enum": [
                                *("invalid_request_error", "authentication_error", "permission_error"),
                                *("rate_limit_error", "server_error"),
                            ]
                        },
                        "param": {"type": ["string", "null"]},
                        "code": {"type": ["string", "null"]},
                    }
                )
            }
        ),
        "Prediction": _object(prediction, always) | {"description": "A prediction, as docs/formats.md describes it."},
        "AnswerList": _list(version | {"seconds": {"type": "number"}}, reference("Prediction")),
        "Retrieval": _object(
            version
            | {"question": _TEXT, "query": reference("Query"), "documents": documents, "passages": passages}
            | {"seconds": {"type": "number"}}
        ),
        "Query": _object(
            {"text": _TEXT}
            | {
                name: {"type": "array", "items": _TEXT}
                for name in ("companies", "unknown_companies", "periods", "forms", "metrics", "statements")
            }
        )
        | {"description": "How the question was understood."},
        "FilingCover": cover,
        "FilingList": _list(
            version | {"has_more": {"type": "boolean"}, "next_cursor": {"type": ["string", "null"]}},
            reference("FilingCover"),
        ),
        "Filing": _object(
            version
            | covers
            | {"summary": _TEXT, "pages": {"type": "array", "items": _object({"page": _COUNT} | place)}}
        ),
        "Page": _object(
            version
            | dict.fromkeys(("filing_id", "doc_name", "company", "form", "text"), _TEXT)
            | {"page": _COUNT, "n_pages": _COUNT, "has_image": {"type": "boolean"}}
            | place
            | {"headings": {"type": "array", "items": _TEXT}}
            | {"facts": {"type": "array", "items": _object(facts)}}
        ),
        "Health": _object({"status": {"const": "ok"}}),
        "Ready": _object(version | {"status": {"const": "ready"}, "filings": _COUNT, "settings_hash": _TEXT}),
    }


_KEYS = frozenset({"filing_id", "revision"})


def _of_arrow(kind: pa.DataType, nullable: bool) -> Schema:
    """The JSON schema of what ``prediction_record`` makes of a column."""
    if pa.types.is_map(kind):
        schema: Schema = {"type": "object", "additionalProperties": _of_arrow(kind.item_type, False)}
    elif pa.types.is_struct(kind):
        schema = _object({kind.field(i).name: _of_arrow(kind.field(i).type, False) for i in range(kind.num_fields)}, [])
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        schema = {"type": "array", "items": _of_arrow(kind.value_type, False)}
    elif pa.types.is_boolean(kind):
        schema = {"type": "boolean"}
    elif pa.types.is_integer(kind):
        schema = {"type": "integer"}
    elif pa.types.is_floating(kind):
        schema = {"type": "number"}
    elif pa.types.is_date(kind):
        schema = {"type": "string", "format": "date"}
    else:
        schema = dict(_TEXT)
    return schema | {"type": [schema["type"], "null"]} if nullable else schema


def _object(properties: dict[str, Schema], required: list[str] | None = None) -> Schema:
    names = list(properties) if required is None else required
    return {"type": "object", "properties": properties} | ({"required": names} if names else {})


def _list(more: dict[str, Schema], items: Schema) -> Schema:
    return _object({"object": {"const": "list"}, **more, "data": {"type": "array", "items": items}})
