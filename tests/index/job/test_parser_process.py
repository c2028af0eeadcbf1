"""What a filing can do to its parser: each harm becomes that filing's failure, and the next filing is read. One that
takes the parser over finds nothing to take and no way out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import finray
from finray.core.errors import FilingError, SettingsError
from finray.core.settings import SandboxSettings, Settings
from finray.filings.pdf.tessdata import find_tessdata
from finray.index.job import parser_process
from finray.index.job.parser_process import ParserProcess
from finray.index.writing.bundle import from_bytes
from finray.sandbox import confined, pipes
from finray.sandbox.runner import inspect_reader
from tests.filings.pdf.test_ocr import scanned

MODULE = """
import ctypes, json, os, re, resource, signal, socket, sys, threading, time
from finray.sandbox import reader
reader.leave_out_layout()
import finray.filings.read as read
from finray.core.errors import FilingError
from finray.index.job import parser_process

honest = read.parse_filing

def attempt(action):
    try:
        action()
    except (OSError, ValueError, RuntimeError) as error:
        return type(error).__name__
    return "possible"

def fork():
    if os.fork() == 0:
        os._exit(0)

def see():
    wider = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    return {
        "environment": dict(os.environ),
        "finray": sys.modules["finray"].__file__,
        "models": sorted({"sklearn", "torch", "transformers"} & {*sys.modules}),
        "folder": os.getcwd(),
        "files": [n for n in range(3, 60) if os.path.exists(f"/proc/self/fd/{n}")],
        "limits": {n: resource.getrlimit(getattr(resource, "RLIMIT_" + n)) for n in ("AS", "CPU", "FSIZE", "CORE")},
        "socket": attempt(lambda: socket.socket()),
        "unix socket": attempt(lambda: socket.socket(socket.AF_UNIX)),
        "process": attempt(fork),
        "program": attempt(lambda: os.execv("/bin/true", ["true"])),
        "thread": attempt(threading.Thread(target=print).start),
        "signal": attempt(lambda: os.kill(os.getppid(), 0)),
        "memory limit": attempt(lambda: resource.setrlimit(resource.RLIMIT_AS, wider)),
        "processor limit": attempt(lambda: resource.setrlimit(resource.RLIMIT_CPU, wider)),
        "write": attempt(lambda: open("/tmp/written-by-a-parser", "w")),
        "home": attempt(lambda: os.listdir(os.path.expanduser("~root"))),
        "parent": attempt(lambda: open(f"/proc/{os.getppid()}/environ").read()),
    }

def parse_filing(content, source_uri, settings, ocr=None):
    if content == b"segfault":
        ctypes.string_at(0)
    if content == b"hang":
        time.sleep(600)
    if content == b"regex":
        re.match("(a|a)*b", "a" * 40)
    if content == b"busy":
        while True:
            pass
    if content == b"exit":
        os._exit(3)
    if content == b"close":
        os.closerange(0, 60)
        time.sleep(600)
    if content == b"bug":
        raise KeyError("a bug")
    if content == b"memory":
        bytearray(64 * 1024**3)
    if content == b"see":
        raise FilingError("parse", "seen", json.dumps(see()))
    if content == b"shout":
        os.write(2, b"\\x1b]0;owned\\x07" + b"x" * 2**20)
    if content.startswith(b"answer "):
        header = content.removeprefix(b"answer ")
        os.write(ANSWERS, parser_process._LENGTHS.pack(len(header), 0) + header)
        time.sleep(600)
    print("noise on stdout")
    return honest(content, source_uri, settings, ocr)

ANSWERS = 3
read.parse_filing = parse_filing
main = parser_process.main
"""
SHORT_LIVED = """
from finray.index.job import parser_process
parser_process._LIFE = 1.00001
main = parser_process.main
"""
UNFILTERED = """
from finray.sandbox import system_calls
system_calls._ARCHITECTURES.clear()
from finray.index.job.parser_process import main
"""


@pytest.fixture(scope="module", autouse=True)
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of installed packages."""
    folder = tmp_path_factory.mktemp("modules") / "site-packages"
    folder.mkdir()
    (folder / "poisonable.py").write_text(MODULE)
    (folder / "unfiltered.py").write_text(UNFILTERED)
    (folder / "short_lived.py").write_text(SHORT_LIVED)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


@pytest.fixture(scope="module")
def parser(settings: Settings) -> Iterator[ParserProcess]:
    limits = settings.filings.model_copy(update={"parse_seconds": 60.0})
    parser = ParserProcess(limits, settings.chunks, module="poisonable")
    yield parser
    parser.close()


def seen_by(parser: ParserProcess) -> dict[str, Any]:
    with pytest.raises(FilingError) as caught:
        parser.parse(b"see", "/corpus/poison.pdf")
    assert caught.value.reason == "seen", caught.value
    seen: dict[str, Any] = json.loads(caught.value.detail)
    return seen


