"""Finds Tesseract's language data, which PyMuPDF's built-in Tesseract needs."""

import os
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

LANGUAGE = "eng"
ADVICE = (
    "install Tesseract's data on the machine that parses filings (Debian: package tesseract-ocr; TESSDATA_PREFIX may "
    "name the folder) and run again with --retry-failed"
)
_FOLDERS = (
    "usr/share/tesseract-ocr/*/tessdata",
    "usr/share/tessdata",
    "usr/local/share/tessdata",
    "opt/*/share/tessdata",
)


@dataclass(frozen=True, slots=True)
class Ocr:
    """``tessdata`` is the folder with Tesseract's data. If OCR is not ``allowed``, a filing that needs it raises
    FilingError ``needs_ocr``, so that the caller can retry with a longer time limit."""

    tessdata: str
    allowed: bool = True


def find_tessdata() -> str | None:
    """The folder with Tesseract's English data on this machine; None if there is none."""
    named = os.environ.get("TESSDATA_PREFIX")
    folders = [Path(named), Path(named) / "tessdata"] if named else []
    found = chain.from_iterable(sorted(Path("/").glob(pattern), reverse=True) for pattern in _FOLDERS)
    return next((str(f) for f in chain(folders, found) if (f / f"{LANGUAGE}.traineddata").is_file()), None)
