import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long one example takes depends on what else the machine does.
settings.register_profile("filings", deadline=None)
settings.load_profile("filings")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real filings; tests that ask for it are skipped where it is missing."""
    default = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("FINRAY_SHARED_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real filings at {folder}")
    return folder
