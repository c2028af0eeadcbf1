"""docs/extend.md: its diffs apply to this checkout, and do what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FORM, METRIC, METHOD, MODEL = re.findall(
    r"```diff\n(.*?)```", (ROOT / "docs" / "extend.md").read_text(encoding="utf-8"), re.DOTALL
)
COVER = """As filed with the Securities and Exchange Commission on May 6, 2024
SECURITIES AND EXCHANGE COMMISSION
FORM S-1
REGISTRATION STATEMENT UNDER THE SECURITIES ACT OF 1933
NORTHLIGHT ROBOTICS, INC.
(Exact name of registrant as specified in its charter)
Delaware
(State or other jurisdiction of incorporation or organization)
77-0123456
(I.R.S. Employer Identification Number)
1 Main Street, Springfield
(Address of principal executive offices)
(555) 010-0100
(Registrant's telephone number, including area code)"""
PROSE = """Revenue grew in the year ended December 31, 2023. In the year ended December 31, 2023 we hired engineers.
Costs of the year ended December 31, 2023 rose as well."""
ROWS = (
    ("Revenue", "81,250", "60,100"),
    ("Cost of revenue", "40,000", "30,000"),
    ("Gross profit", "41,250", "30,100"),
    ("Research and development", "10,000", "9,000"),
    ("Income before income taxes", "11,250", "10,100"),
    ("Provision for income taxes", "1,850", "1,300"),
    ("Net income", "9,400", "8,800"),
)
STATEMENT = (
    "<p>NORTHLIGHT ROBOTICS, INC.</p><p>STATEMENTS OF OPERATIONS</p><p>(in thousands)</p>"
    "<table><tr><td></td><td colspan=2>Year Ended December 31,</td></tr><tr><td></td><td>2023</td><td>2022</td></tr>"
    + "".join(f"<tr><td>{label}</td><td>{now}</td><td>{before}</td></tr>" for label, now, before in ROWS)
    + "</table>"
)


def apply(diff: str, folder: Path) -> None:
    applied = subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, capture_output=True, text=True, check=False)
    assert applied.returncode == 0, applied.stderr


@pytest.mark.parametrize("diff", [FORM, METRIC, METHOD, MODEL], ids=["form", "metric", "method", "model"])
def test_a_diff_applies(diff: str, tmp_path: Path) -> None:
    for name in re.findall(r"^--- a/(\S+)$", diff, re.MULTILINE):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    apply(diff, tmp_path)


@pytest.fixture
def patched(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with a copy of finray, changed by the diff."""
    diff: str = request.param
    shutil.copytree(ROOT / "finray", tmp_path / "finray", ignore=shutil.ignore_patterns("__pycache__"))
    apply(diff, tmp_path)
    return tmp_path


def run(folder: Path, code: str, *arguments: str) -> str:
    """What ``code`` prints with the patched finray and an encoder without weights."""
    ended = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            f"import finray\nassert finray.__path__ == [{str(folder / 'finray')!r}]\n{code}",
            *arguments,
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "FINRAY_ENCODER__MODEL": "hash", "RAY_ADDRESS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("patched", [FORM], indirect=True)
def test_a_form_is_one_row(patched: Path) -> None:
    pages = [*("".join(f"<p>{line}</p>" for line in text.splitlines()) for text in (COVER, PROSE)), STATEMENT]
    html = '<hr style="page-break-after:always"/>'.join(pages)
    (patched / "s1.htm").write_text(f"<html><body>{html}</body></html>", encoding="utf-8")
    printed = run(
        patched,
        """
import sys
finray.index_filings(["s1.htm"], "index", finray.load_settings())
with finray.open_index("index", finray.load_settings()) as index:
    print(index.ask("What was Northlight Robotics' revenue in 2023 according to its S-1?").answer)
for fact in finray.read_facts("index", ["Northlight"], ["net income"], [2022, 2023]):
    print(fact.fiscal_year, fact.value, fact.form)
from finray.filings.cover.page import read_cover
print(read_cover([sys.argv[1]]).form)
""",
        COVER.replace("FORM S-1", "51\nFORM 10-K"),
    )
    assert printed.splitlines() == [
        "$81.2 million (NORTHLIGHT ROBOTICS, INC., FY2023)",
        "2022 8800000.0 S-1",
        "2023 9400000.0 S-1",
        "10-K",  # a page number that looks like S-1 in folded text is not one
    ]


@pytest.mark.slow
@pytest.mark.parametrize("patched", [METRIC], indirect=True)
def test_a_metric_is_one_formula(patched: Path, sample_index: str) -> None:
    asked = "What was Grevandor Systems' equity ratio in fiscal 2022?"
    code = """
import sys
with finray.open_index(sys.argv[1], finray.load_settings()) as index:
    prediction = index.ask(sys.argv[2])
    print(prediction.status, prediction.unit, prediction.program)
"""
    assert run(patched, code, sample_index, asked).startswith("answered percent equity_fy2022 / total_assets_fy2022")


@pytest.mark.slow
@pytest.mark.parametrize("patched", [METHOD], indirect=True)
def test_a_method_is_one_file_and_a_row(patched: Path, sample_index: str) -> None:
    code = """
import sys
settings = finray.load_settings(overrides={"retrieval.method": "longest_chunk"})
with finray.open_index(sys.argv[1], settings) as index:
    passages = index.retrieve("liquidity risks", k_passages=4).passages
print(*(len(passage.text) for passage in passages))
"""
    lengths = [int(word) for word in run(patched, code, sample_index).split()]
    assert len(lengths) == 4
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("patched", [MODEL], indirect=True)
def test_a_model_is_a_class_and_a_branch(patched: Path, sample_folder: Path) -> None:
    (filing,) = (sample_folder / "filings").glob("grevandor*2022-10k.htm")
    code = """
import sys
settings = finray.load_settings(overrides={"encoder.model": "trigram", "retrieval.method": "dense"})
print(finray.index_filings(sys.argv[1:2], "index", settings).indexed)
with finray.open_index("index", settings) as index:
    print(len(index.retrieve("Grevandor revnue", k_passages=3).passages))
"""
    assert run(patched, code, str(filing)) == "1\n3\n"


def test_the_page_says_which_diffs_there_are() -> None:
    assert [re.findall(r"^\+\+\+ b/(\S+)$", diff, re.MULTILINE) for diff in (FORM, METRIC)] == [
        ["finray/core/forms.py"],
        ["finray/question/measures/formulas.toml"],
    ]
