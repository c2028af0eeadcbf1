"""Hostile filings: documents that loop, explode in size, crash the parser or do not end.

Each is small or quick to generate, and looks like a filing up to the harmful part. The outcome depends on the versions
of MuPDF and libxml2 and on the limits, but parsing must always end and must not affect other filings.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

_TEXT: Final = b"BT /F1 9 Tf 40 700 Td (Total assets 1,234 1,111) Tj ET\n"
_COVER: Final = (
    b"UNITED STATES SECURITIES AND EXCHANGE COMMISSION",
    b"FORM 10-K",
    b"ANNUAL REPORT PURSUANT TO SECTION 13 OR 15d OF THE SECURITIES EXCHANGE ACT OF 1934",
    b"For the fiscal year ended December 31, 2023",
    b"Poison Holdings, Inc.",
    b"Exact name of registrant as specified in its charter",
)
_HEADER: Final = (
    b"<SEC-HEADER>\nACCESSION NUMBER:\t\t0000999999-24-00000%d\nCONFORMED SUBMISSION TYPE:\t10-K\n"
    b"FILER:\n\tCOMPANY CONFORMED NAME:\t\t\tPOISON INC\n</SEC-HEADER>\n"
)


def poison_names() -> list[str]:
    """The names for ``make_poison``, which are file names with fitting extensions."""
    return list(_MAKERS)


def make_poison(name: str, scale: float = 1.0) -> bytes:
    """The content of one file; at ``scale`` 1, large ones take a minute or gigabytes to read."""
    return _MAKERS[name](scale)


def pdf(objects: dict[int, bytes]) -> bytes:
    """A PDF file of numbered objects; object 1 is the catalog."""
    content, offsets = b"%PDF-1.7\n", {}
    parts = [content]
    length = len(content)
    for number, body in sorted(objects.items()):
        part = b"%d 0 obj\n%s\nendobj\n" % (number, body)
        offsets[number] = length
        parts.append(part)
        length += len(part)
    top = max(objects) + 1
    table = b"".join(b"%010d 00000 n \n" % offsets[n] if n in offsets else b"0000000000 65535 f \n" for n in range(top))
    parts.append(
        b"xref\n0 %d\n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (top, table, top, length)
    )
    return b"".join(parts)


def stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), extra, content)


def two_pages(content: bytes, resources: bytes = b"", more: dict[int, bytes] | None = None) -> bytes:
    """A PDF with the cover of a 10-K and one page with ``content`` as its content stream object."""
    font = b"/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << %s %s >> >>"
    lines = b"".join(b"BT /F1 9 Tf 40 %d Td (%s) Tj ET\n" % (720 - 20 * n, line) for n, line in enumerate(_COVER))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [5 0 R 3 0 R] /Count 2 >>",
        3: page % (4, font, resources),
        4: content,
        5: page % (6, font, b""),
        6: stream(lines),
    }
    return pdf(objects | (more or {}))


def _page_tree_loop(_: float) -> bytes:
    """A page tree that contains itself."""
    return pdf(
        {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >>"}
    )


def _false_page_count(_: float) -> bytes:
    """An empty page tree that claims 1,999 pages."""
    return pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 1999 >>"})


def _decompression_bomb(scale: float) -> bytes:
    """A content stream of gigabytes, compressed twice to kilobytes."""
    piece = zlib.compress(b"0 0 m 1 1 l S\n" * int(scale * 3e7), 9)
    return two_pages(stream(zlib.compress(piece, 9), b"/Filter [/FlateDecode /FlateDecode]"))


def _text_bomb(scale: float) -> bytes:
    """Millions of words on one page."""
    return two_pages(stream(zlib.compress(_TEXT * int(scale * 3e6), 6), b"/Filter /FlateDecode"))


def _exponential_forms(_: float) -> bytes:
    """Forty forms, each of which draws the next twice: 2^40 drawings."""
    more = {}
    for number in range(10, 50):
        following = b"/Resources << /XObject << /X %d 0 R >> >>" % (number + 1)
        more[number] = stream(b"/X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] " + following)
    more[50] = stream(_TEXT, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    return two_pages(stream(_TEXT + b"/X Do"), b"/XObject << /X 10 0 R >>", more)


def _deep_arrays(scale: float) -> bytes:
    """Arrays nested a million deep."""
    deep = int(scale * 1e6)
    return two_pages(stream(_TEXT), b"/Deep " + b"[" * deep + b"]" * deep)


def _huge_image(_: float) -> bytes:
    """An image of ten billion pixels."""
    image = stream(
        zlib.compress(b"\0" * 1_000_000),
        b"/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB /BitsPerComponent 8"
        b" /Filter /FlateDecode",
    )
    return two_pages(stream(_TEXT + b"/I Do"), b"/XObject << /I 10 0 R >>", {10: image})


def _wide_table(scale: float) -> bytes:
    """One HTML table of a hundred megabytes."""
    row = b"<tr><td>Total net revenue</td><td>$</td><td>1,234</td><td>(1,111)</td></tr>\n"
    return _html(b"<table>" + row * int(scale * 1.4e6) + b"</table>")


def _span_bomb(scale: float) -> bytes:
    """Cells that claim to span millions of rows and columns."""
    cell = b"<td colspan=99999999 rowspan=99999999>1,234</td>"
    return _html(b"<table>" + (b"<tr>" + cell * 40 + b"</tr>") * int(scale * 2e4) + b"</table>")


def _deep_markup(scale: float) -> bytes:
    """A million blocks, none of which is closed."""
    return _html(b"<div><font><b>" * int(scale * 1e6) + b"Total assets 1,234")


def _nested_tables(scale: float) -> bytes:
    """Many tables nested to libxml2's limit."""
    nest = b"<table><tr><td>" * 600 + b"Revenue 1,234" + b"</td></tr></table>" * 600
    return _html(nest * int(scale * 200))


