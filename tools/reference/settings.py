"""Generates docs/settings.md from the settings models: every setting with its type, default and docstring."""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from finray.core.settings import Settings, load_settings, preset_names
from tools.reference.tables import code, prose, table

_BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
HEAD = """<!-- Written by `make docs` from finray/core/settings/; do not edit. -->

# Settings

Settings come from a preset, your own file, the environment and `--set`; each overrides the one before:

    finray ask "…" --index my-index --preset local
    finray ask "…" --index my-index --preset mine.toml          # [retrieval] k_passages = 20
    FINRAY_RETRIEVAL__K_PASSAGES=20 finray ask "…" --index my-index
    finray ask "…" --index my-index --set retrieval.k_passages=20

`finray presets` prints them all. An unknown name or an invalid value is an error. Secrets are not settings: a setting
names the environment variable that holds a key.
"""


def settings_page(_present: str) -> str:
    return "\n\n".join([HEAD.rstrip(), *_sections(Settings, "", {}), _presets()]) + "\n"


def _sections(model: type[BaseModel], prefix: str, described: dict[type, tuple[str, BaseModel]]) -> list[str]:
    """A section for each nested model with values, outer before inner. ``described`` has the section and the defaults
    of each model that the page has described already."""
    parts = []
    for name, field in model.model_fields.items():
        nested = field.default
        if isinstance(nested, BaseModel):
            kind = type(nested)
            values = [n for n, f in kind.model_fields.items() if not isinstance(f.default, BaseModel)]
            if values:
                known = next((described[base] for base in kind.__mro__ if base in described), None)
                parts.append(_section(f"{prefix}{name}", nested, values, known))
                described.setdefault(kind, (f"{prefix}{name}", nested))
            parts += _sections(kind, f"{prefix}{name}.", described)
    return parts


def _section(name: str, defaults: BaseModel, values: list[str], known: tuple[str, BaseModel] | None) -> str:
    """With ``known``, only what differs from that section."""
    model = type(defaults)
    docstrings = _docstrings(model)
    if undescribed := [f"{model.__name__}.{value}" for value in values if value not in docstrings]:
        raise ValueError(f"no docstring below {', '.join(undescribed)}: docs/settings.md needs one for each setting")
    like = ""
    if known is not None:
        section, others = known
        before = _docstrings(type(others))
        values = [
            value
            for value in values
            if docstrings[value] != before.get(value) or getattr(defaults, value) != getattr(others, value)
        ]
        like = f"{'All' if not values else 'Other'} settings are as in [{section}](#{section.replace('.', '')})."
    rows = [
        [
            code(f"{name}.{value}"),
            _kind(model.model_fields[value]),
            code(json.dumps(getattr(defaults, value))),
            prose(docstrings[value]),
        ]
        for value in values
    ]
    parts = [f"## {name}", prose(model.__doc__), table(["setting", "type", "default", ""], rows) if rows else "", like]
    return "\n\n".join(filter(None, parts))


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The docstring below each attribute, including inherited ones."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.startswith("finray."):
            (definition,) = ast.parse(inspect.getsource(base)).body
            assert isinstance(definition, ast.ClassDef)
            for attribute, below in pairwise(definition.body):
                match attribute, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[name] = text
    return found


def _kind(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return ", ".join(code(value) for value in get_args(field.annotation))
    if get_origin(field.annotation) is Union:
        alternatives = (FieldInfo(annotation=alternative) for alternative in get_args(field.annotation))
        return ", ".join(_kind(alternative) for alternative in alternatives)
    bounds = [
        f"{sign} {getattr(each, bound):,}"
        for each in field.metadata
        for bound, sign in _BOUNDS.items()
        if getattr(each, bound, None) is not None
    ]
    return ", ".join([getattr(field.annotation, "__name__", str(field.annotation)), *bounds])


def _presets() -> str:
    """A table of the settings in which shipped presets differ from the defaults."""
    plain = _flat(Settings().model_dump())
    loaded = {name: _flat(load_settings(name, environment={}).model_dump()) for name in preset_names()}
    differing = [name for name in plain if any(values[name] != plain[name] for values in loaded.values())]
    rows = (
        [code(name), *("" if each[name] == plain[name] else code(json.dumps(each[name])) for each in loaded.values())]
        for name in differing
    )
    text = "## Presets\n\nAn empty cell is the default."
    return "\n\n".join([text, table(["setting", *map(code, loaded)], rows)])


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat
