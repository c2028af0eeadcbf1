"""Writes the facts that the XBRL processor Arelle reads from inline XBRL documents, for benchmarks/xbrl_facts.py.

    arelle-venv/bin/python benchmarks/arelle_facts.py FILING.html ... > facts.jsonl

Runs in an environment of its own with ``arelle-release`` and ``word2number`` and imports nothing of finray. Arelle
works offline: a filing's taxonomies are not at hand, so that facts have no concept, but transformation, scale, sign,
context and unit need none. The transformations of the SEC (``ixt-sec``) are a plug-in that is not published as a
package; numbers in words are therefore read by word2number.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from arelle import FunctionIxt, Version
from arelle.api.Session import Session
from arelle.RuntimeOptions import RuntimeOptions
from word2number import w2n

SEC = "http://www.sec.gov/inlineXBRL/transformation/2015-08-31"
XSI_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
_NONE = ("no", "none", "nil")


def _number_in_words(text: str) -> str:
    return "0" if text.strip().lower() in _NONE else str(w2n.word_to_num(text.strip().lower()))


def facts(path: Path) -> list[dict[str, Any]]:
    """The facts of ``path`` in document order, each as JSON."""
    with tempfile.TemporaryDirectory() as folder, Session() as session:
        options = RuntimeOptions(
            entrypointFile=str(path), internetConnectivity="offline", keepOpen=True, logFile=f"{folder}/log.txt"
        )
        session.run(options)
        (model,) = session.get_models()
        return [_fact(fact) for fact in model.facts]


def _fact(fact: Any) -> dict[str, Any]:
    numeric = fact.localName == "nonFraction"
    context, nil = fact.context, fact.get(XSI_NIL) in ("true", "1")
    row: dict[str, Any] = {
        "id": fact.get("id"),
        "concept": str(fact.qname),
        "numeric": numeric,
        "format": None if fact.format is None else fact.format.localName,
        "nil": nil,
    }
    if numeric and not nil:
        row |= {"value": _value(fact), "decimals": fact.get("decimals")}
    if context is not None:
        days = None if context.isInstantPeriod or context.isForeverPeriod else str(context.startDatetime.date())
        row |= {
            "start": days,
            "end": str(context.endDatetime),
            "members": sorted([str(axis), _member(value)] for axis, value in context.qnameDims.items()),
        }
    if numeric and fact.unit is not None:
        over, under = fact.unit.measures
        row["unit"] = [[measure.localName for measure in over], [measure.localName for measure in under]]
    return row


def _value(fact: Any) -> str | None:
    try:
        return str(fact.value)
    except Exception as error:  # noqa: BLE001 - whatever a transformation raises, it gave no value
        return f"error: {type(error).__name__}: {error}"


def _member(value: Any) -> str:
    return str(value.memberQname) if value.isExplicit else value.typedMember.stringValue.strip()


def main() -> None:
    FunctionIxt.ixtNamespaceFunctions[SEC] = {"numwordsen": _number_in_words}
    print(json.dumps({"arelle": Version.version}))
    for name in sys.argv[1:]:
        print(json.dumps({"filing": name, "facts": facts(Path(name))}))


if __name__ == "__main__":
    main()
