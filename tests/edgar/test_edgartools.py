"""The local EDGAR is EDGAR to edgartools, pointed at it by its own settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from finray.lab.sample.edgar import Submission
from tests.edgar.syncer import CONTACT
from tools.faults.edgar import LocalEdgar

SCRIPT = """
import json, sys
from edgar import Company, get_filings
year, cik = int(sys.argv[1]), int(sys.argv[2])
found = get_filings(year=year)
company = Company(cik)
annual = company.get_filings(form="10-K")
print(json.dumps({"all": len(found), "name": company.name, "annual": [f.accession_no for f in annual],
                  "text": "CONFORMED PERIOD OF REPORT" in annual[0].full_text_submission()}))
"""


@pytest.mark.slow
def test_edgartools_reads_the_local_edgar(edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path) -> None:
    one = submissions[0]
    address = {name: os.environ[name] for name in ("EDGAR_BASE_URL", "EDGAR_DATA_URL")}
    environment = (
        os.environ | address | {"EDGAR_IDENTITY": CONTACT, "EDGAR_LOCAL_DATA_DIR": str(tmp_path / "edgartools")}
    )
    command = [sys.executable, "-c", SCRIPT, "2023", one.cik]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["all"] == sum(submission.filed_at.year == 2023 for submission in submissions)
    assert found["name"].upper().startswith(one.company.split()[0])
    assert found["annual"] == [s.accession for s in submissions if s.cik == one.cik and s.form == "10-K"]
    assert found["text"]
