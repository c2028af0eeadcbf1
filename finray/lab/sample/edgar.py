"""A small EDGAR in a folder: indexes, full submissions, feed archives, tickers and submissions JSON, in EDGAR's
formats.

Serve the folder with any web server to try ``finray sync`` without a network. The layout follows the SEC ("Accessing
EDGAR Data"); the filings are those of the sample.
"""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from finray.lab.sample.plan import drafts, make_plans
from finray.lab.sample.printing import print_filing, write_file

_EPOCH = 1_700_000_000
"""Fixed modification time of files in archives, for reproducible bytes."""
_COMPANY_FACTS = (
    *("sic", "sicDescription", "category", "fiscalYearEnd", "phone", "flags", "ein", "description", "website"),
    *("investorWebsite", "stateOfIncorporation", "stateOfIncorporationDescription"),
)
"""Other fields of a company in the submissions JSON; empty here."""
_RULE = "-" * 141


@dataclass(frozen=True, slots=True)
class Submission:
    """One filing on EDGAR; ``content`` is its full submission text. ``cik`` has ten digits."""

    accession: str
    cik: str
    company: str
    form: str
    filed_at: dt.date
    period: dt.date
    content: bytes
    ticker: str = ""
    former_names: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return f"edgar/data/{int(self.cik)}/{self.accession}.txt"


def sample_submissions(companies: int, years: int, seed: int = 0) -> list[Submission]:
    """Every filing of the fictional companies, without releases, which are not separate filings."""
    found = []
    for plan in make_plans(companies, years, seed, full=False):
        for draft in drafts(plan):
            if draft.form.startswith("EX-"):
                continue
            company = draft.company
            renamed = company.renamed_on is not None and company.renamed_on <= draft.filed_at
            _, content = print_filing(draft, ("txt",), seed)
            found.append(
                Submission(
                    draft.accession,
                    company.cik,
                    draft.registrant.upper(),
                    draft.form,
                    draft.filed_at,
                    draft.end,
                    content,
                    company.ticker,
                    (company.former_name.upper(),) if renamed and company.former_name else (),
                )
            )
    return found


def write_edgar(folder: Path, submissions: Sequence[Submission], *, feed: bool = True) -> None:
    """Write ``folder/Archives/edgar``, ``folder/files`` and ``folder/submissions``; overwrite existing files."""
    archives = folder / "Archives"
    for submission in submissions:
        write_file(archives / submission.path, submission.content)
    for day, some in _grouped(submissions, lambda s: s.filed_at):
        write_file(archives / daily_index_path(day), form_index(some, daily=day))
        if feed:
            write_file(archives / feed_path(day), feed_archive(some))
    for (year, quarter), some in _grouped(submissions, lambda s: _quarter(s.filed_at)):
        index = form_index(some)
        write_file(archives / f"edgar/full-index/{year}/QTR{quarter}/form.idx", index)
        write_file(archives / f"edgar/full-index/{year}/QTR{quarter}/form.gz", gzip.compress(index, mtime=_EPOCH))
    write_file(folder / "files/company_tickers.json", company_tickers(submissions))
    for cik, some in _grouped(submissions, lambda s: s.cik):
        write_file(folder / f"submissions/CIK{cik}.json", company_submissions(some))


def daily_index_path(day: dt.date) -> str:
    year, quarter = _quarter(day)
    return f"edgar/daily-index/{year}/QTR{quarter}/form.{day:%Y%m%d}.idx"


def feed_path(day: dt.date) -> str:
    year, quarter = _quarter(day)
    return f"edgar/Feed/{year}/QTR{quarter}/{day:%Y%m%d}.nc.tar.gz"


def form_index(submissions: Iterable[Submission], daily: dt.date | None = None) -> bytes:
    """The form index of a day or a quarter: sorted by form, with columns of fixed width."""
    what = "Daily Index of EDGAR Dissemination Feed" if daily else "Master Index of EDGAR Dissemination Feed"
    rows = sorted(submissions, key=lambda s: (s.form, s.company, s.accession))
    last = daily or max((row.filed_at for row in rows), default=dt.date(1993, 1, 1))
    date = "%Y%m%d" if daily else "%Y-%m-%d"
    head = (
        f"Description:           {what} by Form Type\nLast Data Received:    {last:%b %d, %Y}\n"
        "Comments:              webmaster@sec.gov\nAnonymous FTP:         ftp://ftp.sec.gov/edgar/\n \n \n \n \n"
        f"{'Form Type':<12}{'Company Name':<62}{'CIK':<12}{'Date Filed':<12}File Name\n{_RULE}\n"
    )
    body = "".join(
        f"{row.form:<12}{row.company[:60]:<62}{int(row.cik):<12}{row.filed_at.strftime(date):<12}{row.path:<52}\n"
        for row in rows
    )
    return (head + body).encode("latin-1", "replace")


