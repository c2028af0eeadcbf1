"""Real training for a few steps of a random two-layer model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from finray.core.errors import UsageError
from finray.core.settings import EncoderSettings, RerankerSettings
from finray.lab.training.fine_tuning.corpus import Corpus
from finray.lab.training.fine_tuning.options import PAGE_SCORER, PUBLISHED_PAGE_SCORER, RERANKER, Machine
from finray.lab.training.fine_tuning.page_scorer import page_scorer_columns
from finray.lab.training.fine_tuning.runs import FOLDS, Kind, Run, train_folds, train_model
from finray.models.encoder_loading import load_encoder
from finray.models.reranker import load_reranker

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

MACHINE = Machine(device="cpu", threads=1, checkpoint_steps=2)


def quiet(_: str) -> Callable[[int, int, str], None]:
    return lambda done, total, note: None


@pytest.fixture
def run(corpus: Corpus, tiny_base: str) -> Callable[[Kind], Run]:
    def made(kind: Kind) -> Run:
        published = RERANKER if kind == "reranker" else PAGE_SCORER
        options = replace(published, base=tiny_base, batch_size=2, max_tokens=32, negatives=2, hard=1, max_steps=6)
        return Run(kind, corpus, options, MACHINE)

    return made


@pytest.mark.parametrize("kind", ["reranker", pytest.param("page-scorer", marks=pytest.mark.slow)])
def test_the_model_folder_can_be_named_in_the_settings(run: Callable[[Kind], Run], kind: Kind, tmp_path: Path) -> None:
    out = tmp_path / "model"
    record = train_model(run(kind), out, 0.25, quiet)
    if kind == "reranker":
        assert load_reranker(RerankerSettings(model=str(out), device="cpu")).scores("debt", ["a", "b"]).shape == (2,)
    else:
        encoder = load_encoder(EncoderSettings(model=str(out), device="cpu"), threads=1)
        assert encoder.encode_query("debt").shape == (32,)
    assert json.loads((out / "training.json").read_text()) == record
    assert record["training"]["steps"] == 6
    assert record["identity"]["seed"] == 0
    assert record["questions"] == 6
    assert record["held_out"]["by_source"]["made-up"]["n"] == 2
    assert not (out / "checkpoints").exists()


def test_the_published_page_scorer_learns_from_its_batch_alone(corpus: Corpus) -> None:
    """Section 4.7 of arXiv 2602.17981: a pair for each gold page, of at most 2,000 characters, and no other text."""
    columns = page_scorer_columns(corpus, corpus.questions, PUBLISHED_PAGE_SCORER)
    assert list(columns) == ["anchor", "positive"]
    assert len(columns["anchor"]) == len(corpus.questions)
    cut = page_scorer_columns(corpus, corpus.questions, replace(PUBLISHED_PAGE_SCORER, page_characters=9))
    assert cut["positive"] == [text[:9] for text in columns["positive"]]


@pytest.mark.slow
def test_it_is_trained_for_each_fold_by_document(corpus: Corpus, tiny_base: str, tmp_path: Path) -> None:
    tiny = replace(PUBLISHED_PAGE_SCORER, base=tiny_base, revision="", batch_size=2, max_tokens=32, max_steps=2)
    pooled = train_folds(Run("page-scorer", corpus, tiny, MACHINE), tmp_path, 2, quiet)
    assert pooled["n"] == len(corpus.questions)
    records = [json.loads((tmp_path / f"fold-{n}" / "training.json").read_text()) for n in (1, 2)]
    for record in records:
        assert record["identity"]["negatives"] == 0
        assert record["identity"]["page_characters"] == 2000
        assert not set(record["learned_questions"]) & set(record["held_out_questions"])


def test_a_finished_run_does_nothing_and_another_is_refused(run: Callable[[Kind], Run], tmp_path: Path) -> None:
    first = train_model(run("reranker"), tmp_path / "m", 0, quiet)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "m").iterdir()}
    assert train_model(run("reranker"), tmp_path / "m", 0, quiet) == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "m").iterdir()} == before
    other = run("reranker")
    with pytest.raises(UsageError, match="seed 0 there, 1 now"):
        train_model(replace(other, options=replace(other.options, seed=1)), tmp_path / "m", 0, quiet)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["reranker", "page-scorer"])
def test_an_interrupted_run_ends_where_an_uninterrupted_one_does(
    run: Callable[[Kind], Run], kind: Kind, tmp_path: Path
) -> None:
    from safetensors.numpy import load_file

    class Killed(Exception):
        pass

    def killed_at_five(_: str) -> Callable[[int, int, str], None]:
        def report(done: int, total: int, note: str) -> None:
            if total == 6 and done == 5:
                raise Killed

        return report

    train_model(run(kind), tmp_path / "whole", 0, quiet)
    with pytest.raises(Killed):
        train_model(run(kind), tmp_path / "cut", 0, killed_at_five)
    (tmp_path / "cut" / "checkpoints" / "checkpoint-5").mkdir()  # cut short while it was written
    record = train_model(run(kind), tmp_path / "cut", 0, quiet)
    assert record["training"]["resumed_at"] == 4
    whole, cut = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "cut"))
    assert all((whole[name] == cut[name]).all() for name in whole)


def test_data_too_small_for_a_batch_are_an_error(run: Callable[[Kind], Run], tmp_path: Path) -> None:
    made = run("page-scorer")
    nothing = replace(made, options=replace(made.options, epochs=0, max_steps=0))
    with pytest.raises(UsageError, match=r"no step was trained.*batch_size"):
        train_model(nothing, tmp_path / "m", 0, quiet)
    assert not (tmp_path / "m" / "training.json").exists()


@pytest.mark.slow
def test_folds_score_every_question_once(run: Callable[[Kind], Run], tmp_path: Path) -> None:
    made = run("page-scorer")
    short = replace(made, options=replace(made.options, max_steps=1))
    result = train_folds(short, tmp_path / "folds", 2, quiet)
    assert result["n"] == 8
    assert set(result["held_out"]["made-up"]["trained_minus"]) == {"words", "untrained"}
    assert json.loads((tmp_path / "folds" / FOLDS).read_text()) == result
    parts = [json.loads((tmp_path / "folds" / f"fold-{n}" / "training.json").read_text()) for n in (1, 2)]
    assert not set(parts[0]["held_out_questions"]) & set(parts[1]["held_out_questions"])
    assert sorted(parts[0]["learned_questions"]) == sorted(parts[1]["held_out_questions"])


CHILD = """
import sys
from finray.cli import main
sys.argv = ["finray", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
def test_a_killed_run_resumes_from_a_checkpoint(tiny_base: str, tatqa_file: Callable[..., str], tmp_path: Path) -> None:
    out = tmp_path / "model"
    arguments = ["train", "reranker", "--tatqa", tatqa_file(60), "--base", tiny_base, "--out", str(out)]
    arguments += ["--device", "cpu", "--threads", "1", "--batch-size", "2", "--checkpoint-steps", "5"]
    arguments += ["--max-tokens", "32", "--max-steps", "400", "--json"]
    command = [sys.executable, "-c", CHILD, *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    resumed = 0
    for kill in range(3):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        seen = {p.name for p in (out / "checkpoints").glob("checkpoint-*/complete")}
        deadline = time.monotonic() + 120
        while len(_complete(out)) == 0 or _newest(out) <= resumed:
            assert child.poll() is None, f"ended before kill {kill}; {seen}"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        resumed = _newest(out)
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    record = json.loads(done.stdout)
    assert record["training"]["steps"] == 400
    assert record["training"]["resumed_at"] >= resumed
    again = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(again.stdout) == record


@pytest.mark.slow
@pytest.mark.parametrize("job", ["train_reranker.py", "train_page_scorer.py"])
def test_two_processes_train_one_model(
    job: str, tiny_base: str, tatqa_file: Callable[..., str], tmp_path: Path
) -> None:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    arguments = ["--tatqa", tatqa_file(20), "--base", tiny_base, "--out", str(tmp_path / "model"), "--device", "cpu"]
    arguments += ["--threads", "1", "--batch-size", "2", "--max-tokens", "32", "--max-steps", "4", "--json"]
    arguments += ["--negatives", "1", "--hard", "0"]
    jobs = Path(__file__).resolve().parents[4] / "jobs"
    done = subprocess.run([*launch, str(jobs / job), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    record = json.loads(done.stdout)
    assert record["training"]["steps"] == 4
    assert json.loads((tmp_path / "model" / "training.json").read_text()) == record


def _complete(out: Path) -> list[int]:
    folders = (out / "checkpoints").glob("checkpoint-*/complete")
    return [int(path.parent.name.removeprefix("checkpoint-")) for path in folders]


def _newest(out: Path) -> int:
    return max(_complete(out), default=0)
