"""Filings and their pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import JSONResponse, Response

from finray.api.access import reader
from finray.api.page_images import MAX_MARKS, read_box, read_range
from finray.api.routes import Behind, Limits, replies
from finray.core.filing_filter import FilingFilter

router = APIRouter(prefix="/v1/filings", tags=["filings"], dependencies=[Depends(reader)])
Names = Annotated[list[Annotated[str, Query(min_length=1, max_length=200)]], Query(max_length=50)]
FilingId = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$", examples=["0000320193-23-000106"])]
PageNumber = Annotated[int, Path(ge=0, le=100_000, description="From 0.")]
_IMAGE = replies("Error", 401, 403, 404, 422, 429)
_IMAGE[200] = {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}, "description": "The page"}


@router.get("", summary="List filings", responses=replies("FilingList", 401, 403, 422, 429))
async def filings(
    service: Behind,
    company: Annotated[Names, Query(description="Name, alias, ticker or CIK; may be repeated.")] = [],  # noqa: B006
    form: Annotated[Names, Query(description="Such as 10-K; may be repeated.")] = [],  # noqa: B006
    fiscal_year: Annotated[list[Annotated[int, Query(ge=1900, le=2200)]], Query(max_length=50)] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[str, Query(max_length=200, description="`next_cursor` of the page before.")] = "",
) -> Response:
    """By filing id. `has_more` says whether there are more; pass `next_cursor` as `cursor` to get them."""
    narrowed = FilingFilter(tuple(company), tuple(form), tuple(fiscal_year))
    return JSONResponse(await service.filings(narrowed, cursor, limit))


@router.get("/{filing_id}", summary="One filing", responses=replies("Filing", 401, 403, 404, 422, 429))
async def filing(service: Behind, filing_id: FilingId) -> Response:
    """Cover facts, and for each page its SEC Item, statement and place."""
    return JSONResponse(await service.filing(filing_id))


@router.get("/{filing_id}/pages/{page}", summary="One page", responses=replies("Page", 401, 403, 404, 422, 429))
async def page(service: Behind, filing_id: FilingId, page: PageNumber) -> Response:
    """Text, SEC Item, statement, and every number of its tables."""
    return JSONResponse(await service.page(filing_id, page))


@router.get(
    "/{filing_id}/pages/{page}/image", summary="One page as a picture", responses=_IMAGE, response_class=Response
)
async def image(
    service: Behind,
    limits: Limits,
    filing_id: FilingId,
    page: PageNumber,
    highlight: Annotated[
        list[Annotated[str, Query(pattern=r"^\d{1,9}-\d{1,9}$")]],
        Query(max_length=MAX_MARKS, description="START-END, characters of the page's text, as passages have them."),
    ] = [],  # noqa: B006
    box: Annotated[
        list[Annotated[str, Query(max_length=100)]],
        Query(max_length=MAX_MARKS, description="X0,Y0,X1,Y1 in PDF points, as facts have them."),
    ] = [],  # noqa: B006
    dpi: Annotated[int | None, Query(ge=36, le=200)] = None,
) -> Response:
    """PNG of a page of a PDF filing, drawn from its source while that is what was indexed. 404 for HTML filings."""
    marks = (*(read_range(text) for text in highlight), *(read_box(text) for text in box))
    content = await service.page_image(filing_id, page, marks, dpi or limits.image_dpi)
    return Response(content, media_type="image/png", headers={"cache-control": "private, max-age=3600"})