@pytest.fixture
def honest(sample_filings: Path, parser: ParserProcess) -> Callable[[], None]:
    path = sorted(sample_filings.glob("*.htm"))[0]

    def check() -> None:
        assert from_bytes(parser.parse(path.read_bytes(), str(path)).bundle).filing.doc_name == path.stem

    return check


@pytest.mark.parametrize(
    ("content", "reason", "detail"),
    [
        (b"segfault", "crashed", "SIGSEGV"),
        (b"exit", "crashed", "exit status 3"),
        (b"answer []", "crashed", "invalid answer"),
        (b"bug", "parser_error", "KeyError: 'a bug'"),
        (b"memory", "out_of_memory", "4 GiB"),
    ],
)
def test_a_filing_that_breaks_its_parser_is_set_aside(
    parser: ParserProcess, honest: Callable[[], None], content: bytes, reason: str, detail: str
) -> None:
    with pytest.raises(FilingError, match=detail) as caught:
        parser.parse(content, "/corpus/poison.pdf")
    assert (caught.value.stage, caught.value.reason) == ("parse", reason)
    honest()


@pytest.mark.parametrize("content", [b"hang", b"regex"])
def test_a_filing_that_takes_too_long_is_set_aside(settings: Settings, parser: ParserProcess, content: bytes) -> None:
    limits = settings.filings.model_copy(update={"parse_seconds": 1.0})
    quick = ParserProcess(limits, settings.chunks, module="poisonable")
    with pytest.raises(FilingError, match="timeout"):
        quick.parse(content, "/corpus/poison.pdf")
    quick.close()


@pytest.mark.slow
def test_a_child_whose_parent_does_not_look_is_ended_by_the_kernel(settings: Settings) -> None:
    limits = settings.filings.model_copy(update={"parse_seconds": 0.1})
    stopped = ParserProcess(limits, settings.chunks, module="poisonable")
    child = stopped._ready()
    header = json.dumps({"source_uri": "x", "seconds": 0.1, "ocr": None}).encode()
    pipes.send(child.stdin, (parser_process._LENGTHS.pack(len(header), 4), header, b"busy"), time.monotonic() + 10)
    assert child.wait(60) == -signal.SIGPROF
    assert "of processor time" in str(stopped._crashed(child, None))


def test_a_child_that_has_worked_long_enough_is_replaced(sample_filings: Path, settings: Settings) -> None:
    parser = ParserProcess(settings.filings, settings.chunks, module="short_lived")
    path = min(sample_filings.glob("*.htm"))
    first, child = parser.parse(path.read_bytes(), str(path)), parser.child
    assert child is not None
    assert child.wait(30) == 0
    assert parser.parse(path.read_bytes(), str(path)).bundle == first.bundle
    parser.close()


@pytest.mark.slow
def test_a_scanned_filing_is_read_if_ocr_has_time(settings: Settings, parser: ParserProcess) -> None:
    if find_tessdata() is None:
        pytest.skip("Tesseract's data is not installed")
    assert from_bytes(parser.parse(scanned(), "/corpus/scan.pdf").bundle).filing.marks == ("ocr",)
    without = ParserProcess(settings.filings.model_copy(update={"ocr_seconds": 0.0}), settings.chunks)
    with pytest.raises(FilingError, match="image_only"):
        without.parse(scanned(), "/corpus/scan.pdf")
    without.close()


def test_a_child_that_died_between_filings_is_replaced(parser: ParserProcess, honest: Callable[[], None]) -> None:
    honest()
    assert parser.child is not None
    parser.child.send_signal(signal.SIGKILL)
    time.sleep(0.2)
    honest()


@pytest.mark.parametrize(
    "header",
    [
        b"nonsense",
        b"[" * 100_000,
        b'{"peak_rss_bytes": "many"}',
        b'{"stage": "parse", "reason": "no reason", "detail": ""}',
        b'{"stage": 1, "reason": "x", "detail": ""}',
        b'{"stage": "parse", "reason": "x"}',
    ],
)
def test_what_no_parser_answers_is_not_believed(header: bytes) -> None:
    reading, writing = os.pipe()
    answer = parser_process._LENGTHS.pack(len(header), 0) + header
    with open(reading, "rb") as stream, open(writing, "wb", buffering=0) as child:  # noqa: PTH123
        threading.Thread(target=child.write, args=(answer,)).start()  # more than a pipe holds
        with pytest.raises(ValueError, match=r"^"):
            parser_process._receive(stream, 1000, time.monotonic() + 10)


