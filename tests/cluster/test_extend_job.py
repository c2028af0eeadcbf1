"""``finray extend`` on Ray: the same rows as in this process, also after a stop."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pytest
import ray.data

from finray.cluster import extend_job
from finray.cluster.extend_job import tables_on_ray
from finray.core.errors import FinrayError, ModelUnavailableError, RequestRejectedError
from finray.core.settings import Settings, load_settings
from finray.index.extensions.extension import FilingExtension, FilingRows
from finray.index.extensions.set_aside import FailedFiling
from finray.index.extensions.table import open_extension
from finray.index.extensions.update import extend_index
from finray.index.job.in_process import index_in_process
from finray.index.reading.reader import IndexReader
from finray.retrieval.methods import fingear
from finray.retrieval.trees.store import COLUMNS

pytestmark = [pytest.mark.ray]


@pytest.fixture(scope="module")
def settings() -> Settings:
    chosen = {"encoder.model": "hash", "methods.fingear.reduction": "spectral", "methods.fingear.dimension": 2}
    chosen |= {"index_job.embed_workers_max": 1}
    return load_settings(overrides=chosen, environment={})


def test_actors_build_the_rows_of_one_process_and_continue(
    corpus: Path, settings: Settings, tmp_path: Path, local_ray: None
) -> None:
    sources = sorted(str(path) for path in corpus.glob("*10k*"))[:3]
    index_in_process(sources, str(tmp_path / "here"), settings)
    shutil.copytree(tmp_path / "here", tmp_path / "ray")
    here, there = (IndexReader.open(str(tmp_path / name), settings) for name in ("here", "ray"))
    extension: FilingExtension = fingear.extension(settings)
    extend_index(here, extension)
    tables = tables_on_ray(settings)
    first = extend_index(there, extension, tables=lambda *work: iter([next(tables(*work))]))
    assert first.costs.keys() < there.revisions.keys()
    second = extend_index(there, extension, tables=tables)
    assert first.costs.keys() | second.costs.keys() == there.revisions.keys()
    assert second.added == len(sources) - 1
    rows = [open_extension(reader, extension).rows(COLUMNS).to_pylist() for reader in (here, there)]
    assert [{**row, "trees": None} for row in rows[0]] == [{**row, "trees": None} for row in rows[1]]


def test_failures_travel_as_rows(local_ray: None) -> None:
    """Without a worker that fails, which would need a faulty method: what it would return is read again."""

    def made(outcome: FailedFiling | FinrayError) -> list[FilingRows | FailedFiling]:
        return list(extend_job._made(ray.data.from_items([{"content": pickle.dumps(outcome)}])))

    failed = FailedFiling("0000000000-24-000001", "ab12", "model_error", "3 attempts failed: RuntimeError: no token")
    assert made(failed) == [failed]
    # Errors whose constructors take more than a message keep their type, too.
    with pytest.raises(RequestRejectedError, match=r"too long\. Filings made so far are kept") as raised:
        made(RequestRejectedError(413, "too long"))
    assert raised.value.status == 413


def test_a_model_that_cannot_be_reached_stops_the_job_with_its_message(
    corpus: Path, settings: Settings, tmp_path: Path, local_ray: None
) -> None:
    index_in_process([str(min(corpus.glob("*10k*")))], str(tmp_path), settings)
    asks = {"writer": "llm"}
    fingear_ = settings.methods.fingear.model_copy(update=asks)
    llm = settings.llm.model_copy(update={"base_url": "http://127.0.0.1:9/v1", "max_retries": 0})
    chosen = settings.model_copy(
        update={"llm": llm, "methods": settings.methods.model_copy(update={"fingear": fingear_})}
    )
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:9"):
        extend_index(IndexReader.open(str(tmp_path), chosen), fingear.extension(chosen), tables=tables_on_ray(chosen))
