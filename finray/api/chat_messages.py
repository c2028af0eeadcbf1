"""A prediction as the message of an assistant: Markdown with citations, for chat front ends."""

from __future__ import annotations

import re
from collections.abc import Mapping

from finray.core.chat_replies import Annotation, ChatMessage, ChatUsage, ChatVerdict, UrlCitation
from finray.core.filing import Filing
from finray.core.grid import Grid
from finray.core.passages import Passage, RenderedBlock
from finray.core.predictions import Prediction
from finray.filings.pages.page_links import PageLinks, cited, edgar_index

_MARKS = re.compile(r"[\\`\[\]<@]|(?<=:)/(?=/)|(?<=www)\.", re.I)
_MOST_SOURCES = 8

Place = tuple[str, str, int]


def chat_message(prediction: Prediction, filings: Mapping[str, Filing], service: str) -> ChatMessage:
    """The answer, its sources as numbered links, and the question that was answered if it was completed.

    ``filings`` are those of the index by id, ``service`` is the URL of this service. A source links to EDGAR if
    the filing is there, else to the page in this service, which asks for a key. Text of filings cannot make
    links in Markdown or HTML.
    """
    parts = [f"*Read as: {_plain(prediction.resolved)}*\n\n"] if prediction.resolved else []
    parts.append(_plain(_said(prediction)))
    links = PageLinks(filings, service)
    places = _places(prediction)
    notes: list[Annotation] = []
    for number, place in enumerate(places, start=1):
        parts.append(" ")
        url, title = _url(place, links), _title(place, filings)
        start, mark = len("".join(parts)), f"[\\[{number}\\]]({url})" if url else f"\\[{number}\\]"
        if url:
            notes.append(Annotation(UrlCitation(start, start + len(mark), url, title)))
        parts.append(mark)
    if prediction.grid is not None:
        parts.append(f"\n\n{_table(prediction.grid)}")
    if prediction.program:
        parts.append(f"\n\n`{' '.join(prediction.program.replace('`', '').split())}`")
    if places:
        listed = (f"{number}. {_plain(_title(place, filings))}" for number, place in enumerate(places, start=1))
        parts.append("\n\nSources:\n" + "\n".join(listed))
    if prediction.grounded is False:
        parts.append("\n\nNot grounded: a number of this answer is not on the pages that it cites. Check them.")
    return ChatMessage("".join(parts), tuple(notes))


def _said(prediction: Prediction) -> str:
    """The answer, or what stands above its table."""
    return prediction.answer or "No answer." if prediction.grid is None else prediction.grid.shown


def _table(grid: Grid) -> str:
    """``grid`` with the rows of the filings that it is read from, and why cells are empty."""
    rows = dict.fromkeys(f"{cell.company}, {cell.item}: “{cell.row}”" for cell in grid.cells if cell.row)
    lines = [_plain(grid.markdown())]
    if rows:
        lines.append("Rows: " + _plain("; ".join(rows)))
    if any(cell.other_row for cell in grid.cells):
        lines.append("† read from a row of another name, which may be another line")
    lines += (f"No figure: {_plain(missing)}" for missing in grid.missing)
    return "\n\n".join(lines)


def chat_usage(prediction: Prediction) -> ChatUsage:
    used = prediction.usage.values()
    prompt, completion = sum(u.prompt_tokens for u in used), sum(u.completion_tokens for u in used)
    return ChatUsage(prompt, completion, prompt + completion)


def verdict(prediction: Prediction) -> ChatVerdict:
    return ChatVerdict(
        prediction.status,
        prediction.resolved,
        prediction.value,
        prediction.unit,
        prediction.confidence,
        prediction.grounded,
    )


def _places(prediction: Prediction) -> list[Place]:
    """Pages that the answer rests on, each once."""
    evidence: tuple[Passage | RenderedBlock, ...] = prediction.evidence_blocks or prediction.evidence
    return list(dict.fromkeys((each.doc_name, each.filing_id, each.page) for each in evidence))[:_MOST_SOURCES]


def _url(place: Place, links: PageLinks) -> str | None:
    _, filing_id, page = place
    filing = links.filings.get(filing_id)
    return None if filing is None else edgar_index(filing) or links.page(filing_id, page)


def _title(place: Place, filings: Mapping[str, Filing]) -> str:
    doc_name, filing_id, page = place
    filing = filings.get(filing_id)
    return cited(filing, page) if filing is not None else f"{doc_name}, p. {page + 1}"


def _plain(text: str) -> str:
    """``text`` without Markdown links, images, code and HTML."""
    return _MARKS.sub(r"\\\g<0>", text)