def feed_archive(submissions: Iterable[Submission], extra: Iterable[tuple[str, bytes]] = ()) -> bytes:
    """A day's feed: each submission as ``<accession>.nc``; ``extra`` are additional members by name."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in (*((f"{s.accession}.nc", as_feed(s)) for s in submissions), *extra):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), _EPOCH
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=_EPOCH)


def as_feed(submission: Submission, notice: str = "") -> bytes:
    """A submission in the format of the dissemination feed; ``notice`` is CORRECTION or DELETION."""
    text = submission.content.decode()
    start = text.index("<DOCUMENT>")
    documents = text[start : text.rindex("</DOCUMENT>") + len("</DOCUMENT>\n")]
    header = "".join(
        f"<{tag}>{value}\n"
        for tag, value in (
            ("ACCESSION-NUMBER", submission.accession),
            ("TYPE", submission.form),
            ("PUBLIC-DOCUMENT-COUNT", documents.count("<DOCUMENT>")),
            ("PERIOD", f"{submission.period:%Y%m%d}"),
            ("FILING-DATE", f"{submission.filed_at:%Y%m%d}"),
        )
    )
    party = (
        f"<FILER>\n<COMPANY-DATA>\n<CONFORMED-NAME>{submission.company}\n<CIK>{submission.cik}\n</COMPANY-DATA>\n"
        f"<FILING-VALUES>\n<FORM-TYPE>{submission.form}\n<ACT>34\n</FILING-VALUES>\n"
        + "".join(
            f"<FORMER-COMPANY>\n<FORMER-CONFORMED-NAME>{name}\n</FORMER-COMPANY>\n" for name in submission.former_names
        )
        + "</FILER>\n"
    )
    mark = f"<{notice}>\n" if notice else ""
    body = "" if notice == "DELETION" else documents
    return f"<SUBMISSION>\n{mark}{header}{party}{body}</SUBMISSION>\n".encode()


def company_tickers(submissions: Iterable[Submission]) -> bytes:
    newest = {s.cik: s for s in sorted(submissions, key=lambda s: s.filed_at)}
    rows = [
        {"cik_str": int(s.cik), "ticker": s.ticker, "title": s.company} for _, s in sorted(newest.items()) if s.ticker
    ]
    return json.dumps({str(number): row for number, row in enumerate(rows)}).encode()


def company_submissions(submissions: Sequence[Submission]) -> bytes:
    """The submissions JSON of one company, newest filing first."""
    rows = sorted(submissions, key=lambda s: (s.filed_at, s.accession), reverse=True)
    newest = rows[0]
    recent = {
        "accessionNumber": [row.accession for row in rows],
        "filingDate": [row.filed_at.isoformat() for row in rows],
        "reportDate": [row.period.isoformat() for row in rows],
        "acceptanceDateTime": [f"{row.filed_at}T16:30:12.000Z" for row in rows],
        "form": [row.form for row in rows],
        "size": [len(row.content) for row in rows],
        **dict.fromkeys(("act", "fileNumber", "filmNumber", "items", "primaryDocDescription"), [""] * len(rows)),
        **dict.fromkeys(("isXBRL", "isInlineXBRL"), [1] * len(rows)),
        "primaryDocument": [f"{row.ticker.lower()}-{row.period:%Y%m%d}.htm" for row in rows],
    }
    former = [{"name": name, "from": None, "to": None} for name in newest.former_names]
    address = {"street1": "1 MAIN STREET", "city": "SPRINGFIELD", "stateOrCountry": "DE", "zipCode": "19801"}
    address |= {"street2": "", "stateOrCountryDescription": "DE"}
    company = {
        **dict.fromkeys(_COMPANY_FACTS, ""),
        "cik": newest.cik,
        "entityType": "operating",
        "name": newest.company,
        "tickers": [newest.ticker] if newest.ticker else [],
        "exchanges": [],
        "insiderTransactionForOwnerExists": 0,
        "insiderTransactionForIssuerExists": 0,
        "addresses": {"mailing": address, "business": address},
        "formerNames": former,
        "filings": {"recent": recent, "files": []},
    }
    return json.dumps(company).encode()


def _quarter(day: dt.date) -> tuple[int, int]:
    return day.year, (day.month + 2) // 3


def _grouped(submissions: Iterable[Submission], key: Callable[[Submission], Any]) -> list[tuple[Any, list[Submission]]]:
    return [(value, list(some)) for value, some in groupby(sorted(submissions, key=key), key=key)]
