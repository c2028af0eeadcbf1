"""The web page in a real headless Chromium, with the service in this process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from finray.api.app import create_app
from finray.api.keys import KeyRing, add_key
from finray.api.service import LocalService
from finray.core.settings import ServingSettings, Settings
from finray.index.job.in_process import index_in_process
from finray.lab.sample.generate import generate_sample
from tests.web.scripted import ScriptedService

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
LISTED = "(In thousands, except per share data)"
MARKUP = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
Visit = Callable[..., "Page"]


@pytest.fixture(scope="session")
def web_serving(local_settings: Settings) -> ServingSettings:
    return local_settings.serving.model_copy(update={"questions_per_minute": 1e6, "reads_per_minute": 1e6})


@pytest.fixture(scope="session")
def web_corpus(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One company with PDF filings, and the sample's three, whose filings are HTML with markup in their text."""
    folder = tmp_path_factory.mktemp("web")
    generate_sample(folder, companies=1, years=2, seed=11, formats=("pdf",), questions=40, workers=1)
    for path in sorted((sample_folder / "filings").glob("*-10k.htm")):
        text = path.read_text(encoding="utf-8")
        escaped = MARKUP.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        (folder / "filings" / path.name).write_text(text.replace(LISTED, f"{LISTED} {escaped}"), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def web_index(web_corpus: Path, local_settings: Settings) -> str:
    sources = [str(path) for path in sorted((web_corpus / "filings").glob("*10k*"))]
    assert index_in_process(sources, str(web_corpus / "index"), local_settings).failed == 0
    return str(web_corpus / "index")


@pytest.fixture(scope="session")
def pdf_question(web_corpus: Path) -> dict[str, Any]:
    """A question that the PDF of an annual report answers with a figure of a table."""
    lines = [json.loads(line) for line in (web_corpus / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    return next(line for line in lines if line["question_type"] == "numeric_table")


@pytest.fixture(scope="session")
def html_question(sample_questions: list[dict[str, Any]]) -> dict[str, Any]:
    return next(line for line in sample_questions if line["question_type"] == "numeric_table")


@pytest.fixture(scope="session")
def site(
    web_index: str, web_serving: ServingSettings, local_settings: Settings, listen: Callable[[Any], str]
) -> Iterator[str]:
    """The real service, without API-key checks."""
    with closing(LocalService(web_index, local_settings)) as service:
        service.wait_until_ready()
        yield listen(create_app(service, web_serving, None))


@pytest.fixture(scope="session")
def scripted_service() -> ScriptedService:
    return ScriptedService()


@pytest.fixture(scope="session")
def scripted(scripted_service: ScriptedService, web_serving: ServingSettings, listen: Callable[[Any], str]) -> str:
    return listen(create_app(scripted_service, web_serving, None))


@pytest.fixture(scope="session")
def web_key(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The location of the keys, and a key."""
    path = str(tmp_path_factory.mktemp("web-keys") / "keys.json")
    return path, add_key(path, "visitor")


@pytest.fixture(scope="session")
def locked(
    web_key: tuple[str, str],
    web_serving: ServingSettings,
    listen: Callable[[Any], str],
    scripted_service: ScriptedService,
) -> str:
    """A service that requires a key."""
    return listen(create_app(scripted_service, web_serving, KeyRing(web_key[0], 0.0)))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # For a module at a time: an event loop runs in this thread while Playwright does, and other tests need their own.
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM:
        pytest.skip("no Chromium here; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens the page at a URL. Script errors and violations of the Content-Security-Policy fail the test."""
    contexts, problems = [], []

    def note(message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            problems.append(message.text)

    def open_page(url: str, *, width: int = 1280, height: int = 800, strict: bool = True, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        if strict:
            page.on("console", note)
            page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(url)
        page.wait_for_selector("#holdings:not(:empty), #key-dialog")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def ask_page() -> Callable[[Page, str], None]:
    """Types a question, presses Enter and waits for the end."""

    def ask(page: Page, question: str) -> None:
        page.get_by_label("Question", exact=True).fill(question)
        page.keyboard.press("Enter")
        page.wait_for_selector("#answer-title")

    return ask
