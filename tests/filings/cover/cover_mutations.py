"""Covers as they might have been: seeded changes to the layout, spacing, spelling and wrapping of a known cover.

Each mutation takes a cover and returns what a filer, a PDF printer or OCR could have made of it, None if it does not
apply. ``DEVELOP`` are the kinds that the cover reader was written with, ``HELD_OUT`` the kinds it was measured on.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS
from finray.filings.cover.facts import Facts
from finray.question.companies.company_groups import core_name


@dataclass(frozen=True, slots=True)
class Cover:
    """A filing's page texts and what its cover says. ``page`` is that of the cover."""

    name: str
    texts: tuple[str, ...]
    company: str
    form: str
    period_end: dt.date
    page: int = 0

    @property
    def lines(self) -> list[str]:
        return self.texts[self.page].split("\n")

    def with_lines(self, lines: Sequence[str]) -> Cover:
        return self.with_text("\n".join(lines))

    def with_text(self, text: str) -> Cover:
        return replace(self, texts=(*self.texts[: self.page], text, *self.texts[self.page + 1 :]))

    def score(self, facts: Facts) -> dict[str, bool]:
        """Which of company, form and period ``facts`` have right. A name may differ by a few letters, as OCR reads."""
        found = "".join(core_name(facts.company or ""))
        wanted = "".join(core_name(self.company))
        alike = SequenceMatcher(None, found, wanted, autojunk=False).ratio() >= 0.88
        form = (facts.form or "").removesuffix("/A")
        wrapped = form == ANNUAL_REPORT_TO_HOLDERS and self.form == "10-K" and self.page > 0
        return {
            "company": alike,
            "form": wrapped or form == self.form,
            "period": facts.period_end == self.period_end,
        }


Mutation = Callable[[Cover, random.Random], Cover | None]

_NAME_CAPTION = re.compile(r"^\W{0,3}\s*exact\s+name", re.IGNORECASE)
_SEC = ("unitedstates", "securitiesandexchangecommission", "washingtondc20549")
_LETTER = """Dear fellow shareholders,
Last year was one of progress. We opened new plants, served more customers and returned cash to our owners.
I want to thank our employees for their dedication. Our strategy remains the same, and so does our resolve.
Sincerely,
The Chairman and Chief Executive Officer
"""
_HIGHLIGHTS = """Financial highlights
(in millions, except per share data)
2021 2020 2019
Net sales $4,100 $3,900 $3,700
Net earnings 410 380 365
Diluted earnings per share $2.05 $1.90 $1.80
As of June 30, 2019 and December 31, 2018
"""


