"""Full-submission text: EDGAR's SGML header, then the documents of the filing."""

from __future__ import annotations

from finray.lab.sample.companies import Company
from finray.lab.sample.cover import Draft

_SUBSIDIARY_STATES = ("Delaware", "Ohio", "Ontario, Canada", "England and Wales")


def render_submission(draft: Draft, html: str) -> str:
    """A submission with ``html`` as the first document, then certifications and, for an annual report, a list of
    subsidiaries."""
    company, stem = draft.company, f"{draft.company.ticker.lower()}-{draft.end:%Y%m%d}"
    others = [("EX-31.1", f"{stem}_ex311.htm", _certification(draft))]
    if draft.form.startswith("10-K"):
        others.insert(0, ("EX-21.1", f"{stem}_ex211.htm", _subsidiaries(company)))
    documents = [(draft.form, f"{stem}.htm", f"<XBRL>\n{html}</XBRL>"), *others]
    body = "".join(
        f"<DOCUMENT>\n<TYPE>{kind}\n<SEQUENCE>{number}\n<FILENAME>{name}\n<DESCRIPTION>{kind}\n<TEXT>\n{text}</TEXT>\n</DOCUMENT>\n"
        for number, (kind, name, text) in enumerate(documents, start=1)
    )
    return f"{_header(draft, len(documents))}{body}</SEC-DOCUMENT>\n"


def _header(draft: Draft, documents: int) -> str:
    company, filed = draft.company, f"{draft.filed_at:%Y%m%d}"
    ending = company.calendar.year_end(draft.fiscal_year)
    items = "".join(f"ITEM INFORMATION:\t\t{item}\n" for item in draft.items)
    former = ""
    if company.former_name and company.renamed_on and company.renamed_on <= draft.filed_at:
        former = (
            "\n\tFORMER COMPANY:\t\n"
            f"\t\tFORMER CONFORMED NAME:\t{company.former_name.upper()}\n"
            f"\t\tDATE OF NAME CHANGE:\t{company.renamed_on:%Y%m%d}\n"
        )
    return (
        f"<SEC-DOCUMENT>{draft.accession}.txt : {filed}\n<SEC-HEADER>{draft.accession}.hdr.sgml : {filed}\n"
        f"<ACCEPTANCE-DATETIME>{filed}163012\nACCESSION NUMBER:\t\t{draft.accession}\nCONFORMED SUBMISSION "
        f"TYPE:\t{draft.form}\nPUBLIC DOCUMENT COUNT:\t\t{documents}\nCONFORMED PERIOD OF "
        f"REPORT:\t{draft.end:%Y%m%d}\n{items}FILED AS OF DATE:\t\t{filed}\nDATE AS OF CHANGE:\t\t{filed}\n"
        f"\nFILER:\n\n\tCOMPANY DATA:\t\n\t\tCOMPANY CONFORMED NAME:\t\t\t{draft.registrant.upper()}\n"
        f"\t\tCENTRAL INDEX KEY:\t\t\t{company.cik}\n\t\tSTANDARD INDUSTRIAL "
        f"CLASSIFICATION:\t{company.profile['sic'][1]} [{company.profile['sic'][0]}]\n\t\tIRS "
        f"NUMBER:\t\t\t\t{company.irs.replace('-', '')}\n\t\tSTATE OF "
        f"INCORPORATION:\t\t\t{company.state_code}\n\t\tFISCAL YEAR END:\t\t\t{ending:%m%d}\n\n\tFILING "
        f"VALUES:\n\t\tFORM TYPE:\t\t{draft.form}\n\t\tSEC ACT:\t\t1934 Act\n\t\tSEC FILE "
        f"NUMBER:\t{company.file_number}\n\t\tFILM NUMBER:\t\t{int(company.cik) % 10**8:08d}\n\n\tBUSINESS "
        f"ADDRESS:\t\n\t\tSTREET 1:\t\t{company.street.upper()}\n\t\tCITY:\t\t\t{company.city.upper()}\n"
        f"\t\tSTATE:\t\t\t{company.city_code}\n\t\tZIP:\t\t\t{company.zip}\n\t\tBUSINESS "
        f"PHONE:\t\t{company.phone}\n{former}</SEC-HEADER>\n"
    )


def _certification(draft: Draft) -> str:
    return (
        f"<html><body><p>CERTIFICATION</p>\n<p>I, {draft.company.ceo}, certify that I have reviewed this "
        f"report on Form {draft.form} of {draft.registrant} and that, based on my knowledge, it does not "
        "contain any untrue statement of a material fact.</p></body></html>\n"
    )


def _subsidiaries(company: Company) -> str:
    stem = company.short.split()[0]
    rows = "".join(
        f"<tr><td>{stem} {segment} LLC</td><td>{state}</td></tr>\n"
        for segment, state in zip(company.profile["segments"], _SUBSIDIARY_STATES, strict=False)
    )
    return f"<html><body><p>SUBSIDIARIES OF THE REGISTRANT</p><table>\n{rows}</table></body></html>\n"
