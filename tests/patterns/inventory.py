"""Every regular expression of finray: the objects of its modules, the arguments of its calls of ``re``, and what its
cached functions make of data files."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
ANCHORED = frozenset(["match", "fullmatch"])
"""Methods that try only one position of a text."""
_METHODS = ANCHORED | {"search", "split", "findall", "finditer", "sub", "subn"}
_FLAGS_AT = {"split": 3, "sub": 4, "subn": 4}
"""Position of the flags in calls of ``re`` where they do not follow pattern and text."""


@dataclass(frozen=True, slots=True)
class Found:
    """``methods`` of ``pattern`` that the code calls; empty if unknown."""

    file: str
    name: str
    pattern: re.Pattern[Any]
    methods: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unread:
    """A call of ``re`` in ``file`` whose ``pattern``, given as source, is built at run time."""

    file: str
    pattern: str


def inventory() -> tuple[list[Found], list[Unread]]:
    """All patterns, each once, and the calls whose patterns must be given as examples."""
    nodes = {file: list(ast.walk(ast.parse(text))) for file, text in _sources()}
    used = _used_methods(nodes)
    found: dict[tuple[Any, int], Found] = {}
    unread: list[Unread] = []
    for file, own in nodes.items():
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        calls = [node for node in own if isinstance(node, ast.Call) and _function(node)]
        objects = _objects(module)
        each = [Found(file, name, pattern, used.get(_scope(file, name), frozenset())) for name, pattern in objects]
        for call in calls:
            pattern = _compiled(call, module)
            if pattern is not None:
                each.append(Found(file, f"line {call.lineno}", pattern, frozenset([_function(call)]) & _METHODS))
            elif _function(call) != "escape":
                unread.append(Unread(file, ast.unparse(call.args[0])))
        for one in each:
            before = found.setdefault((one.pattern.pattern, one.pattern.flags), one)
            if before is not one and one.methods and before.methods:
                together = dataclasses.replace(before, methods=before.methods | one.methods)
                found[one.pattern.pattern, one.pattern.flags] = together
    return list(found.values()), list(dict.fromkeys(unread))


def _sources() -> Iterator[tuple[str, str]]:
    """(path from the root, text) of each module that imports ``re``."""
    for file in sorted(path for folder in ("finray", "serve") for path in (ROOT / folder).rglob("*.py")):
        text = file.read_text("utf-8")
        assert not re.search(r"^\s*(?:from re import|import re as)", text, re.M), f"{file}: write `import re`"
        if re.search(r"^\s*import re$", text, re.M):
            yield str(file.relative_to(ROOT)), text


def _function(call: ast.Call) -> str:
    """ "search" of ``re.search(…)``, "" of any other call."""
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re":
        return function.attr if function.attr in _METHODS | {"compile"} else ""
    return ""


def _used_methods(nodes: Mapping[str, Sequence[ast.AST]]) -> dict[str, frozenset[str]]:
    """Constant -> methods called on it; nothing if it is also used in another way."""
    called: dict[str, set[str]] = {}
    passed: set[str] = set()
    for file, own in nodes.items():
        owners = set()
        for node in own:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _METHODS:
                called.setdefault(_scope(file, node.value.id), set()).add(node.attr)
                owners.add(node.value)
        for node in own:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in owners:
                passed.add(_scope(file, node.id))
    return {name: frozenset(methods) for name, methods in called.items() if name not in passed}


def _scope(file: str, name: str) -> str:
    """``name``, qualified by its file if private."""
    return f"{file}:{name}" if name.startswith("_") else name


def _compiled(call: ast.Call, module: ModuleType) -> re.Pattern[Any] | None:
    """The pattern of a call if its arguments are constants of ``module``, else None."""
    name = _function(call)
    at = _FLAGS_AT.get(name, 1 if name == "compile" else 2)
    flags = next((keyword.value for keyword in call.keywords if keyword.arg == "flags"), None)
    flags = flags or (call.args[at] if len(call.args) > at else ast.Constant(0))
    try:
        pattern, value = (eval(ast.unparse(each), vars(module)) for each in (call.args[0], flags))  # noqa: S307 - our own source
    except (NameError, AttributeError):
        return None
    return re.compile(pattern, value)


def _objects(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """(name, pattern) of the patterns of ``module``: constants, and results of cached functions without arguments."""
    for name, value in vars(module).items():
        if inspect.isfunction(getattr(value, "__wrapped__", None)) and hasattr(value, "cache_info"):
            if value.__module__ != module.__name__ or inspect.signature(value).parameters:
                continue
            value = value()
        yield from ((name, pattern) for pattern in _patterns_in(value))


@functools.singledispatch
def _patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _patterns_in(getattr(value, field.name))


@_patterns_in.register
def _(value: re.Pattern) -> Iterator[re.Pattern[Any]]:  # type: ignore[type-arg]
    yield value


@_patterns_in.register(tuple)
@_patterns_in.register(list)
def _(value: Iterable[object]) -> Iterator[re.Pattern[Any]]:
    for each in value:
        yield from _patterns_in(each)


@_patterns_in.register
def _(value: Mapping) -> Iterator[re.Pattern[Any]]:  # type: ignore[type-arg]
    for each in value.values():
        yield from _patterns_in(each)
