"""Cover pages, with the wording of SEC forms and the dei tags of inline XBRL."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from finray.core.filing import FiscalPeriod
from finray.lab.sample.blocks import Block, Break, Para, Tag, WordTable
from finray.lab.sample.calendars import long_date
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Balances

_CHECKS = (
    "Indicate by check mark whether the registrant (1) has filed all reports required to be filed by "
    "Section 13 or 15(d) of the Securities Exchange Act of 1934 during the preceding 12 months (or for such "
    "shorter period that the registrant was required to file such reports), and (2) has been subject to "
    "such filing requirements for the past 90 days. Yes {on} No {off}",
    "Indicate by check mark whether the registrant has submitted electronically every Interactive Data File "
    "required to be submitted pursuant to Rule 405 of Regulation S-T (§232.405 of this chapter) during the "
    "preceding 12 months (or for such shorter period that the registrant was required to submit such "
    "files). Yes {on} No {off}",
    "Indicate by check mark whether the registrant is a large accelerated filer, an accelerated filer, a "
    "non-accelerated filer, a smaller reporting company, or an emerging growth company. See the definitions "
    "of “large accelerated filer,” “accelerated filer,” “smaller reporting company” and “emerging growth "
    "company” in Rule 12b-2 of the Exchange Act.",
    "Large accelerated filer {on}   Accelerated filer {off}   Non-accelerated filer {off}   Smaller "
    "reporting company {off}   Emerging growth company {off}",
    "If an emerging growth company, indicate by check mark if the registrant has elected not to use the "
    "extended transition period for complying with any new or revised financial accounting standards "
    "provided pursuant to Section 13(a) of the Exchange Act. {off}",
    "Indicate by check mark whether the registrant is a shell company (as defined in Rule 12b-2 of the "
    "Exchange Act). Yes {off} No {on}",
)
_TITLES = {
    "10-K": "ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
    "10-Q": "QUARTERLY REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
    "8-K": "CURRENT REPORT",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A filing before printing. ``start`` is None if the cover has a single date (8-K). ``amends`` is the form and the
    period end of the filing that a 10-K/A amends."""

    company: Company
    doc_name: str
    form: str
    fiscal_year: int
    fiscal_period: FiscalPeriod | None
    start: dt.date | None
    end: dt.date
    filed_at: dt.date
    accession: str
    blocks: tuple[Block, ...] = ()
    amends: str | None = None
    items: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    """Sentences that answer questions, by the key of the paragraph that prints them."""

    @property
    def registrant(self) -> str:
        return self.company.name_on(self.filed_at)

    @property
    def periodic(self) -> bool:
        return self.form.startswith("10-")


def periodic_cover(draft: Draft, balances: Balances) -> list[Block]:
    """Cover of a 10-K, 10-Q or 10-K/A."""
    company, base = draft.company, draft.form.removesuffix("/A")
    on, off = company.style.checkbox
    kind = "fiscal year" if base == "10-K" else "quarterly period"
    end = long_date(draft.end)
    blocks = [
        *_head(draft.form, draft.form != base),
        Para("(Mark One)", "small"),
        Para(f"{on}  {_TITLES[base]}", "center_bold"),
        Para(f"For the {kind} ended {end}", "center_bold", tags=(Tag(end, "dei:DocumentPeriodEndDate"),)),
        Para("or", "center"),
        Para(
            f"{off}  TRANSITION REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934", "center"
        ),
        Para("For the transition period from            to            ", "center"),
        *_registrant(draft),
        *_securities(company),
    ]
    blocks += [Para(text.format(on=on, off=off), "small") for text in _CHECKS]
    shares = balances.shares * company.multiplier
    if base == "10-K":
        value = shares * balances.share_price
        blocks.append(
            Para(
                "The aggregate market value of the registrant’s common stock held by "
                "non-affiliates, based on the closing price on the last business day of the "
                "registrant’s most recently completed second fiscal quarter, was approximately "
                f"${value / 1e6:,.1f} million.",
                "small",
            )
        )
    outstanding = f"{shares:,}"
    blocks.append(
        Para(
            f"There were {outstanding} shares of the registrant’s common stock outstanding as of "
            f"{long_date(draft.filed_at - dt.timedelta(days=9))}.",
            "small",
            tags=(Tag(outstanding, "dei:EntityCommonStockSharesOutstanding"),),
        )
    )
    if base == "10-K" and draft.form == base:
        blocks += [
            Para("DOCUMENTS INCORPORATED BY REFERENCE", "center_bold"),
            Para(
                "Portions of the registrant’s definitive proxy statement for its annual meeting of "
                "stockholders are incorporated by reference into Part III of this report.",
                "small",
            ),
        ]
    return [*blocks, Break()]


