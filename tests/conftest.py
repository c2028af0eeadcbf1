from __future__ import annotations

import asyncio
import gc
import itertools
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import hypothesis
import pytest

from finray.core.garbage import collect_seldom
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engine import Engine, open_engine
from finray.index.job.in_process import index_in_process
from finray.index.reading.reader import IndexReader
from finray.lab.sample.generate import generate_sample
from tests.weightless import weightless

if TYPE_CHECKING:
    from finray.api.service import LocalService

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
"""This process attaches to several clusters in turn, and Ray asks for its token once."""
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As in a script that runs `make test &`. Tests press Ctrl-C, here and in what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
_BUCKETS = itertools.count(1)
INDEXED = ("*10k*", "*-2023-q2-10q*", "*8k-2023*")

# No test asserts a time; shared machines stall for a second now and then.
hypothesis.settings.register_profile("finray", deadline=None)
hypothesis.settings.load_profile("finray")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with the longest time limits first, so that no worker is left alone with one at the end."""
    limits: dict[Path, float] = {}
    for item in items:
        mark = item.get_closest_marker("timeout")
        limits[item.path] = max(limits.get(item.path, 0.0), float(mark.args[0]) if mark and mark.args else 0.0)
    items.sort(key=lambda item: -limits[item.path])


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and never walk through what was imported and collected, which lives as long as the
    process: both together took a sixth of the processor time."""
    collect_seldom()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real filings and published questions; without it, tests that ask for it are skipped."""
    folder = Path(os.environ.get("FINRAY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real filings at {folder}")
    return folder


@pytest.fixture(scope="session")
def listen() -> Iterator[Callable[[Any], str]]:
    """Serves an ASGI application on a port of this machine until the tests end; returns its URL."""
    import uvicorn

    servers = []

    def start(application: Any) -> str:
        listening = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(application, log_config=None, lifespan="on"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        servers.append((server, thread))
        deadline = time.monotonic() + 30
        while not server.started and thread.is_alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert server.started
        host, port = listening.getsockname()
        return f"http://{host}:{port}"

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The URL of a local S3 server."""
    from moto.server import ThreadedMotoServer  # the environment of `make test-llm` has none

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def s3_variables(s3_server: str) -> Iterator[dict[str, str]]:
    """The usual AWS variables, set so that the local S3 server is found."""
    variables = {
        "AWS_ENDPOINT_URL": s3_server,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield variables


@pytest.fixture(scope="module")
def s3(s3_variables: dict[str, str]) -> str:
    """An empty bucket for one module, as s3://name."""
    name = f"finray-{next(_BUCKETS)}"
    boto3.client("s3").create_bucket(Bucket=name)
    return f"s3://{name}"


@pytest.fixture(scope="session")
def local_settings() -> Settings:
    """The local preset without what needs weights (``tests/weightless.py``)."""
    return weightless()


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three fictional companies over three years: filings/ and questions.jsonl."""
    folder = tmp_path_factory.mktemp("three-companies")
    generate_sample(folder, companies=3, years=3, seed=7, formats=("html",), questions=240, workers=1)
    return folder


@pytest.fixture(scope="session")
def sample_index(sample_folder: Path, local_settings: Settings) -> str:
    """An index of the annual reports, an amendment, one quarter and the current reports of one year."""
    filings = sample_folder / "filings"
    sources = [str(path) for pattern in INDEXED for path in sorted(filings.glob(pattern))]
    summary = index_in_process(sources, str(sample_folder / "index"), local_settings)
    assert summary.failed == 0
    return str(sample_folder / "index")


@pytest.fixture(scope="session")
def reader(sample_index: str, local_settings: Settings) -> IndexReader:
    return IndexReader.open(sample_index, local_settings)


@pytest.fixture(scope="session")
def engine(sample_index: str, local_settings: Settings) -> Engine:
    return open_engine(sample_index, local_settings)


@pytest.fixture(scope="session")
def keys_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys") / "keys.json"


@pytest.fixture(scope="session")
def key(keys_file: Path) -> str:
    from finray.api.keys import add_key

    return add_key(str(keys_file), "tester")


@pytest.fixture(scope="session")
def serving_settings(local_settings: Settings) -> Settings:
    serving = local_settings.serving.model_copy(update={"questions_per_minute": 1e6, "reads_per_minute": 1e6})
    return local_settings.model_copy(update={"serving": serving})


@pytest.fixture(scope="session")
def service(sample_index: str, serving_settings: Settings) -> Iterator[LocalService]:
    """Over ``sample_index``, with an engine."""
    from finray.api.service import LocalService

    with closing(LocalService(sample_index, serving_settings)) as service:
        service.wait_until_ready()
        yield service


@pytest.fixture(scope="session")
def ask(engine: Engine) -> Callable[[str], Prediction]:
    """The local preset's answer to one question about the sample."""
    return lambda question: asyncio.run(engine.answer(Question("q", question)))


@pytest.fixture(scope="session")
def sample_questions(sample_folder: Path) -> list[dict[str, Any]]:
    """The sample's questions with their gold values, as the generator wrote them."""
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