def _many_breaks(scale: float) -> bytes:
    """A page break after every word: millions of pages."""
    return _html(b'<p>Revenue 1,234</p><hr style="page-break-after:always">' * int(scale * 5e5))


def _tag_bomb(scale: float) -> bytes:
    """A hundred thousand inline XBRL contexts with twenty dimensions each, and facts that refer to them."""
    count = int(scale * 1e5)
    context = (
        b'<xbrli:context id="c%d"><xbrli:entity><xbrli:segment>'
        + b'<xbrldi:explicitMember dimension="a:b">c:dMember</xbrldi:explicitMember>' * 20
        + b"</xbrli:segment></xbrli:entity><xbrli:period><xbrli:startDate>2020-01-01</xbrli:startDate>"
        b"<xbrli:endDate>2020-12-31</xbrli:endDate></xbrli:period></xbrli:context>"
    )
    tag = b'<ix:nonFraction name="us-gaap:Revenues" contextRef="c%d" scale="6">1</ix:nonFraction>'
    fact = b"<tr><td>Revenue</td><td>" + tag + b"</td></tr>"
    head = b"<ix:header><ix:resources>" + b"".join(context % n for n in range(count)) + b"</ix:resources></ix:header>"
    return _html(head + b"<table>" + b"".join(fact % n for n in range(count)) + b"</table>")


def _many_documents(scale: float) -> bytes:
    """A submission with hundreds of thousands of documents, none of which is closed."""
    return _HEADER % 1 + b"<DOCUMENT>\n<TYPE>EX-99\n<TEXT>\nTotal assets 1,234\n" * int(scale * 8e5)


def _gzip_as_document(scale: float) -> bytes:
    """A submission with compressed data in place of its report."""
    bomb = zlib.compress(b"\0" * int(scale * 1e9), 9)
    return _HEADER % 2 + b"<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n" + bomb + b"\n</TEXT>\n</DOCUMENT>\n"


def _long_line(scale: float) -> bytes:
    """One very long line of spaces, dots, digits and brackets, which makes careless patterns backtrack."""
    line = b" " * 9 + b"." * 99 + b"1,1" * 99 + b"(" * 99 + b"Item 1. " + b"$ " * 99
    return _html(b"<p>" + line * int(scale * 5e4) + b"</p>")


def _html(body: bytes) -> bytes:
    """The cover of a 10-K, a page break, and ``body``."""
    cover = b"".join(b"<p>%s</p>" % line for line in _COVER) + b'<hr style="page-break-after:always">'
    return b"<html><head><title>10-K</title></head><body>" + cover + body + b"</body></html>"


_MAKERS: Final[dict[str, Callable[[float], bytes]]] = {
    "page-tree-loop.pdf": _page_tree_loop,
    "false-page-count.pdf": _false_page_count,
    "decompression-bomb.pdf": _decompression_bomb,
    "text-bomb.pdf": _text_bomb,
    "exponential-forms.pdf": _exponential_forms,
    "deep-arrays.pdf": _deep_arrays,
    "huge-image.pdf": _huge_image,
    "wide-table.htm": _wide_table,
    "span-bomb.htm": _span_bomb,
    "deep-markup.htm": _deep_markup,
    "nested-tables.htm": _nested_tables,
    "many-breaks.htm": _many_breaks,
    "tag-bomb.htm": _tag_bomb,
    "many-documents.txt": _many_documents,
    "gzip-as-document.txt": _gzip_as_document,
    "long-line.htm": _long_line,
}
