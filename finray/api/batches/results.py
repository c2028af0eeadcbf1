"""The answers of a batch as files: JSON lines, CSV, a workbook, and the output lines of OpenAI's batch API."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from finray.api.batches.ledger import Ledger
from finray.batch.answer_book import AnswerBook
from finray.batch.prediction_files import prediction_files
from finray.batch.prediction_store import PredictionStore
from finray.batch.predictions import decode, encode
from finray.core.batch_replies import Batch, DownloadFormat
from finray.core.errors import SourceError
from finray.core.filing import Filing
from finray.core.predictions import Prediction
from finray.core.records import to_json, to_object
from finray.core.settings import Settings
from finray.filings.pages.page_links import PageLinks

_MEDIA_TYPES: Mapping[DownloadFormat, str] = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@dataclass(frozen=True, slots=True)
class Download:
    filename: str
    media_type: str
    content: bytes


def stored_predictions(uri: str) -> Iterator[Prediction]:
    """Every stored prediction at ``uri``, oldest first; also of a batch that runs. Raises SourceError."""
    for line in prediction_files(uri).lines():
        try:
            yield decode(line.content)
        except ValueError as error:
            raise SourceError(f"{line.where}: {error}") from error


def find_prediction(uri: str, qid: str, settings_hash: str) -> Prediction | None:
    """The latest prediction for ``qid``."""
    # Only lines that mention the id are parsed: a batch may have thousands.
    mention = encode(Prediction(qid, "", "", "error")).partition(b', "question"')[0].removeprefix(b"{")
    found = None
    for line in prediction_files(uri).lines():
        if mention in line.content:
            prediction = decode(line.content)
            if (prediction.qid, prediction.settings_hash) == (qid, settings_hash):
                found = prediction
    return found


def cited_filings(uri: str) -> frozenset[str]:
    """Ids of the filings that answers rest on."""
    cited: set[str] = set()
    for prediction in stored_predictions(uri):
        cited.update(cell.filing_id for cell in prediction.operands)
        cited.update(passage.filing_id for passage in prediction.evidence)
    return frozenset(cited)


def download(
    batch: Batch,
    uri: str,
    ledger: Ledger,
    settings: Settings,
    kind: DownloadFormat,
    filings: Mapping[str, Filing],
    service: str | None,
) -> Download:
    """The answers so far, in the order of the questions. ``service`` is the URL of the service for links to pages."""
    name = f"{PurePath(batch.filename).stem}.answers.{kind}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "answers.jsonl"
        with copy.open("wb") as file:
            file.writelines(line.content for line in prediction_files(uri).lines())
        with PredictionStore(str(copy)) as store:
            store.finish((line.qid for line in ledger.asked.lines), batch.settings_hash)
            if kind == "jsonl":
                return Download(name, _MEDIA_TYPES[kind], copy.read_bytes())
            out = Path(folder) / f"book.{kind}"
            about = {"questions": batch.filename, "batch": batch.id, "status": batch.status}
            AnswerBook(str(out), ledger.asked, PageLinks(filings, service), settings, about).write(store)
            return Download(name, _MEDIA_TYPES[kind], out.read_bytes())


def output_lines(batch: Batch, uri: str, *, errors: bool) -> bytes:
    """The lines of OpenAI's output file, or of its error file: the prediction is the body of each response."""
    latest = {
        prediction.qid: prediction
        for prediction in stored_predictions(uri)
        if prediction.settings_hash == batch.settings_hash
    }
    return b"".join(
        _output_line(batch, prediction) for prediction in latest.values() if (prediction.status == "error") == errors
    )


def _output_line(batch: Batch, prediction: Prediction) -> bytes:
    failed = prediction.status == "error"
    line: dict[str, object] = {
        "id": f"{batch.id}-{prediction.qid}",
        "custom_id": prediction.qid,
        "response": None if failed else {"status_code": 200, "request_id": batch.id, "body": to_object(prediction)},
        "error": {"code": "question_failed", "message": prediction.error} if failed else None,
    }
    return to_json(line) + b"\n"
