"""Two commands at once on one index or one output: who goes on, who stops, and what stands there afterwards.

Two syncs at once are in tests/edgar/test_killed.py, a writer that is overtaken between any two steps of a commit in
tests/index/test_writer.py, two answer runs with the same questions or a local output in
tests/batch/test_prediction_store.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.cli.check import check
from finray.core.errors import UsageError
from finray.core.predictions import Prediction
from finray.core.settings import Settings, load_settings
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.job.summary import IndexProgress
from finray.index.upkeep import maintain as upkeep
from finray.index.upkeep.check import check_index
from finray.lab.sample.generate import generate_sample
from tests.weightless import VARIABLES
from tools.faults.contents import Contents, differences, read_contents
from tools.faults.processes import filings_committed, start

N_FILINGS = 14
ENVIRONMENT = {
    **VARIABLES,
    "FINRAY_INDEX__WRITE_ROWS": "40",
    "FINRAY_INDEX__IN_PROCESS": "true",
}
OVERTAKEN = "has taken over the index"

Index = Callable[..., None]
Other = Callable[[], object]


@pytest.fixture(scope="module")
def settings() -> Settings:
    """Commits of two or three filings, so that jobs can be interrupted between commits."""
    return load_settings(environment=ENVIRONMENT)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("sample")
    generate_sample(folder, companies=1, years=2, seed=5, questions=1, formats=("html",), workers=1)
    found = sorted(str(path) for path in (folder / "filings").iterdir())
    assert len(found) == N_FILINGS
    return found


@pytest.fixture(scope="module")
def index(settings: Settings) -> Iterator[Index]:
    """The index job, with a shared parser, because each takes seconds to start."""
    parser = ParserProcess(settings.filings, settings.chunks)

    def run(sources: list[str], uri: str, meanwhile: Other | None = None, at: int = 0) -> None:
        """Runs ``meanwhile`` from start to end once ``at`` filings are done."""
        waiting = [meanwhile] if meanwhile else []

        def act(progress: IndexProgress) -> None:
            if progress.done == at and waiting:
                waiting.pop()()

        index_in_process(sources, uri, settings, progress=act, parser=parser)
        assert not waiting

    yield run
    parser.close()


@pytest.fixture(scope="module")
def expected(index: Index, sources: list[str], tmp_path_factory: pytest.TempPathFactory) -> Contents:
    uri = str(tmp_path_factory.mktemp("expected"))
    index(sources, uri)
    return read_contents(uri)


def assert_whole(uri: str, expected: Contents) -> None:
    assert differences(expected, read_contents(uri)) == []
    assert check_index(uri, deep=True) == []


@pytest.mark.parametrize("at", [1, 4, 9, N_FILINGS - 1])
def test_two_index_jobs_over_the_same_filings_store_every_row_once(
    at: int, index: Index, sources: list[str], expected: Contents, tmp_path: Path
) -> None:
    uri = str(tmp_path)
    with pytest.raises(UsageError, match=OVERTAKEN):
        index(sources, uri, lambda: index(sources, uri), at)
    assert_whole(uri, expected)


@pytest.mark.parametrize("at", [1, 6])
def test_after_two_index_jobs_over_different_filings_a_rerun_completes_the_first(
    at: int, index: Index, sources: list[str], expected: Contents, tmp_path: Path
) -> None:
    uri = str(tmp_path)
    some, others = sources[:7], sources[7:]
    with pytest.raises(UsageError, match=r"Run one .* at a time"):
        index(some, uri, lambda: index(others, uri), at)
    assert check_index(uri, deep=True) == []
    index(some, uri)
    assert_whole(uri, expected)


def maintain(uri: str, settings: Settings) -> None:
    upkeep.maintain(uri, settings)


def repair(uri: str, settings: Settings) -> None:
    assert check(uri, set_=["encoder.model=hash"], deep=True, repair=True) == 0


@pytest.mark.parametrize("upkeep", [maintain, repair])
def test_upkeep_while_an_index_job_runs(
    upkeep: Callable[[str, Settings], None],
    index: Index,
    sources: list[str],
    settings: Settings,
    expected: Contents,
    tmp_path: Path,
) -> None:
    """Maintenance takes the index over: the job stops and says so. A check that finds nothing to repair disturbs
    nobody."""
    uri = str(tmp_path)
    try:
        index(sources, uri, lambda: upkeep(uri, settings), 9)
        stopped = False
    except UsageError as error:
        stopped = OVERTAKEN in str(error)
    assert stopped == (upkeep is maintain)
    assert check_index(uri, deep=True) == []
    index(sources, uri)
    assert_whole(uri, expected)


@pytest.mark.slow
@pytest.mark.parametrize("committed", [0, 2, 6])
def test_two_index_commands(committed: int, sources: list[str], expected: Contents, tmp_path: Path) -> None:
    """As processes, at whatever moment of each other: one at least ends well, and nobody waits for the other. Where
    both start at once it may be either."""
    uri, folder = str(tmp_path), str(Path(sources[0]).parent)
    command = "index", folder, "--index", uri
    with start(*command, environment=ENVIRONMENT) as first:
        first.wait_until(lambda: filings_committed(uri) >= committed)
        with start(*command, environment=ENVIRONMENT) as second:
            ends = [first.wait(120.0), second.wait(120.0)]
    stopped = [end for end in ends if end.exit_code != 0]
    assert len(stopped) <= 1, stopped
    for end in stopped:
        assert end.exit_code == 2
        assert OVERTAKEN in end.err.splitlines()[-1]
    assert "Traceback" not in ends[0].err + ends[1].err
    assert_whole(uri, expected)


def answers(qids: list[str]) -> list[Prediction]:
    return [Prediction(qid, "?", "", "answered", settings_hash="h") for qid in qids]


@pytest.mark.slow
def test_two_answer_runs_of_different_questions_with_one_output_on_s3(s3: str) -> None:
    """Objects have no locks: both continue, and the one that finishes keeps the predictions of the other."""
    out = f"{s3}/two/out.jsonl"
    with PredictionStore(out) as first, PredictionStore(out) as second:
        first.append(answers(["a"]))
        second.append(answers(["c"]))
        first.append(answers(["b"]))
        first.finish(["a", "b"], "h")
        second.append(answers(["d"]))
        assert {prediction.qid for prediction in read_predictions(out).predictions} == set("abcd")
        second.finish(["c", "d"], "h")
    assert sorted(prediction.qid for prediction in read_predictions(out).predictions) == list("abcd")
