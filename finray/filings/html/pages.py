"""Splits EDGAR HTML at its page breaks into text and tables.

EDGAR's HTML marks the end of each printed page: a ``page-break-*`` or ``break-*`` style (often on an <hr>), in older
filings a <PAGE> tag or a PAGEBREAK comment. PyMuPDF's HTML layout merges numeric columns, so pages are cut from the
element tree.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from lxml import etree

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.filings.html.inline_xbrl import TAGGED_NUMBER
from finray.filings.html.raised import mark_raised
from finray.filings.html.table_text import table_lines
from finray.filings.html.tree import Element
from finray.filings.sniff import CONTROL, decode
from finray.filings.tables.grids import caption_of

_BLOCKS = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog",
        "div", "dl", "dt", "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
        "html", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead",
        "title", "tr", "ul",
    )
)  # fmt: skip
_DROPPED = frozenset(("head", "script", "style", "ix:header", "noscript", "template"))
_BREAK = re.compile(r"(?:page-)?break-(before|after)\s{0,8}:\s{0,8}(?:always|page|left|right)", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s{0,8}:\s{0,8}none", re.IGNORECASE)
_CLASS_RULE = re.compile(r"\.([\w-]{1,64})\s{0,8}\{([^{}]{0,400})\}")
_STANDS_FOR = "-sec-ix-hidden"
_HIDDEN_ID = re.compile(rf"{_STANDS_FOR}\s{{0,8}}:\s{{0,8}}([^\s;]{{1,200}})")
_TAGGED = etree.XPath(f"descendant::*[name()='{TAGGED_NUMBER}' or contains(@style, '{_STANDS_FOR}')]")
_STYLES = etree.XPath("descendant::*/@style", smart_strings=False)
_PAGE_TAG = re.compile(r"<page>", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,200}\?>", re.IGNORECASE)
_BREAK_COMMENT = re.compile(r"^\s{0,8}page\s?-?break\b|^\s{0,8}page\s{0,8}$", re.IGNORECASE)
_INLINE_TAG = re.compile(
    r"</?(?:font|b|i|u|em|strong|span|a|small|big|sup|sub|tt)(?=[\s>/])[^<>]{0,2000}>", re.IGNORECASE
)
_XML_UNFIT = re.compile(f"{CONTROL.pattern}|[\f\ud800-\udfff]")
_STYLE_SHEET = 100_000
"""Characters read of a style sheet; EDGAR's have some thousand."""
_REPEATED_STYLE = 1_000
"""Characters; the breaks of a longer style are not cached."""
_TOO_DEEP = "ERR_RESOURCE_LIMIT"
_NO_MEMORY = "ERR_NO_MEMORY"
_PAGE_MARK = '<hr style="page-break-after:always"/>'


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A printed page: its text, and its data tables and tagged numbers as lxml elements in reading order: each an
    ``ix:nonFraction``, or an element that stands for a hidden one (see :func:`hidden_id`)."""

    text: str
    tables: tuple[Element, ...] = ()
    tagged: tuple[Element, ...] = ()
    captions: tuple[str, ...] = ()
    """The last lines of text above each table."""


def hidden_id(element: Element) -> str | None:
    """The id of the hidden tag (``ix:hidden``) for which the text of ``element`` stands, as its style says."""
    match = _HIDDEN_ID.search(element.get("style") or "")
    return match[1] if match else None


def parse_html(content: bytes) -> Element:
    """The element tree. Raises FilingError (stage "parse", reason ``corrupt_html``) if it cannot be built."""
    markup = _XML_DECLARATION.sub("", decode(content), count=1)
    markup = _PAGE_TAG.sub(_PAGE_MARK, markup).replace("\xad", "")
    root = _tree(markup)
    if root is None:
        # Unclosed <font> and <b> tags pile up in some filings; without them the blocks are shallow enough.
        root = _tree(_INLINE_TAG.sub("", markup))
    if root is None:
        raise FilingError("parse", "corrupt_html", "tags nest deeper than 2,048 levels; the HTML is broken")
    _mark_lines(root)
    mark_raised(root)
    return root


def _tree(markup: str) -> Element | None:
    """The element tree; None if tags nest too deeply for libxml2. Raises FilingError, MemoryError."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_pis=True)
    try:
        root = etree.fromstring(markup.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        _check_memory(parser)
        raise FilingError("parse", "corrupt_html", f"not readable HTML ({str(error)[:160]}); fetch it again") from error
    _check_memory(parser)
    return None if any(entry.type_name == _TOO_DEEP for entry in parser.error_log) else root


def _check_memory(parser: etree.HTMLParser) -> None:
    """Raises MemoryError if memory ran out; libxml2 reports that as an error in the document."""
    if any(entry.type_name == _NO_MEMORY for entry in parser.error_log):
        raise MemoryError


def split_pages(root: Element, settings: FilingSettings) -> list[HtmlPage]:
    """The printed pages of a document without blank ones.

    Raises FilingError (stage "parse") with reason ``no_text``, ``no_page_breaks`` (a document without page
    breaks longer than ``max_unpaged_characters``), ``too_many_pages``, ``page_too_long`` or ``too_long``.
    """
    found = _Pages(_breaking_classes(root)).walk(root)
    if not found:
        raise FilingError("parse", "no_text", "the HTML has no text")
    check_paging(found, settings)
    return found


def check_paging(pages: Sequence[HtmlPage], settings: FilingSettings) -> None:
    """Raises FilingError ``no_page_breaks``, ``too_many_pages``, ``page_too_long`` or ``too_long``."""
    texts = [page.text for page in pages]
    if len(texts) == 1 and len(texts[0]) > settings.max_unpaged_characters:
        raise FilingError(
            "parse",
            "no_page_breaks",
            f"{len(texts[0]):,} characters without a page break exceed filings.max_unpaged_characters = "
            f"{settings.max_unpaged_characters:,}, so answers could not cite its pages",
        )
    if len(texts) > settings.max_pages:
        raise FilingError(
            "parse", "too_many_pages", f"{len(texts):,} pages exceed filings.max_pages = {settings.max_pages:,}"
        )
    check_length(texts, settings)


def check_length(texts: Sequence[str], settings: FilingSettings) -> None:
    """Raises FilingError ``page_too_long`` or ``too_long``."""
    lengths = [len(text) for text in texts]
    longest = max(lengths, default=0)
    if longest > settings.max_page_characters:
        raise FilingError(
            "parse",
            "page_too_long",
            f"page {lengths.index(longest) + 1} has {longest:,} characters, more than filings.max_page_characters = "
            f"{settings.max_page_characters:,}",
        )
    characters = sum(lengths)
    if characters > settings.max_characters:
        raise FilingError(
            "parse",
            "too_long",
            f"{characters:,} characters exceed filings.max_characters = {settings.max_characters:,}",
        )


def _mark_lines(root: Element) -> None:
    """Puts a line feed after each <br>, <p>, <div> and <li>, which keeps words apart in the text of a cell."""
    for element in root.iter("br", "p", "div", "li"):
        # Character references (&#1;) bring back characters that decode dropped.
        tail = element.tail
        element.tail = "\n" + _XML_UNFIT.sub("", tail) if tail else "\n"


def _breaking_classes(root: Element) -> dict[str, set[str]]:
    """The names of classes whose rule in a style sheet breaks the page, by side."""
    names: dict[str, set[str]] = {"before": set(), "after": set()}
    for style in root.iter("style"):
        for name, rule in _CLASS_RULE.findall((style.text or "")[:_STYLE_SHEET]):
            for side in _breaks(rule):
                names[side].add(name)
    return names


def _breaks(style: str) -> Set[str]:
    """The sides of its element, "before" or "after", on which ``style`` breaks the page."""
    return _breaks_of(style) if len(style) <= _REPEATED_STYLE else _breaks_of.__wrapped__(style)


@lru_cache(maxsize=4096)  # a filing repeats its styles
def _breaks_of(style: str) -> Set[str]:
    return frozenset(side.lower() for side in _BREAK.findall(style))


@dataclass(slots=True)
class _Pages:
    """Collects pages while it walks the tree in document order."""

    classes: Mapping[str, Set[str]]
    pages: list[HtmlPage] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    line: list[str] = field(default_factory=list)
    tables: list[Element] = field(default_factory=list)
    tagged: list[Element] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    after_table: int = 0
    """Lines of the page up to the end of its last table."""
    preformatted: int = 0

    def walk(self, root: Element) -> list[HtmlPage]:
        # Not recursive: hostile markup nests deeper than Python's stack.
        context = etree.iterwalk(root, events=("start", "end", "comment"))
        for event, element in context:
            if event == "comment":
                if _BREAK_COMMENT.match(element.text or ""):
                    self.end_page()
                self.add(element.tail)
            elif event == "start":
                if self.start(element):
                    context.skip_subtree()
            else:
                self.end(element)
        self.end_page()
        return self.pages

    def start(self, element: Element) -> bool:
        """Whether to skip the element's content."""
        tag = element.tag
        if tag in _DROPPED:
            return True
        style = element.get("style")
        if style and "none" in style.lower() and _HIDDEN.search(style):
            return True
        if self.breaks(element, "before"):
            self.end_page()
        if tag in _BLOCKS:
            self.end_line()
        if tag == "table" and not self.is_layout(element):
            lines = table_lines(element)
            if lines:
                self.captions.append(caption_of(self.lines[self.after_table :]))
                self.lines.extend(lines)
                self.after_table = len(self.lines)
                self.tables.append(element)
                self.tagged.extend(cast(list[Element], _TAGGED(element)))
            return True
        if tag == TAGGED_NUMBER or (style and _STANDS_FOR in style):
            self.tagged.append(element)
        if tag == "pre":
            self.preformatted += 1
        self.add(element.text)
        return False

    def end(self, element: Element) -> None:
        if element.tag == "pre" and self.preformatted:
            self.preformatted -= 1
        if element.tag in _BLOCKS:
            self.end_line()
        if self.breaks(element, "after"):
            self.end_page()
        self.add(element.tail)

    def breaks(self, element: Element, side: str) -> bool:
        names = self.classes[side]
        if names and not names.isdisjoint(element.get("class", "").split()):
            return True
        style = element.get("style")
        return style is not None and side in _breaks(style)

    def is_layout(self, table: Element) -> bool:
        """Whether the table holds other tables or page breaks; its cells are then read as blocks."""
        if next(table.iterdescendants("table"), None) is not None:
            return True
        styles = cast(list[str], _STYLES(table))
        return any(map(_breaks, set(styles)))

    def add(self, text: str | None) -> None:
        if not text:
            return
        first, *rest = text.split("\n")
        self.line.append(first)
        for part in rest:
            if self.preformatted:
                self.end_line()
            self.line.append(part if self.preformatted else " " + part)

    def end_line(self) -> None:
        if self.line:
            text = "".join(self.line)
            text = text.replace("\xa0", " ").rstrip() if self.preformatted else " ".join(text.split())
            if text.strip():
                self.lines.append(text)
            self.line.clear()

    def end_page(self) -> None:
        self.end_line()
        if self.lines:
            text = _XML_UNFIT.sub("", "\n".join(self.lines))
            self.pages.append(HtmlPage(text, tuple(self.tables), tuple(self.tagged), tuple(self.captions)))
            self.lines.clear()
            self.tables.clear()
            self.captions.clear()
            self.after_table = 0
        # A page without text is dropped, with its tagged numbers.
        self.tagged.clear()
