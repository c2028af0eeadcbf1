"""Filings and their pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from finray.api.access import BEARER, Key, ReadRoute
from finray.api.library import filing_page, filing_record, filings_record
from finray.api.page_images import MAX_MARKS, Drawing, read_box, read_range
from finray.api.routes import Behind, Limits, binary, errors
from finray.api.streaming import while_connected
from finray.core.filing_filter import FilingFilter
from finray.core.replies import FilingDetail, FilingList, FilingPage

router = APIRouter(prefix="/v1/filings", tags=["filings"], route_class=ReadRoute, dependencies=[BEARER])
Names = Annotated[list[Annotated[str, Query(min_length=1, max_length=200)]], Query(max_length=50)]
FilingId = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$", examples=["0000320193-23-000106"])]
PageNumber = Annotated[int, Path(ge=0, le=100_000, description="From 0.")]
_OF_ONE = errors(401, 403, 404, 422, 429, 503, 504)
_IMAGE = _OF_ONE | binary("image/png", "The page")


@router.get("", summary="List filings", responses=errors(401, 403, 422, 429, 503, 504))
async def filings(
    request: Request,
    key: Key,
    service: Behind,
    limits: Limits,
    company: Annotated[Names, Query(description="Name, alias, ticker or CIK; may be repeated.")] = [],  # noqa: B006
    form: Annotated[Names, Query(description="Such as 10-K; may be repeated.")] = [],  # noqa: B006
    fiscal_year: Annotated[list[Annotated[int, Query(ge=1900, le=2200)]], Query(max_length=50)] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[str, Query(max_length=200, description="`next_cursor` of the previous page.")] = "",
) -> FilingList:
    """Sorted by filing id. If `has_more` is true, pass `next_cursor` as `cursor` to get the next page."""
    narrowed = FilingFilter(tuple(company), tuple(form), tuple(fiscal_year))
    found = service.read(key, filings_record, narrowed, cursor, limit)
    return await while_connected(request, found, limits.timeout_s)


@router.get("/{filing_id}", summary="One filing", responses=_OF_ONE)
async def filing(request: Request, key: Key, service: Behind, limits: Limits, filing_id: FilingId) -> FilingDetail:
    """Cover facts, and for each page its SEC Item, statement and place."""
    return await while_connected(request, service.read(key, filing_record, filing_id), limits.timeout_s)


@router.get("/{filing_id}/pages/{page}", summary="One page", responses=_OF_ONE)
async def page(
    request: Request, key: Key, service: Behind, limits: Limits, filing_id: FilingId, page: PageNumber
) -> FilingPage:
    """Text, SEC Item, statement, and every number of its tables."""
    return await while_connected(request, service.read(key, filing_page, filing_id, page), limits.timeout_s)


@router.get(
    "/{filing_id}/pages/{page}/image", summary="One page as a picture", responses=_IMAGE, response_class=Response
)
async def image(
    request: Request,
    key: Key,
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
    """PNG of a page of a PDF filing, drawn from its source. 404 if the source has changed, and for HTML filings."""
    drawing = Drawing(page, dpi or limits.image_dpi, tuple(map(read_range, highlight)), tuple(map(read_box, box)))
    content = await while_connected(request, service.page_image(key, filing_id, drawing), limits.timeout_s)
    return Response(content, media_type="image/png", headers={"cache-control": "private, max-age=3600"})
