"""POST /v1/batches and its reads, with the names of OpenAI's batch API.

`answers`, `download` and `resume` are finray's own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from finray.api.access import BEARER, BodyRoute, Key, ReadRoute
from finray.api.requests import BatchRequest, ResumeRequest
from finray.api.routes import BatchesOf, binary, errors
from finray.api.routes.files import After, attachment
from finray.core.batch_replies import Batch, BatchAnswers, BatchList, Deleted, DownloadFormat, Show
from finray.core.predictions import Prediction

writes = APIRouter(prefix="/v1/batches", tags=["batches"], route_class=BodyRoute, dependencies=[BEARER])
router = APIRouter(prefix="/v1/batches", tags=["batches"], route_class=ReadRoute, dependencies=[BEARER])
BatchId = Annotated[str, Path(pattern=r"^batch_[0-9a-f]{24}$", examples=["batch_0123456789abcdef01234567"])]
Number = Annotated[int, Path(ge=1, le=10_000_000, description="Position in the file, from 1.")]
_OF_ONE = errors(401, 403, 404, 409, 422, 429, 503)
_DOWNLOAD = _OF_ONE | binary("application/octet-stream", "The answers so far")


@writes.post("", summary="Start a batch", responses=errors(401, 403, 404, 408, 413, 422, 429, 503))
async def create_batch(key: Key, batches: BatchesOf, body: BatchRequest) -> Batch:
    """Answers every question of an uploaded file, in the background. A batch survives restarts of the service. If its
    file cannot be used, its status becomes `failed` and `errors` says why."""
    return await batches.create(key, body.asked())


@router.get("", summary="List batches", responses=errors(401, 403, 422, 429, 503))
async def list_batches(
    key: Key, batches: BatchesOf, after: After = None, limit: Annotated[int, Query(ge=1, le=100)] = 20
) -> BatchList:
    """The key's own, newest first."""
    return await batches.batches(key, after, limit)


@router.get("/{batch_id}", summary="One batch", responses=_OF_ONE)
async def batch(key: Key, batches: BatchesOf, batch_id: BatchId) -> Batch:
    """Its status, and how many questions are done."""
    return await batches.batch(key, batch_id)


@writes.post("/{batch_id}/cancel", summary="Stop a batch", responses=_OF_ONE)
async def cancel_batch(key: Key, batches: BatchesOf, batch_id: BatchId) -> Batch:
    """Its answers so far stay, and `resume` goes on from there."""
    return await batches.cancel(key, batch_id)


@writes.post("/{batch_id}/resume", summary="Resume a batch", responses=_OF_ONE)
async def resume_batch(key: Key, batches: BatchesOf, batch_id: BatchId, body: ResumeRequest | None = None) -> Batch:
    """Asks the questions that are not answered yet, with `retry_errors` also those that ended in an error."""
    return await batches.resume(key, batch_id, retry_errors=body is not None and body.retry_errors)


@router.delete("/{batch_id}", summary="Delete a batch", responses=_OF_ONE)
async def delete_batch(key: Key, batches: BatchesOf, batch_id: BatchId) -> Deleted:
    """With its answers; its file stays. 409 while it runs."""
    return await batches.delete(key, batch_id)


@router.get("/{batch_id}/answers", summary="List answers of a batch", responses=_OF_ONE)
async def batch_answers(
    key: Key,
    batches: BatchesOf,
    batch_id: BatchId,
    show: Annotated[Show, Query(description="`low_confidence` and `not_grounded` are among `answered`.")] = "all",
    after: Annotated[int, Query(ge=0, le=10_000_000, description="`next_after` of the previous page.")] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> BatchAnswers:
    """In brief, in the order of the file, also while the batch runs."""
    return await batches.answers(key, batch_id, show, after, limit)


@router.get("/{batch_id}/answers/{number}", summary="One answer of a batch", responses=_OF_ONE)
async def batch_answer(key: Key, batches: BatchesOf, batch_id: BatchId, number: Number) -> Prediction:
    """With its evidence."""
    return await batches.answer(key, batch_id, number)


@router.get("/{batch_id}/download", summary="Download a batch", responses=_DOWNLOAD, response_class=Response)
async def download_batch(
    request: Request,
    key: Key,
    batches: BatchesOf,
    batch_id: BatchId,
    format: Annotated[
        DownloadFormat, Query(description="Predictions, a table, or a workbook with evidence.")
    ] = "jsonl",
    links: Annotated[Literal["edgar", "service"], Query(description="Where links to pages lead.")] = "edgar",
) -> Response:
    """The answers so far, with the columns of the file that was uploaded."""
    service = str(request.base_url) if links == "service" else None
    return attachment(await batches.download(key, batch_id, format, service))
