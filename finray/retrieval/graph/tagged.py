"""Finds entities and relations by rules, without a language model: the company, its line items, names in prose."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from finray.core.filing import Filing, LineItem
from finray.core.question_fields import excerpt, single_spaced
from finray.filings.pages.sentences import page_sentences
from finray.retrieval.graph.parts import MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Entity, FilingGraph, Relation, merged

MAX_LINES: Final = 120
"""Line items of a filing that become entities: those of the primary statements first, then tagged and frequent ones."""
MAX_NAMES: Final = 40
MAX_PAIRS: Final = 40
_FIGURES = 3
_SENTENCE_CHARACTERS = 160
_NAME = re.compile(r"\b[A-Z][\w&’'-]*(?:\s(?:of|and|the|for|&)(?=\s[A-Z])|\s[A-Z][\w&’'-]*){1,5}")
_LEADING = re.compile(
    r"(?:The|Our|We|In|On|At|As|For|See|Refer to|Effective|During|This|These|Such|Each|All|Any|Its)\s"
)
"""Words that open a sentence rather than a name."""
_LETTERS = re.compile(r"[A-Za-z]{3}")


def tagged_graph(
    filing: Filing, summary: str, pages: Sequence[tuple[int, str, str]], lines: Sequence[LineItem]
) -> FilingGraph:
    """The graph of a filing from its cover ``summary``, its (number, text, headings) ``pages`` and its line items."""
    company = Entity(filing.company, "organization", summary[:MAX_TEXT_CHARACTERS], tuple(p for p, _, _ in pages[:1]))
    entities, relations = [company], []
    for label, own in _chosen_lines(lines).items():
        entity = _line_entity(label, own, filing)
        entities.append(entity)
        keywords = ", ".join(dict.fromkeys(filter(None, (*(line.statement for line in own), own[0].section))))
        relations.append(Relation(company.name, label, "", excerpt(keywords, 120), float(len(own)), entity.pages))
    headings = {page: heading.partition("\n")[0] for page, _, heading in pages}

    def relation(source: str, target: str, sentence: str, found: Mapping[int, None]) -> Relation:
        keywords = excerpt(headings.get(next(iter(found)), ""), 120)
        return Relation(source, target, sentence, keywords, float(len(found)), tuple(found))

    named, pairs = _names(pages)
    for name, (sentence, found) in named.items():
        entities.append(Entity(name, "name", sentence, tuple(found)))
        relations.append(relation(company.name, name, sentence, found))
    for (first, second), (sentence, found) in pairs.items():
        relations.append(relation(first, second, sentence, found))
    return merged(entities, relations)


def _chosen_lines(lines: Sequence[LineItem]) -> Mapping[str, list[LineItem]]:
    """The line items of the most important labels, by label."""
    by_label: defaultdict[str, list[LineItem]] = defaultdict(list)
    for line in lines:
        label = single_spaced(line.label)[:MAX_NAME_CHARACTERS]
        if _LETTERS.search(label):
            by_label[label].append(line)

    def rank(entry: tuple[str, list[LineItem]]) -> tuple[bool, bool, int]:
        own = entry[1]
        return (not any(x.statement for x in own), not any(x.concept for x in own), -len(own))

    return dict(sorted(by_label.items(), key=rank)[:MAX_LINES])


def _line_entity(label: str, own: Sequence[LineItem], filing: Filing) -> Entity:
    dated = [f"{x.text} ({x.period_end})" if x.period_end else x.text for x in own]
    figures = "; ".join(dict.fromkeys(dated[:_FIGURES]))
    year = f" {filing.fiscal_year}" if filing.fiscal_year else ""
    text = f"{label} of {filing.company}, {filing.form}{year}: {figures}"
    return Entity(label, "line item", text[:MAX_TEXT_CHARACTERS], tuple(dict.fromkeys(x.page for x in own)))


Places = tuple[str, dict[int, None]]
"""The first sentence with a name or pair, and the pages that have one."""


def _names(pages: Sequence[tuple[int, str, str]]) -> tuple[dict[str, Places], dict[tuple[str, str], Places]]:
    """Capitalized phrases of two to six words that occur in more than one sentence, and pairs in one sentence."""
    counts: Counter[str] = Counter()
    pair_counts: Counter[tuple[str, str]] = Counter()
    places: dict[str, Places] = {}
    pair_places: dict[tuple[str, str], Places] = {}
    for page, text, heading in pages:
        for sentence in page_sentences(text, heading):
            written = single_spaced(sentence.text)
            bare = (_LEADING.sub("", name) for name in _NAME.findall(written))
            names = list(dict.fromkeys(name for name in bare if " " in name))[:8]
            for name in names:
                counts[name] += 1
                places.setdefault(name, (excerpt(written, _SENTENCE_CHARACTERS), {}))[1][page] = None
            for pair in itertools.combinations(sorted(names), 2):
                pair_counts[pair] += 1
                pair_places.setdefault(pair, (excerpt(written, _SENTENCE_CHARACTERS), {}))[1][page] = None
    kept = {name: places[name] for name, count in counts.most_common(MAX_NAMES) if count > 1}
    among = (pair for pair, _ in pair_counts.most_common() if pair[0] in kept and pair[1] in kept)
    return kept, {pair: pair_places[pair] for pair in itertools.islice(among, MAX_PAIRS)}