def test_a_child_that_closes_its_pipes_and_goes_on_is_ended(
    parser: ParserProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("finray.index.job.parser_process._END_SECONDS", 0.1)
    with pytest.raises(FilingError, match="SIGKILL"):
        parser.parse(b"close", "/corpus/poison.pdf")
    assert parser.child is None


def test_a_parser_that_cannot_start_is_an_error(settings: Settings) -> None:
    parser = ParserProcess(settings.filings, settings.chunks, module="no_such_module")
    with pytest.raises(RuntimeError, match=r"does not start .*No module named 'no_such_module'"):
        parser.parse(b"", "x")


@pytest.mark.parametrize(("killed", "starts"), [(2, 3), (9, 3)])
def test_a_parser_that_is_killed_while_it_starts_is_started_again(
    settings: Settings, sample_filings: Path, monkeypatch: pytest.MonkeyPatch, killed: int, starts: int
) -> None:
    start, started = confined.start, list[subprocess.Popen[bytes]]()

    def short_of_memory(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        child = start(*arguments, **options)
        started.append(child)
        if len(started) <= killed:
            child.kill()
        return child

    monkeypatch.setattr(confined, "start", short_of_memory)
    parser = ParserProcess(settings.filings, settings.chunks)
    path = min(sample_filings.glob("*.htm"))
    if killed < starts:
        assert parser.parse(path.read_bytes(), str(path)).bundle
        parser.close()
    else:
        with pytest.raises(RuntimeError, match=r"does not start \(exit status -9\)"):
            parser.parse(path.read_bytes(), str(path))
    assert len(started) == starts


def test_a_parser_has_no_secrets_and_no_way_out(parser: ParserProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    parser.close()
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "RAY_AUTH_TOKEN", "FINRAY_LLM_API_KEY"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("TESSDATA_PREFIX", "/usr/share/tessdata")
    seen = seen_by(parser)
    assert "secret" not in json.dumps(seen)
    names = {"ARROW_DEFAULT_MEMORY_POOL", "JE_ARROW_MALLOC_CONF", "OMP_NUM_THREADS", "TESSDATA_PREFIX"}
    # LC_CTYPE is Python's own, the loader's path is where a machine needs one.
    assert set(seen["environment"]) - {"LC_CTYPE", "LD_LIBRARY_PATH"} == names
    assert seen["folder"] == "/"
    assert seen["models"] == []  # they take seconds to import, and parsing needs none
    assert seen["files"] == [3], "the pipe of the answers"
    for name, (soft, hard) in seen["limits"].items():
        assert soft == hard >= 0, name
    layers = inspect_reader(SandboxSettings()).layers
    if "seccomp" in layers:
        tried = ("socket", "unix socket", "process", "program", "signal", "memory limit", "processor limit", "write")
        assert {name: seen[name] for name in tried if seen[name] == "possible"} == {}
    if "landlock" in layers:
        assert (seen["home"], seen["parent"]) == ("PermissionError", "PermissionError")


def test_modules_in_the_working_folder_and_on_pythonpath_are_not_run(
    parser: ParserProcess, honest: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parser.close()
    for name in ("pymupdf", "json", "lxml", "pydantic", "finray", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w'); raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "json.py"))
    honest()
    assert not (tmp_path / "ran").exists()


def test_the_parser_is_the_package_that_its_parent_has(
    modules: Path, sample_filings: Path, tmp_path: Path, settings: Settings
) -> None:
    """Ray unpacks finray into a working folder and names it in PYTHONPATH; another one may be installed."""
    copy = tmp_path / "unpacked"
    shutil.copytree(Path(finray.__file__).parent, copy / "finray", ignore=shutil.ignore_patterns("__pycache__", "web"))
    (copy / "lxml.py").write_text("raise SystemExit('what lies beside the package is not for the child')")
    path = min(sample_filings.glob("*.htm"))
    program = f"""
import json, sys
sys.path.append({str(modules)!r})
from finray.core.errors import FilingError
from finray.index.job.parser_process import ParserProcess
from finray.core.settings import ChunkSettings, FilingSettings
parser = ParserProcess(FilingSettings(), ChunkSettings(), module="poisonable")
assert parser.parse(open({str(path)!r}, "rb").read(), "x.htm").bundle
try:
    parser.parse(b"see", "x")
except FilingError as error:
    print(json.loads(error.detail)["finray"])
parser.close()
"""
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(copy / "finray" / "__init__.py"), done.stderr


def test_what_a_parser_shouts_is_cut_and_cannot_command_a_terminal(
    parser: ParserProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FilingError):
        parser.parse(b"shout", "x.pdf")
    parser.close()
    heard = capfd.readouterr().err
    assert "owned" in heard
    assert "\x1b" not in heard
    assert len(heard) < 200_000


def test_a_filter_that_is_demanded_and_cannot_be_had_is_an_error(settings: Settings) -> None:
    demanding = SandboxSettings(isolation="seccomp")
    with pytest.raises(SettingsError, match=r"sandbox\.isolation demands"):
        ParserProcess(settings.filings, settings.chunks, demanding, module="unfiltered").parse(b"", "x")
    lenient = ParserProcess(settings.filings, settings.chunks, module="unfiltered")
    with pytest.raises(FilingError):
        lenient.parse(b"", "x")
    lenient.close()
