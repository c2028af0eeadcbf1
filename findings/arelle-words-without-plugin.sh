#!/bin/sh
# arelle-release 2.47.3 from PyPI, Python 3.11: a number in words of an SEC filing becomes a piece of text.
#
# SEC filings tag "three" with format ixt-sec:numwordsen. The package has the XBRL registries (ixt), not the SEC's, which
# are a plug-in of another repository. Loading such a document reports success, and the fact is there, but its `value` is
# the string "(ixTransformValueError)". The property raises no exception: the first access happened while loading, and
# what that left is handed out. Whoever collects `fact.value` of real filings gets this string among the numbers; the
# only sign is an error in the log and `xValue` None, which all facts have when the taxonomy is not at hand.
#
# Seen: run() gives True; values ['(ixTransformValueError)', '3'].
# Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check arelle-release==2.47.3 2>/dev/null
cat > "$folder/words.htm" <<'HTML'
<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"
 xmlns:ixt="http://www.xbrl.org/inlineXBRL/transformation/2020-02-12"
 xmlns:ixt-sec="http://www.sec.gov/inlineXBRL/transformation/2015-08-31"
 xmlns:link="http://www.xbrl.org/2003/linkbase" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:shop="http://example.com/shop">
<head><title>Stores</title></head><body>
<div style="display:none"><ix:header><ix:references>
<link:schemaRef xlink:type="simple" xlink:href="shop.xsd"/></ix:references><ix:resources>
<xbrli:context id="c"><xbrli:entity><xbrli:identifier scheme="http://example.com">1</xbrli:identifier></xbrli:entity>
<xbrli:period><xbrli:instant>2024-12-31</xbrli:instant></xbrli:period></xbrli:context>
<xbrli:unit id="n"><xbrli:measure>xbrli:pure</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>
<p>We have <ix:nonFraction id="a" name="shop:Stores" contextRef="c" unitRef="n" decimals="0"
format="ixt-sec:numwordsen">three</ix:nonFraction> stores, that is,
<ix:nonFraction id="b" name="shop:Stores" contextRef="c" unitRef="n" decimals="0"
format="ixt:num-dot-decimal">3</ix:nonFraction>.</p></body></html>
HTML
cat > "$folder/shop.xsd" <<'XSD'
<?xml version="1.0" encoding="UTF-8"?>
<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xbrli="http://www.xbrl.org/2003/instance"
 targetNamespace="http://example.com/shop" elementFormDefault="qualified">
<xsd:element name="Stores" id="shop_Stores" type="xbrli:integerItemType" substitutionGroup="xbrli:item"
 nillable="true" xbrli:periodType="instant"/></xsd:schema>
XSD
"$folder/venv/bin/python" - "$folder" <<'PY'
import sys

from arelle.api.Session import Session
from arelle.RuntimeOptions import RuntimeOptions
from arelle.Version import version

folder = sys.argv[1]
with Session() as session:
    options = RuntimeOptions(
        entrypointFile=f"{folder}/words.htm", internetConnectivity="offline", keepOpen=True, logFile=f"{folder}/log.txt"
    )
    ran = session.run(options)
    (model,) = session.get_models()
    values = [fact.value for fact in sorted(model.facts, key=lambda fact: fact.id)]
print("arelle-release", version, "run() gives", ran, "values", values)
sys.exit(0 if ran and values == ["(ixTransformValueError)", "3"] else 1)
PY
