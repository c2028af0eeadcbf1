"""finray from its wheel, in an empty environment that uv makes: what ``pip install`` and ``uvx`` users get.

PyTorch alone, gigabytes, is borrowed from the environment of the tests; all else is installed at the locked versions.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import distribution, distributions
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from packaging.requirements import Requirement

from finray.client import Client

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "finray", "serve")
TORCH = ("torch", "nvidia", "cuda", "triton")
"""Beginnings of the names of packages that are borrowed."""

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(1200)]
Until = Callable[..., None]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that no leftovers of a build get in or stay."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder)
    build = [str(UV), "build", "--quiet", "--wheel", "--no-build-isolation", "--python", sys.executable, str(folder)]
    subprocess.run(build, check=True)
    (built,) = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def uvx(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """The command line of ``uvx --from 'finray[EXTRAS]' finray ...``."""
    folder = tmp_path_factory.mktemp("uvx")
    (folder / "no-torch.txt").write_text("torch ; sys_platform == 'never'\n", encoding="utf-8")
    required = map(Requirement, distribution("torch").requires or ())
    own = [
        f"{one.name}{one.specifier}"
        for one in required
        if not one.name.startswith(TORCH) and (one.marker is None or one.marker.evaluate({"extra": ""}))
    ]

    def command(extras: str, *arguments: str) -> list[str]:
        options = ["--quiet", "--python", sys.executable, "--constraints", str(ROOT / "requirements.lock")]
        options += ["--overrides", str(folder / "no-torch.txt"), "--with", ",".join(own)]
        return [str(UV), "tool", "run", *options, "--from", f"{wheel}[{extras}]", "finray", *arguments]

    return command


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a new user, with PyTorch on the path."""
    borrowed = tmp_path_factory.mktemp("torch")
    for package in distributions():
        if package.metadata["Name"].lower().startswith(TORCH):
            for name in {file.parts[0] for file in package.files or () if file.parts[0] not in ("..", "__pycache__")}:
                if not (borrowed / name).exists():
                    (borrowed / name).symlink_to(Path(str(package.locate_file(name))))
    kept = ("HOME", "LANG", "PATH", "SSL_CERT_FILE", "TMPDIR", "UV_", "http_proxy", "https_proxy", "no_proxy")
    plain = {name: value for name, value in os.environ.items() if name.startswith(kept) or name.lower() in kept}
    config = str(tmp_path_factory.mktemp("config"))
    return plain | {"COLUMNS": "200", "PYTHONPATH": str(borrowed), "XDG_CONFIG_HOME": config}


@dataclass
class Demo:
    process: subprocess.Popen[str]
    lines: list[str]
    folder: Path

    @property
    def text(self) -> str:
        return "".join(self.lines)


@pytest.fixture
def demo(uvx: Callable[..., list[str]], environment: dict[str, str], free_port: int, tmp_path: Path) -> Iterator[Demo]:
    command = uvx("serve", "demo", "--companies", "1", "--questions", "6", "--serve", "--port", str(free_port))
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    reading = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")), daemon=True)  # type: ignore[union-attr]
    reading.start()
    try:
        yield Demo(process, lines, tmp_path)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)
        reading.join(10)
        process.stdout.close()


@pytest.mark.long
def test_uvx_demo_ends_with_the_page(demo: Demo, until: Until) -> None:
    until(lambda: "page: " in demo.text or demo.process.poll() is not None, "the page", 900)
    assert demo.process.poll() is None, demo.text
    for shown in ("20 files: 20 indexed, 0 failed", "6 questions: ", "gold ", "numeric_accuracy"):
        assert shown in demo.text

    link = re.search(r"page: +(\S+)", demo.text)
    assert link
    page = urlsplit(link[1])
    url, given = f"{page.scheme}://{page.netloc}", parse_qs(page.fragment)
    html = httpx.get(f"{url}/").text
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert len(loaded) > 2
    for path in loaded:
        assert httpx.get(httpx.URL(f"{url}/").join(path)).status_code == 200, path
    with Client(url, given["key"][0]) as client:
        prediction = client.answer(given["q"][0])
        assert prediction.status == "answered"
        drawn = next(filing for filing in client.filings() if filing.doc_name.endswith("2023-10k"))
        assert client.page_image(drawn.filing_id, 0).startswith(b"\x89PNG")

    os.kill(demo.process.pid, signal.SIGINT)  # which uv passes on
    assert demo.process.wait(90) == 0
    until(lambda: "To serve it again: finray serve --index demo/index" in demo.text, "the last line")
    assert "Traceback" not in demo.text
