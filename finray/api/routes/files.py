"""POST /v1/files and its reads, with the names of OpenAI's Files API."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, UploadFile
from starlette.responses import Response

from finray.api.access import BEARER, Key, ReadRoute, UploadRoute
from finray.api.batches.results import Download
from finray.api.routes import BatchesOf, binary, errors
from finray.core.batch_replies import Deleted, FileList, FileObject

uploads = APIRouter(prefix="/v1/files", tags=["batches"], route_class=UploadRoute, dependencies=[BEARER])
router = APIRouter(prefix="/v1/files", tags=["batches"], route_class=ReadRoute, dependencies=[BEARER])
FileId = Annotated[
    str, Path(pattern=r"^file-[0-9a-f]{24}(-output|-errors)?$", examples=["file-0123456789abcdef01234567"])
]
After = Annotated[str | None, Query(max_length=100, description="`last_id` of the previous page.")]
_OF_ONE = errors(401, 403, 404, 422, 429, 503)
_CONTENT = _OF_ONE | binary("application/octet-stream", "The file")


@uploads.post("", summary="Upload a file of questions", responses=errors(401, 403, 408, 413, 422, 429, 503))
async def upload_file(key: Key, batches: BatchesOf, file: UploadFile) -> FileObject:
    """JSON lines, CSV, a workbook or Parquet, as `finray answer` reads them, or request lines of OpenAI's batch API. It
    is read when a batch starts."""
    return await batches.add_file(key, file.filename, await file.read())


@router.get("", summary="List files", responses=errors(401, 403, 422, 429, 503))
async def files(
    key: Key,
    batches: BatchesOf,
    after: After = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> FileList:
    """The key's own, newest first."""
    return await batches.files(key, after, limit)


@router.get("/{file_id}", summary="One file", responses=_OF_ONE)
async def file(key: Key, batches: BatchesOf, file_id: FileId) -> FileObject:
    return await batches.file(key, file_id)


@router.get("/{file_id}/content", summary="The content of a file", responses=_CONTENT, response_class=Response)
async def file_content(key: Key, batches: BatchesOf, file_id: FileId) -> Response:
    """Returns an uploaded file, or the `output_file_id` or `error_file_id` of a batch: one JSON object a line with
    `custom_id`, `response` (its `body` is the prediction) and `error`."""
    return attachment(await batches.file_content(key, file_id))


@router.delete("/{file_id}", summary="Delete a file", responses=errors(401, 403, 404, 409, 422, 429, 503))
async def delete_file(key: Key, batches: BatchesOf, file_id: FileId) -> Deleted:
    """409 while a batch has its questions from it."""
    return await batches.delete_file(key, file_id)


def attachment(found: Download) -> Response:
    """A reply that a browser saves under a name of ASCII letters."""
    name = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in found.filename)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(found.content, media_type=found.media_type, headers=headers)
