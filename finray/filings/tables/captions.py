"""Finds the captions that SEC forms prescribe, even if spaces, line breaks or letters are garbled.

Filers set captions in columns, narrow cells and spaced capitals; PDF printers insert hard spaces and soft hyphens; OCR
confuses letters. So text is compared in folded form: only letters and digits, in lower case, look-alikes merged.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_ALIKE = str.maketrans({"0": "o", "1": "i", "l": "i", "5": "s", "8": "b", "c": "e"})
_JOINED = {"rn": "m", "vv": "w"}
_SIGNS = str.maketrans(dict.fromkeys("®™℠", ""))
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-") | {"\u0130": "I"})
"""Also maps U+0130, the only letter that becomes two in lower case."""
_SPACED = re.compile(r"\S(?:\s\S){3,}|\S(?:\s{1,6}\S){5,}")
_LETTER = re.compile(r"[^\W_]")
_WORD_GAP = re.compile(r"\s{2,}")
_UP_TO_PARENTHESIS = 160
"""Characters after a caption among which its closing parenthesis may be."""


def fold(text: str) -> str:
    """``text`` in the form in which captions are compared."""
    letters = re.sub(r"[\W_]+", "", text).lower().translate(_ALIKE)
    for pair, letter in _JOINED.items():
        letters = letters.replace(pair, letter)
    return letters


SIGNS = {
    "sec": ("securities and exchange commission", "securities & exchange commission"),
    "act": ("pursuant to section 13", "pursuant to sections 13", "section 13 or 15(d)", "pursuant to rule 13a"),
    "name": (
        "exact name", "exact names", "name of registrant", "name of the registrant", "name of each registrant",
        "name of issuer", "name of the issuer", "name of small business issuer", "registrant as specified",
        "as specified in its", "as specified in charter", "as set forth in its charter",
        "translation of registrant's name",
    ),
    "file": ("commission file", "SEC file number"),
    "employer": ("IRS employer", "employer identification"),
    "state": ("state or other jurisdiction", "state of incorporation", "jurisdiction of incorporation",
              "country of incorporation"),
    "office": ("principal executive office", "principal offices"),
    "phone": ("telephone number",),
    "classes": ("title of each class", "securities registered pursuant", "securities registered or to be registered"),
    "marks": ("indicate by check mark", "check the appropriate box", "check mark whether the registrant"),
    "period": ("year ended", "year ending", "year end", "period ended", "period ending", "quarter ended",
               "quarter ending", "weeks ended", "months ended"),
    "transition": ("transition period from", "transition report"),
    "event": ("date of report", "earliest event"),
}  # fmt: skip
"""Captions that occur together only on the cover of a report; each kind counts once (``cover_signs``)."""
_OTHERS = {
    "former": ("former name", "previous name"),
    "other_date": ("aggregate market value", "outstanding", "last business day", "closing", "filed", "annual meeting"),
    "words": (
        "annual report", "quarterly report", "current report", "pursuant to", "exchange act", "zip code", "area code",
        "file number", "identification number", "identification no", "par value", "trading symbol",
        "name of each exchange", "DC 20549", "table of contents", "conformed submission",
        "undersigned", "incorporation or organization", "of incorporation", "address and telephone", "amendment no",
        "documents incorporated", "proxy statement", "registered public accounting", "of 1934",
    ),
}  # fmt: skip
CAPTION_WORDS = frozenset(
    fold(word) for phrases in (SIGNS | _OTHERS).values() for phrase in phrases for word in phrase.split()
)
_PHRASES = tuple((fold(phrase), kind) for kind, phrases in (SIGNS | _OTHERS).items() for phrase in phrases)


@dataclass(frozen=True, slots=True)
class Caption:
    """``phrase`` is the folded text that matched. ``start`` and ``end`` are offsets in the text; ``end`` includes the
    closing parenthesis, if any."""

    kind: str
    phrase: str
    start: int
    end: int


@dataclass(frozen=True)
class CoverText:
    """The text of a cover and the captions in it."""

    text: str

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        """The folded text, and the offset in ``text`` of each of its letters."""
        places = [match.start() for match in _LETTER.finditer(self.text)]
        letters = "".join(_LETTER.findall(self.text)).lower().translate(_ALIKE)
        for pair, letter in _JOINED.items():
            parts = letters.split(pair)
            start = 0
            for part in parts[:-1]:
                start += len(part) + 1
                del places[start]
            letters = letter.join(parts)
        return letters, places

    def search(self, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int, int]]:
        """(match, start, end) of each match in the folded text, as offsets in ``text``."""
        letters, places = self._folded
        for match in pattern.finditer(letters):
            if match.end() > match.start():
                yield match, places[match.start()], places[match.end() - 1] + 1

    def unfolded(self, match: re.Match[str], group: str) -> str:
        """The part of ``text`` that a group of ``match`` covers in the folded text."""
        _, places = self._folded
        return self.text[places[match.start(group)] : places[match.end(group) - 1] + 1]

    @cached_property
    def captions(self) -> tuple[Caption, ...]:
        """Captions in order. Of two that overlap, the one that begins first counts, else the longer one."""
        letters, places = self._folded
        found = []
        for phrase, kind in _PHRASES:
            start = letters.find(phrase)
            while start >= 0:
                found.append((start, -len(phrase), phrase, kind))
                start = letters.find(phrase, start + 1)
        captions: list[Caption] = []
        reached = 0
        for first, length, phrase, kind in sorted(found):
            if first >= reached:
                reached = first - length
                start, end = places[first], places[reached - 1] + 1
                captions.append(Caption(kind, phrase, start, self._end(start, end)))
        return tuple(captions)

    def _end(self, start: int, end: int) -> int:
        """The end of a caption with its closing parenthesis, if it has one."""
        opening = self.text.rfind("(", max(0, start - 40), start)
        if opening < 0 or ")" in self.text[opening:start]:
            return end
        closing = self.text.find(")", end, end + _UP_TO_PARENTHESIS)
        return closing + 1 if closing >= 0 else end

    def first(self, kind: str) -> Caption | None:
        """The first caption of this kind."""
        return next((caption for caption in self.captions if caption.kind == kind), None)


def cover_signs(page: str) -> set[str]:
    """The kinds of cover captions on a page."""
    folded = fold(page)
    return {kind for phrase, kind in _PHRASES if kind in SIGNS and phrase in folded}


def has_caption(text: str) -> bool:
    """Whether any caption occurs in ``text``."""
    folded = fold(text)
    return any(phrase in folded for phrase, _ in _PHRASES)


def plain(text: str) -> str:
    """``text`` for matching: one kind of space, dash and letter, spaced letters ("F O R M") joined, no blank lines and
    rules."""
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_DASHES)
    if not text.isascii():
        text = "".join(c for c in text if c.isprintable() or c.isspace())
    lines = (" ".join(_join_spaced(line).split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip(" _-*.=|"))


def _join_spaced(line: str) -> str:
    """Joins the letters of a line set in spaced letters; wider gaps separate the words."""
    line = line.strip()
    if not _SPACED.fullmatch(line):
        return line
    return " ".join("".join(word.split()) for word in _WORD_GAP.split(line))
