import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of published data; tests that ask for it are skipped where it is missing."""
    default = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("FINRAY_SHARED_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no published data at {folder}")
    return folder
