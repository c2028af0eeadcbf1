#!/bin/sh
# XBRL Transformation Registry 4 (and 5), with arelle-release 2.47.3 from PyPI, Python 3.11: "1,5" becomes 15.
#
# Registry 3's numdotdecimal takes a comma only between groups of three digits, so a decimal comma that slips into an
# English document ("1,5") is an error. Its successor in registry 4, num-dot-decimal, takes commas anywhere and drops
# them: the same text is valid and means 15, ten times what is printed, and "1,2,3" is 123. num-comma-decimal does the
# same with points: "1.5" is 15. A filing that moves from registry 3 to 4 loses this check without a word.
#
# Seen: registry 3 rejects both texts; registries 4 and 5 read ['15', '123', '15'].
# Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check arelle-release==2.47.3 2>/dev/null
"$folder/venv/bin/python" - <<'PY'
import builtins
import sys

from arelle.formula.XPathContext import FunctionArgType
from arelle.FunctionIxt import ixtNamespaceFunctions
from arelle.Version import version

builtins._ = str  # Arelle's messages want a translation
REGISTRY = "http://www.xbrl.org/inlineXBRL/transformation/"


def read(date: str, name: str, text: str) -> str:
    try:
        return ixtNamespaceFunctions[REGISTRY + date][name](text)
    except FunctionArgType:
        return "rejected"


old = [read("2015-02-26", "numdotdecimal", text) for text in ("1,5", "1,2,3")]
old.append(read("2015-02-26", "numcommadecimal", "1.5"))
new = {
    date: [read(date, "num-dot-decimal", text) for text in ("1,5", "1,2,3")] + [read(date, "num-comma-decimal", "1.5")]
    for date in ("2020-02-12", "2022-02-16")
}
print("arelle-release", version, "registry 3:", old, "registries 4 and 5:", new)
same = set(old) == {"rejected"} and all(texts == ["15", "123", "15"] for texts in new.values())
sys.exit(0 if same else 1)
PY