def current_cover(draft: Draft, event: dt.date) -> list[Block]:
    """Cover of an 8-K."""
    day = long_date(event)
    off = draft.company.style.checkbox[1]
    return [
        *_head("8-K", False),
        Para(_TITLES["8-K"], "center_bold"),
        Para("Pursuant to Section 13 or 15(d) of the Securities Exchange Act of 1934", "center"),
        Para(
            f"Date of Report (Date of earliest event reported): {day}",
            "center_bold",
            tags=(Tag(day, "dei:DocumentPeriodEndDate"),),
        ),
        *_registrant(draft),
        Para(
            "Check the appropriate box below if the Form 8-K filing is intended to simultaneously "
            "satisfy the filing obligation of the registrant under any of the following "
            "provisions:",
            "small",
        ),
        Para(f"{off} Written communications pursuant to Rule 425 under the Securities Act (17 CFR 230.425)", "small"),
        Para(f"{off} Soliciting material pursuant to Rule 14a-12 under the Exchange Act (17 CFR 240.14a-12)", "small"),
        *_securities(draft.company),
        Break(),
    ]


def hidden_facts(draft: Draft) -> list[tuple[str, str]]:
    """dei facts that inline XBRL filings carry in a hidden section."""
    facts = [
        ("dei:EntityCentralIndexKey", draft.company.cik),
        ("dei:AmendmentFlag", "true" if draft.form.endswith("/A") else "false"),
    ]
    if draft.periodic:
        ending = draft.company.calendar.year_end(draft.fiscal_year)
        facts += [
            ("dei:DocumentFiscalYearFocus", str(draft.fiscal_year)),
            ("dei:DocumentFiscalPeriodFocus", draft.fiscal_period or "FY"),
            ("dei:CurrentFiscalYearEndDate", f"--{ending:%m-%d}"),
        ]
    return facts


def _head(form: str, amendment: bool) -> list[Block]:
    blocks: list[Block] = [
        Para("UNITED STATES\nSECURITIES AND EXCHANGE COMMISSION", "center_bold"),
        Para("Washington, D.C. 20549", "center"),
        Para(f"FORM {form}", "title", tags=(Tag(form, "dei:DocumentType"),)),
    ]
    if amendment:
        blocks.append(Para("(Amendment No. 1)", "center_bold"))
    return blocks


def _registrant(draft: Draft) -> list[Block]:
    company = draft.company
    name = draft.registrant.upper() if company.style.upper_titles else draft.registrant
    former = "Not Applicable"
    if company.former_name and company.renamed_on and 0 <= (draft.filed_at - company.renamed_on).days < 400:
        former = company.former_name
    return [
        Para(
            f"Commission File Number: {company.file_number}",
            "center",
            tags=(Tag(company.file_number, "dei:EntityFileNumber"),),
        ),
        Para(name, "title", tags=(Tag(name, "dei:EntityRegistrantName"),)),
        Para("(Exact name of registrant as specified in its charter)", "small_center"),
        WordTable(
            (
                (company.state, company.irs),
                (
                    "(State or other jurisdiction of\nincorporation or organization)",
                    "(I.R.S. Employer\nIdentification No.)",
                ),
            ),
            (0.5, 0.5),
            tags=(
                Tag(company.state, "dei:EntityIncorporationStateCountryCode"),
                Tag(company.irs, "dei:EntityTaxIdentificationNumber"),
            ),
        ),
        Para(company.address, "center"),
        Para("(Address of principal executive offices, including zip code)", "small_center"),
        Para(company.phone, "center"),
        Para("(Registrant’s telephone number, including area code)", "small_center"),
        Para(former, "center"),
        Para("(Former name or former address, if changed since last report)", "small_center"),
    ]


def _securities(company: Company) -> list[Block]:
    return [
        Para("Securities registered pursuant to Section 12(b) of the Act:", "center"),
        WordTable(
            (
                ("Title of each class", "Trading Symbol(s)", "Name of each exchange on which registered"),
                ("Common Stock, $0.01 par value per share", company.ticker, company.exchange),
            ),
            (0.42, 0.2, 0.38),
            bold_head=True,
            size=8.5,
            tags=(
                Tag("Common Stock, $0.01 par value per share", "dei:Security12bTitle"),
                Tag(company.ticker, "dei:TradingSymbol"),
                Tag(company.exchange, "dei:SecurityExchangeName"),
            ),
        ),
        Para("Securities registered pursuant to Section 12(g) of the Act: None", "small_center"),
    ]
