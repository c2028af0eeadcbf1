"""Filings and their pages as JSON records, from one version of an index."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict
from typing import Any

from finray.api.engines import OpenIndex
from finray.api.errors import ApiError, not_found
from finray.core.filing_filter import FilingFilter
from finray.core.types import Filing, LineItem

_HIDDEN = frozenset({"source_uri"})
"""Where filings lie is nobody's business outside."""


def filings_record(index: OpenIndex, narrowed: FilingFilter, after: str, limit: int) -> dict[str, Any]:
    """One page of the list, by filing id. ``after`` is the ``next_cursor`` of the page before, or empty."""
    start = _read_cursor(after) if after else ""
    counts = index.reader.row_counts("pages")
    ids = [i for i in sorted(index.filings) if i > start and narrowed.passes(index.filings[i])]
    shown = ids[:limit]
    return {
        "object": "list",
        "index_version": index.version,
        "data": [_cover(index.filings[i], counts[i]) for i in shown],
        "has_more": len(ids) > limit,
        "next_cursor": _cursor(shown[-1]) if len(ids) > limit else None,
    }


def pages_of(index: OpenIndex, filing_id: str) -> list[dict[str, Any]]:
    """Number, Item, statement and place of each page. Raises ApiError 404."""
    find(index, filing_id)
    rows: list[dict[str, Any]] = index.reader.pages([filing_id], ["page", "item", "statement", "place"]).to_pylist()
    return rows


def filing_record(index: OpenIndex, filing_id: str, pages: list[dict[str, Any]]) -> dict[str, Any]:
    filing = find(index, filing_id)
    summary = index.reader.cover_summaries()[filing_id]
    return {"index_version": index.version, **_cover(filing, len(pages)), "summary": summary, "pages": pages}


def filing_page(index: OpenIndex, filing_id: str, page: int) -> dict[str, Any]:
    """Text, place and line items of one page. Raises ApiError 404."""
    filing = find(index, filing_id)
    rows = index.reader.pages([filing_id])
    numbers = rows["page"].to_pylist()
    if page not in numbers:
        raise not_found(f"filing {filing_id!r} has no page {page}; its pages are 0 to {len(numbers) - 1}", "page")
    row = rows.slice(numbers.index(page), 1).to_pylist()[0]
    items = index.reader.line_items([filing_id]).get(filing_id, ())
    return {
        "index_version": index.version,
        "filing_id": filing_id,
        "doc_name": filing.doc_name,
        "company": filing.company,
        "form": filing.form,
        "page": page,
        "n_pages": len(numbers),
        "text": row["text"],
        "item": row["item"],
        "statement": row["statement"],
        "place": row["place"],
        "headings": row["headings"].splitlines(),
        "facts": [_fact(item) for item in items if item.page == page],
        "has_image": filing.source_uri.lower().endswith(".pdf"),
    }


def find(index: OpenIndex, filing_id: str) -> Filing:
    """Raises ApiError 404. Ids are only ever looked up here, never made into paths."""
    filing = index.filings.get(filing_id)
    if filing is None:
        raise not_found(f"there is no filing {filing_id[:64]!r} in the index", "filing_id")
    return filing


def _cover(filing: Filing, pages: int) -> dict[str, Any]:
    record = {name: value for name, value in asdict(filing).items() if name not in _HIDDEN}
    for name in ("filed_at", "period_end"):
        record[name] = record[name].isoformat() if record[name] is not None else None
    record["aliases"] = list(filing.aliases)
    return {**record, "n_pages": pages}


def _fact(item: LineItem) -> dict[str, Any]:
    record = asdict(item)
    record["period_end"] = item.period_end.isoformat() if item.period_end is not None else None
    record["box"] = list(item.box) if item.box is not None else None
    return record


def _cursor(filing_id: str) -> str:
    return base64.urlsafe_b64encode(filing_id.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise ApiError(
            422, "invalid_cursor", "'cursor' is not one that this service gave out", param="cursor"
        ) from None