def squash(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _find(lines: Sequence[str], wanted: str) -> tuple[int, int] | None:
    """The first run of at most eight lines that together print ``wanted`` and nothing else."""
    target = squash(wanted)
    for start in range(len(lines)):
        joined = ""
        for end in range(start, min(start + 8, len(lines))):
            joined += squash(lines[end])
            if joined == target and squash(lines[start]):
                return start, end + 1
            if not target.startswith(joined):
                break
    return None


def _name(cover: Cover) -> tuple[int, int] | None:
    return _find(cover.lines, cover.company)


def _caption(lines: Sequence[str]) -> tuple[int, int] | None:
    """The lines of the name's caption."""
    for start, line in enumerate(lines):
        if _NAME_CAPTION.match(line):
            end = start + 1
            while end < len(lines) and end < start + 4 and ")" not in "".join(lines[start:end]):
                end += 1
            return start, end
    return None


def _line_with(lines: Sequence[str], *marks: str) -> int | None:
    return next((i for i, line in enumerate(lines) if any(mark in squash(line) for mark in marks)), None)


def _printed_date(cover: Cover) -> re.Match[str] | None:
    day = cover.period_end
    spelled = rf"{day:%B}\s{{0,4}}{day.day}\s{{0,3}},?\s{{0,4}}{day.year}"
    return re.search(spelled, cover.texts[cover.page], re.IGNORECASE)


def _with_date(cover: Cover, printed: str) -> Cover | None:
    match = _printed_date(cover)
    if match is None:
        return None
    text = cover.texts[cover.page]
    return cover.with_text(text[: match.start()] + printed + text[match.end() :])


def _moved(cover: Cover, source: tuple[int, int], before: int) -> Cover:
    lines = cover.lines
    block = lines[source[0] : source[1]]
    rest = lines[: source[0]] + lines[source[1] :]
    place = before if before <= source[0] else before - len(block)
    return cover.with_lines(rest[:place] + block + rest[place:])


# The order of blocks


def name_below_caption(cover: Cover, rng: random.Random) -> Cover | None:
    name, caption = _name(cover), _caption(cover.lines)
    return _moved(cover, name, caption[1]) if name and caption and name[1] <= caption[0] else None


def form_below_name(cover: Cover, rng: random.Random) -> Cover | None:
    form = _line_with(cover.lines, f"form{squash(cover.form)}")
    caption = _caption(cover.lines)
    return _moved(cover, (form, form + 1), caption[1]) if form is not None and caption else None


def file_number_first(cover: Cover, rng: random.Random) -> Cover | None:
    number = _line_with(cover.lines, "commissionfile")
    return _moved(cover, (number, number + 1), 0) if number is not None else None


def name_first(cover: Cover, rng: random.Random) -> Cover | None:
    name = _name(cover)
    return _moved(cover, name, 0) if name else None


def name_behind_state(cover: Cover, rng: random.Random) -> Cover | None:
    """Name and caption below the state and the I.R.S. number."""
    name, caption = _name(cover), _caption(cover.lines)
    irs = _line_with(cover.lines, "identificationno", "employerid", "irsid")
    if not name or not caption or irs is None or name[1] > caption[0] or irs < caption[1]:
        return None
    return _moved(cover, (name[0], caption[1]), irs + 1)


def period_last(cover: Cover, rng: random.Random) -> Cover | None:
    """The line with the period stands behind the telephone number."""
    match = _printed_date(cover)
    phone = _line_with(cover.lines, "telephone")
    if match is None or phone is None:
        return None
    line = cover.texts[cover.page].count("\n", 0, match.start())
    return _moved(cover, (line, line + 1), phone + 1) if line < phone else None


def shares_first(cover: Cover, rng: random.Random) -> Cover | None:
    """The market value and number of shares, with dates of their own, come before the period."""
    year = cover.period_end.year
    lines = cover.lines
    form = _line_with(lines, f"form{squash(cover.form)}")
    if form is None:
        return None
    note = [
        f"The aggregate market value of the stock held by non-affiliates as of June 29, {year - 1} was $1,234,567.",
        f"Number of shares outstanding as of February 11, {year + 1}: 45,678,901.",
    ]
    return cover.with_lines([*lines[: form + 1], *note, *lines[form + 1 :]])


# What is left out


def without_name_caption(cover: Cover, rng: random.Random) -> Cover | None:
    caption = _caption(cover.lines)
    return cover.with_lines(cover.lines[: caption[0]] + cover.lines[caption[1] :]) if caption else None


def without_sec_heading(cover: Cover, rng: random.Random) -> Cover | None:
    return cover.with_lines([line for line in cover.lines if squash(line) not in _SEC])


def without_file_number(cover: Cover, rng: random.Random) -> Cover | None:
    return cover.with_lines([line for line in cover.lines if "commissionfile" not in squash(line)])


def without_form_name(cover: Cover, rng: random.Random) -> Cover | None:
    """The form's name is a picture."""
    form = squash(cover.form)
    lines = [line for line in cover.lines if not (f"form{form}" in squash(line) and len(line) < 40)]
    return cover.with_lines(lines) if len(lines) < len(cover.lines) else None


def without_period_caption(cover: Cover, rng: random.Random) -> Cover | None:
    match = _printed_date(cover)
    if match is None or cover.form == "8-K":
        return None
    text = cover.texts[cover.page]
    start = text.rfind("\n", 0, match.start()) + 1
    return cover.with_text(text[:start] + text[match.start() :])


def cover_alone(cover: Cover, rng: random.Random) -> Cover | None:
    """A fragment without the rest of the report."""
    return replace(cover, texts=cover.texts[: cover.page + 2])


# Lines


def name_broken(cover: Cover, rng: random.Random) -> Cover | None:
    name = _name(cover)
    if name is None:
        return None
    words = " ".join(cover.lines[name[0] : name[1]]).split()
    if len(words) < 2:
        return None
    cut = rng.randrange(1, len(words))
    lines = cover.lines
    return cover.with_lines([*lines[: name[0]], " ".join(words[:cut]), " ".join(words[cut:]), *lines[name[1] :]])


def captions_broken(cover: Cover, rng: random.Random) -> Cover | None:
    def broken(line: str) -> str:
        words = line.split(" ")
        if "(" not in line and "commissionfile" not in squash(line) and "ended" not in line.lower():
            return line
        cut = rng.randrange(1, len(words)) if len(words) > 2 else 0
        return " ".join(words[:cut]) + "\n" + " ".join(words[cut:]) if cut else line

    return cover.with_lines([broken(line) for line in cover.lines])


def narrow_columns(cover: Cover, rng: random.Random) -> Cover | None:
    """Every line but the name's is cut after two to five words."""
    name = _name(cover)
    lines: list[str] = []
    for number, line in enumerate(cover.lines):
        words = line.split()
        if name and name[0] <= number < name[1]:
            lines.append(line)
            continue
        while words:
            taken = rng.randrange(2, 6)
            lines.append(" ".join(words[:taken]))
            words = words[taken:]
    return cover.with_lines(lines)


def name_beside_caption(cover: Cover, rng: random.Random) -> Cover | None:
    name, caption = _name(cover), _caption(cover.lines)
    if not name or not caption or name[1] > caption[0]:
        return None
    lines = cover.lines
    one = " ".join(" ".join(lines[name[0] : name[1]] + lines[caption[0] : caption[1]]).split())
    return cover.with_lines([*lines[: name[0]], one, *lines[caption[1] :]])


def one_long_line(cover: Cover, rng: random.Random) -> Cover | None:
    """From the form's name to the name's caption everything is on one line."""
    lines = cover.lines
    caption = _caption(lines)
    form = _line_with(lines, f"form{squash(cover.form)}")
    if caption is None or form is None or form >= caption[1]:
        return None
    return cover.with_lines([*lines[:form], " ".join(lines[form : caption[1]]), *lines[caption[1] :]])


def rules_between(cover: Cover, rng: random.Random) -> Cover | None:
    rules = ("", " ", "_" * 30, "* * *", "——")
    return cover.with_text("\n".join(f"{line}\n{rng.choice(rules)}" for line in cover.lines))


def split_over_pages(cover: Cover, rng: random.Random) -> Cover | None:
    """A page break below the name's caption."""
    caption = _caption(cover.lines)
    return _split(cover, caption[1]) if caption else None


def split_above_caption(cover: Cover, rng: random.Random) -> Cover | None:
    """A page break between the name and its caption, or between the form and the period."""
    caption = _caption(cover.lines)
    form = _line_with(cover.lines, f"form{squash(cover.form)}")
    places = [place for place in (caption and caption[0], form is not None and form + 1) if place]
    return _split(cover, rng.choice(places)) if places else None


def _split(cover: Cover, line: int) -> Cover:
    first, second = "\n".join(cover.lines[:line]), "\n".join(cover.lines[line:])
    return replace(cover, texts=(*cover.texts[: cover.page], first, second, *cover.texts[cover.page + 1 :]))


# Spaces and letters


def hard_spaces(cover: Cover, rng: random.Random) -> Cover | None:
    return cover.with_text(cover.texts[cover.page].replace(" ", "\xa0"))


def odd_spaces(cover: Cover, rng: random.Random) -> Cover | None:
    return cover.with_text(re.sub(" ", lambda _: rng.choice([" ", "\u2009", "\u2002", "\u202f", "  "]),
                                  cover.texts[cover.page]))  # fmt: skip


def soft_hyphens(cover: Cover, rng: random.Random) -> Cover | None:
    return cover.with_text(
        re.sub(r"(?<=[a-z]{2})(?=[a-z]{2})", lambda _: rng.choice(["", "", "", "\xad", "\u200b"]),
               cover.texts[cover.page], flags=re.IGNORECASE)
    )  # fmt: skip


def _spaced(text: str) -> str:
    return "   ".join(" ".join(word) for word in text.split())


def form_letterspaced(cover: Cover, rng: random.Random) -> Cover | None:
    form = squash(cover.form)
    wanted = (f"form{form}", *_SEC[:2])
    return cover.with_lines([_spaced(line) if squash(line) in wanted else line for line in cover.lines])


def name_letterspaced(cover: Cover, rng: random.Random) -> Cover | None:
    name = _name(cover)
    if name is None:
        return None
    lines = cover.lines
    lines[name[0] : name[1]] = [_spaced(line) for line in lines[name[0] : name[1]]]
    return cover.with_lines(lines)


def upper_case(cover: Cover, rng: random.Random) -> Cover | None:
    return cover.with_text(cover.texts[cover.page].upper())


def title_case(cover: Cover, rng: random.Random) -> Cover | None:
    return cover.with_text(re.sub(r"[A-Za-z]{3,}", lambda m: m[0].capitalize(), cover.texts[cover.page]))


def ligatures(cover: Cover, rng: random.Random) -> Cover | None:
    text = cover.texts[cover.page]
    return cover.with_text(text.replace("ffi", "ﬃ").replace("fi", "ﬁ").replace("ff", "ﬀ").replace("fl", "ﬂ"))


_CONFUSED = {
    "m": "rn", "l": "1", "O": "0", "o": "0", "I": "l", "S": "5", "e": "c", "i": "l", "B": "8", "1": "l", "0": "O",
}  # fmt: skip


def _noise(cover: Cover, rng: random.Random, share: float) -> Cover:
    """Letters as OCR confuses them; digits of dates only with letters that no date has."""
    name = _name(cover)
    spared = range(*name) if name else range(0)

    def noisy(number: int, line: str) -> str:
        own = share / 3 if number in spared else share
        return "".join(_CONFUSED.get(c, c) if rng.random() < own else c for c in line)

    return cover.with_lines([noisy(number, line) for number, line in enumerate(cover.lines)])


def ocr_noise(cover: Cover, rng: random.Random) -> Cover | None:
    return _noise(cover, rng, 0.03)


def heavy_ocr_noise(cover: Cover, rng: random.Random) -> Cover | None:
    return _noise(cover, rng, 0.08)


# Wording


def _respelled_form(spellings: Sequence[str]) -> Mutation:
    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        number, letter = cover.form.split("-", 1)
        lines = cover.lines
        place = next((i for i, line in enumerate(lines) if squash(line) == f"form{squash(cover.form)}"), None)
        if place is None:
            return None
        lines[place] = rng.choice(spellings).format(n=number, k=letter)
        return cover.with_lines(lines)

    return mutation


def _respelled_date(spellings: Sequence[str]) -> Mutation:
    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        day = cover.period_end
        ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(day.day, "th")
        return _with_date(cover, rng.choice(spellings).format(
            d=day.day, m=day.month, y=day.year, yy=day.year % 100, month=f"{day:%B}", mon=f"{day:%b}",
            th=ending))  # fmt: skip

    return mutation


def _respelled_period(spellings: Sequence[str]) -> Mutation:
    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        kind = {"10-K": "year", "10-Q": "quarter"}.get(cover.form)
        match = _printed_date(cover)
        if kind is None or match is None:
            return None
        text = cover.texts[cover.page]
        start = text.rfind("\n", 0, match.start()) + 1
        said = rng.choice(spellings).format(kind=kind, date=match[0])
        return cover.with_text(text[:start] + said + text[match.end() :])

    return mutation


def _checked(on: Sequence[str], off: Sequence[str]) -> Mutation:
    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        marked, blank = rng.choice(list(zip(on, off, strict=True)))
        text = cover.texts[cover.page]
        changed = re.sub(r"☒|\bx\b|þ|ý", marked, re.sub(r"☐|¨|\bo\b", blank, text))
        return cover.with_text(changed)

    return mutation


def _captioned(captions: Sequence[str]) -> Mutation:
    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        caption = _caption(cover.lines)
        if caption is None:
            return None
        lines = cover.lines
        return cover.with_lines([*lines[: caption[0]], rng.choice(captions), *lines[caption[1] :]])

    return mutation


# What stands above and around


def _headed(heads: Sequence[str]) -> Mutation:
    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        year = cover.period_end.year
        head = rng.choice(heads).format(year=year, next=year + 1, form=cover.form, company=cover.company)
        return cover.with_text(f"{head}\n{cover.texts[cover.page]}")

    return mutation


def _wrapped(pages: Sequence[int]) -> Mutation:
    """Pages of a glossy report, or of contents, before the cover."""

    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        if cover.form == "8-K":
            return None
        count = rng.choice(pages)
        title = f"{cover.period_end.year}\nAnnual Report to Shareholders\n{cover.company}"
        front = (title, _LETTER, *(rng.choice([_LETTER, _HIGHLIGHTS, "", "Our markets"]) for _ in range(count - 2)))
        return replace(cover, texts=(*front, *cover.texts), page=cover.page + count)

    return mutation


def second_registrant(cover: Cover, rng: random.Random) -> Cover | None:
    caption = _caption(cover.lines)
    if caption is None:
        return None
    lines = cover.lines
    more = ["333-98765", "Zenith Funding Corporation", "(Exact name of registrant as specified in its charter)"]
    return cover.with_lines([*lines[: caption[1]], *more, *lines[caption[1] :]])


def registrants_in_a_table(cover: Cover, rng: random.Random) -> Cover | None:
    """As groups of utilities print it: no name has a caption of its own."""
    name, caption = _name(cover), _caption(cover.lines)
    irs = _line_with(cover.lines, "identificationno", "employerid")
    if not name or not caption or irs is None or irs < caption[1] or name[1] > caption[0]:
        return None
    table = [
        "Commission", "File Number", "Registrant, State of Incorporation,", "Address and Telephone Number",
        "I.R.S. Employer", "Identification No.", "1-3526", cover.company, "(A Delaware Corporation)",
        "30 Ivan Allen Jr. Boulevard", "Springfield, Ohio 45501", "(404) 506-5000", "58-0690070",
        "1-3164", "Zenith Power Company", "(An Alabama Corporation)", "600 North 18th Street", "63-0004250",
    ]  # fmt: skip
    return cover.with_lines([*cover.lines[: name[0]], *table, *cover.lines[irs + 1 :]])


def cells_in_rows(cover: Cover, rng: random.Random) -> Cover | None:
    """State and I.R.S. number, and their captions, each side by side; file number, name and caption too."""
    name, caption = _name(cover), _caption(cover.lines)
    if not name or not caption or name[1] > caption[0] or name[0] == 0:
        return None
    lines = cover.lines
    head = [line for line in lines[max(0, name[0] - 2) : name[0]] if line.strip()]
    row = " | ".join([*head, " ".join(lines[name[0] : name[1]])])
    return cover.with_lines([*lines[: max(0, name[0] - 2)], row, *lines[caption[0] :]])


DEVELOP: dict[str, Mutation] = {
    "as it is": lambda cover, rng: cover,
    "name below caption": name_below_caption,
    "form below name": form_below_name,
    "file number first": file_number_first,
    "no name caption": without_name_caption,
    "no SEC heading": without_sec_heading,
    "no file number": without_file_number,
    "cover alone": cover_alone,
    "name broken": name_broken,
    "captions broken": captions_broken,
    "name beside caption": name_beside_caption,
    "rules between": rules_between,
    "split over pages": split_over_pages,
    "hard spaces": hard_spaces,
    "form letterspaced": form_letterspaced,
    "upper case": upper_case,
    "OCR noise": ocr_noise,
    "form respelled": _respelled_form(["Form {n}{k}", "FORM {n} {k}", "FORM {n}–{k}", "Form No. {n}-{k}"]),
    "date respelled": _respelled_date(["{month} {d}{th}, {y}", "{m}/{d}/{y}", "{d} {month} {y}", "{mon}. {d}, {y}"]),
    "period respelled": _respelled_period(
        ["For the {kind} ended {date}", "For the {kind} ended: {date}", "FOR THE {kind} (52 WEEKS) ENDED {date}",
         "Period ended {date}"]),
    "marks as letters": _checked(["x", "[X]", "þ"], ["o", "[ ]", "¨"]),
    "headed": _headed(
        ["Table of Contents", "{form} 1 d12345d.htm FORM {form}", "LAW OFFICES OF\nDOE & ROE LLP\n100 Main Street",
         "As filed with the Securities and Exchange Commission on February 10, {next}"]),
    "wrapped": _wrapped([4, 6, 8]),
    "second registrant": second_registrant,
}  # fmt: skip

HELD_OUT: dict[str, Mutation] = {
    "name first": name_first,
    "name behind state": name_behind_state,
    "period last": period_last,
    "shares first": shares_first,
    "no form name": without_form_name,
    "no period caption": without_period_caption,
    "narrow columns": narrow_columns,
    "one long line": one_long_line,
    "split above caption": split_above_caption,
    "odd spaces": odd_spaces,
    "soft hyphens": soft_hyphens,
    "name letterspaced": name_letterspaced,
    "title case": title_case,
    "ligatures": ligatures,
    "heavy OCR noise": heavy_ocr_noise,
    "form on two lines": _respelled_form(["FORM\n{n}-{k}", "{n}-{k}", "FORM {n} - {k}", "Form: {n}-{k}"]),
    "date in other words": _respelled_date(
        ["{month}\n{d},\n{y}", "{d}{th} {month} {y}", "{m}/{d}/{yy:02}", "the {d}{th} day of {month}, {y}",
         "{y}-{m:02}-{d:02}"]),
    "period in other words": _respelled_period(
        ["For the 52 weeks ended {date}", "For the fiscal period ended {date}", "{date}\n(Date of fiscal {kind} end)",
         "Fiscal {kind} ending {date}", "for its {kind}\nended\n{date}"]),
    "marks as other letters": _checked(["s", "R", "ý", "√"], ["£", "¨", "o", "_"]),
    "caption reworded": _captioned(
        ["(Name of registrant as specified in its charter)", "(Exact name of Company as set forth in its charter)",
         "Exact Name of Issuer as Specified in Its Articles of Incorporation", "(Registrant)",
         "(Exact name of the Registrant, as specified in its Declaration of Trust)"]),
    "headed otherwise": _headed(
        ["FOR IMMEDIATE RELEASE\nMedia contact: Jane Doe, (555) 010-0000\nJuly 4, {next}",
         "https://www.sec.gov/Archives/edgar/data/12345/000001234523000012/acme-20221231.htm\n2/14/{next}, 9:41 AM",
         "Morningstar® Document Research℠\nFORM {form}\n{company} - (ZZZ)\n"
         "Filed: February 12, {next} (period: December 1, {year})",
         "UNITED STATES OF AMERICA\nBEFORE FEDERAL ENERGY REGULATORY COMMISSION"]),
    "wrapped in many pages": _wrapped([12, 16, 20]),
    "registrants in a table": registrants_in_a_table,
    "cells in rows": cells_in_rows,
}  # fmt: skip


def several(kinds: Sequence[Mutation], count: int) -> Mutation:
    """``count`` of the kinds, one after the other; those that do not apply change nothing."""

    def mutation(cover: Cover, rng: random.Random) -> Cover | None:
        for kind in rng.sample(kinds, count):
            cover = kind(cover, rng) or cover
        return cover

    return mutation
