"""Reads the end state of a world and compares two of them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from finray.batch.prediction_store import read_predictions
from finray.core.errors import IndexMissingError, SourceError
from finray.edgar.ledger import Ledger
from finray.edgar.store import RawStore
from finray.index.reading.reader import IndexReader
from finray.storage.locations import exists, list_objects, read_bytes
from tools.faults.contents import Contents, differences, read_contents
from tools.faults.world import Place, plain_json

Texts = Mapping[tuple[str, str], str]
"""(filing id, revision) -> digest of the filing's pages and chunks."""


@dataclass(frozen=True, slots=True)
class State:
    """``raw`` has the files of the raw store by name, ``ledger`` the entry of each filing, ``predictions`` the answer
    to each question with its filings and pages. Scores are excluded: Lance's text index counts deleted rows until it is
    merged, so their last digits depend on the order of writes, even without faults."""

    contents: Contents
    raw: Mapping[str, str]
    ledger: Mapping[str, str]
    predictions: Mapping[str, str]
    texts: Texts = field(default_factory=dict)


def read_state(place: Place) -> State:
    return State(
        read_contents(place.index),
        dict(_raw_files(place)),
        _ledger(place),
        _predictions(place),
        texts_of(IndexReader.open(place.index)),
    )


def state_differences(expected: State, found: State) -> list[str]:
    """A line for each row, file, ledger entry and prediction that differs."""
    lines = [f"index {line}" for line in differences(expected.contents, found.contents)]
    for name in ("raw", "ledger", "predictions"):
        wanted, got = getattr(expected, name), getattr(found, name)
        lines += [f"{name}: lacks {key}" for key in sorted(wanted.keys() - got.keys())]
        lines += [f"{name}: also has {key}" for key in sorted(got.keys() - wanted.keys())]
        lines += [
            f"{name}: {key} is {got[key]}, not {wanted[key]}"
            for key in sorted(wanted.keys() & got.keys())
            if wanted[key] != got[key]
        ]
    return lines


def texts_of(reader: IndexReader) -> Texts:
    """The texts that a reader sees of each filing. Raises AssertionError if one is not complete."""
    revisions = reader.revisions
    digests = {filing_id: hashlib.blake2b(digest_size=12) for filing_id in revisions}
    for name, table in (("pages", reader.pages(None)), ("chunks", reader.chunks(None))):
        ids = table["filing_id"].to_pylist()
        counts = Counter(ids)
        expected = {i: n for i, n in reader.row_counts("pages" if name == "pages" else "chunks").items() if n}
        if counts != expected:
            raise AssertionError(f"half a filing: {name} of each filing are {dict(counts)}, not {expected}")
        for filing_id, text in zip(ids, table["text"].to_pylist(), strict=True):
            digests[filing_id].update(text.encode())
    # A revision is the content's digest and, after the dash, its writer.
    return {(i, revisions[i].partition("-")[0]): digest.hexdigest() for i, digest in digests.items()}


def open_reader(place: Place) -> IndexReader | None:
    """A reader, or None if there is no index yet."""
    try:
        return IndexReader.open(place.index)
    except IndexMissingError:
        return None


def _raw_files(place: Place) -> Any:
    for part in ("filings", "deleted"):
        folder = f"{place.raw}/{part}"
        for file in list_objects(folder) if exists(folder) else ():
            content = read_bytes(file.uri)
            digest = _json_or_damage(content) if file.uri.endswith(".json") else hashlib.sha256(content).hexdigest()
            yield file.uri.removeprefix(place.raw), digest


def _json_or_damage(content: bytes) -> str:
    try:
        return plain_json(content)
    except ValueError as error:
        return f"damaged: {error}"


def _ledger(place: Place) -> dict[str, str]:
    ledger = Ledger(RawStore(place.raw).ledger_uri, read_only=True)
    entries = {}
    for entry in ledger.entries():
        values = dataclasses.asdict(entry)
        values["listed"].pop("url")
        entries[entry.listed.accession] = json.dumps(values, default=str)
    return entries


def _predictions(place: Place) -> dict[str, str]:
    try:
        kept = read_predictions(place.predictions)
    except SourceError:
        return {}
    answers = {}
    for prediction in kept.predictions:
        answers[prediction.qid] = json.dumps(
            {
                "status": prediction.status,
                "answer": prediction.answer,
                "value": prediction.value,
                "unit": prediction.unit,
                "error": prediction.error,
                "filings": [document.filing_id for document in prediction.documents],
                "pages": sorted({(passage.filing_id, passage.page) for passage in prediction.evidence}),
            }
        )
    if kept.remarks:
        answers["remarks"] = "; ".join(kept.remarks)
    return answers
