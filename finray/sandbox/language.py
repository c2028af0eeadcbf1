"""The language of programs of thought: turns source text into a syntax tree that holds only what is listed here.

Statements: assignments (also to an element, and ``+=``), ``if``, ``for``, ``break``, ``continue``, ``pass``,
``xs.append(x)``, and expressions. Expressions: numbers, short texts, names, arithmetic, comparisons, ``and or not``,
``a if c else b``, lists, tuples, dicts, comprehensions, elements and slices, and calls of the functions of
``finray.sandbox.functions`` by name. Everything else is refused, anywhere in the program.

A program may be the body of ``def solution():``, as HiREC's prompt asks for (arXiv 2505.20368, table 19): what it
returns is ``answer``, and what stands around the function is dropped.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from finray.sandbox import limits
from finray.sandbox.limits import Fault

_NAME = re.compile(r"(?!.*__)[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

_NUMBER = re.compile(r"(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?")
_NUMBER_CHARACTERS = 400

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_PLAIN = (
    *(ast.Module, ast.If, ast.Break, ast.Continue, ast.Pass, ast.Expr, ast.Load, ast.Store, ast.keyword),
    *(ast.BoolOp, ast.And, ast.Or, ast.Not, ast.UnaryOp, ast.UAdd, ast.USub, ast.BinOp, *_OPERATORS),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot),
    *(ast.IfExp, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.ListComp, ast.DictComp),
)
"""Nodes that are allowed wherever Python's grammar has them; all others are checked one by one."""
_NAMES_OF_NODES = {
    "Import": "import",
    "ImportFrom": "import",
    "FunctionDef": "def",
    "AsyncFunctionDef": "async def",
    "ClassDef": "class",
    "Lambda": "lambda",
    "JoinedStr": "an f-string",
    "NamedExpr": ":=",
    "Starred": "*",
    "With": "with",
    "Try": "try",
    "While": "while",
    "Attribute": "an attribute or method",
    "Delete": "del",
    "SetComp": "a set",
    "Set": "a set",
    "GeneratorExp": "a generator that is not a function's only argument",
}


def read_source(source: str) -> None:
    """Raises Fault for source that should not be parsed: too long, control characters, brackets too deep."""
    if len(source) > limits.SOURCE_CHARACTERS:
        raise Fault("limit", f"a program of {len(source):,} characters; at most {limits.SOURCE_CHARACTERS:,}")
    if found := _CONTROL.search(source.replace("\r\n", "\n")):
        raise Fault("syntax", f"control character {found[0]!r}", source.count("\n", 0, found.start()) + 1)
    if any("\ud800" <= character <= "\udfff" for character in source):
        raise Fault("syntax", "half a surrogate pair")
    depth = 0
    for index, character in enumerate(source):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(0, depth - 1)
        if depth > limits.BRACKET_DEPTH:
            line = source.count("\n", 0, index) + 1
            raise Fault("limit", f"brackets nested more than {limits.BRACKET_DEPTH} deep", line)


def parse(source: str, functions: frozenset[str], constants: frozenset[str]) -> ast.Module:
    """The syntax tree of ``source``. ``functions`` may be called, ``constants`` read from ``math``.

    Raises Fault if any of it is outside the language.
    """
    read_source(source)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise Fault("syntax", f"not a program: {error.msg}", error.lineno) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Fault("syntax", f"not a program: {type(error).__name__}") from None
    tree.body = _body_of_solution(tree.body)
    _check(tree, functions, constants)
    return tree


def _body_of_solution(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The body of ``def solution():`` without imports of ``math``, whose functions the language has; ``statements`` if
    none of them defines it."""
    for statement in reversed(statements):
        match statement:
            case ast.FunctionDef(name="solution", args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[]) as taken):
                if taken.vararg or taken.kwarg or statement.decorator_list:
                    continue
                return _with_answers([each for each in statement.body if not _imports_math(each)])
    return statements


def _with_answers(body: list[ast.stmt]) -> list[ast.stmt]:
    """``body`` with ``answer = x`` for each ``return x`` that ends it; what follows an ``if`` that returns becomes its
    ``else``. A ``return`` inside a loop stays, and is refused."""
    for number, statement in enumerate(body):
        match statement:
            case ast.Return(value=ast.expr() as value):
                answer = ast.Assign([ast.Name("answer", ast.Store())], value)
                return [*body[:number], ast.fix_missing_locations(ast.copy_location(answer, statement))]
            case ast.If(body=then, orelse=otherwise) if _returns(then) or _returns(otherwise):
                rest = body[number + 1 :]
                statement.body = _with_answers(then if _returns(then) else [*then, *rest])
                statement.orelse = _with_answers(otherwise if _returns(otherwise) else [*otherwise, *rest])
                return body[: number + 1]
    return body


def _returns(body: list[ast.stmt]) -> bool:
    """Whether ``body`` ends with a ``return`` on every path."""
    match body[-1:]:
        case [ast.Return()]:
            return True
        case [ast.If(body=then, orelse=otherwise)]:
            return _returns(then) and _returns(otherwise)
    return False


def _imports_math(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=[ast.alias(name="math", asname=None)]):
            return True
    return False


def numbers(source: str) -> set[int | float]:
    """The numbers written in ``source``, even if it does not parse, including those within names and texts."""
    found: set[int | float] = set()
    for face in _NUMBER.findall(source[: limits.SOURCE_CHARACTERS]):
        digits = face.replace("_", "")
        if len(digits) <= _NUMBER_CHARACTERS:
            found.add(int(digits) if digits.isdecimal() else float(digits))
    return found


def _check(tree: ast.Module, functions: frozenset[str], constants: frozenset[str]) -> None:
    # An explicit stack, because the tree may be deeper than Python's own.
    waiting: list[tuple[ast.AST, int, int]] = [(tree, 0, 1)]
    seen = 0
    while waiting:
        node, depth, line = waiting.pop()
        line = getattr(node, "lineno", line)
        seen += 1
        if seen > limits.TREE_NODES:
            raise Fault("limit", f"more than {limits.TREE_NODES:,} parts of syntax", line)
        if depth > limits.TREE_DEPTH:
            raise Fault("limit", f"nested more than {limits.TREE_DEPTH} deep", line)
        children = _children(node, functions, constants, line)
        waiting.extend((child, depth + 1, line) for child in reversed(children))


def _children(node: ast.AST, functions: frozenset[str], constants: frozenset[str], line: int) -> Sequence[ast.AST]:
    """The parts of ``node`` that are still to be checked."""
    match node:
        case ast.Constant(value=value):
            _check_literal(value, line)
            return ()
        case ast.Name(id=name):
            check_name(name, line)
            return ()
        case ast.Attribute(value=ast.Name(id="math"), attr=name, ctx=ast.Load()) if name in constants:
            return ()
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as xs, attr="append"), args=[x], keywords=[])):
            return (xs, x)
        case ast.Call(keywords=keywords) if any(keyword.arg is None for keyword in keywords):
            raise Fault("refused", "`**` is not in the language", line)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            return (*_call(function, arguments, functions, line), *keywords)
        case ast.Assign(targets=targets, value=value):
            _check_targets(targets, line)
            return (*targets, value)
        case ast.AugAssign(target=target, op=operator, value=value):
            _check_targets([target], line)
            return (target, operator, value)
        case ast.For(target=target, iter=values, body=body, orelse=[]):
            _check_targets([target], line)
            return (target, values, *body)
        case ast.comprehension(target=target, iter=values, ifs=conditions, is_async=0):
            _check_targets([target], line)
            return (target, values, *conditions)
        case ast.Dict(keys=keys) if None in keys:
            raise Fault("refused", "`**` is not in the language", line)
        case ast.Compare(ops=operators, comparators=compared):
            for comparison, right in zip(operators, compared, strict=True):
                nothing = isinstance(right, ast.Constant) and right.value is None
                if isinstance(comparison, ast.Is | ast.IsNot) and not nothing:
                    raise Fault("refused", "`is` is in the language only for `is None`; write ==", line)
        case ast.Dict():
            pass
        case _ if not isinstance(node, _PLAIN):
            raise Fault("refused", f"`{_node_name(node)}` is not in the language", line)
    return list(ast.iter_child_nodes(node))


def _call(
    function: ast.expr, arguments: list[ast.expr], functions: frozenset[str], line: int
) -> Sequence[ast.expr | ast.comprehension]:
    match function:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="math"), attr=name) if name in functions:
            pass
        case ast.Name(id=name):
            raise Fault(
                "refused", f"there is no function {name[:40]!r}; there are {', '.join(sorted(functions))}", line
            )
        case ast.Attribute(attr=name):
            raise Fault("refused", f"there is no method {name[:40]!r}; only `xs.append(x)` on a line of its own", line)
        case _:
            raise Fault("refused", "only functions by name can be called", line)
    match arguments:
        case [ast.GeneratorExp(elt=element, generators=generators)]:
            return (element, *generators)
    return arguments


def _check_targets(targets: Sequence[ast.expr], line: int) -> None:
    for target in targets:
        match target:
            case ast.Name():
                continue
            case ast.Subscript(slice=index) if not isinstance(index, ast.Slice):
                continue
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                _check_targets(parts, line)
            case _:
                raise Fault("refused", f"`{_node_name(target)}` cannot be assigned to in this language", line)


def _check_literal(value: object, line: int) -> None:
    if isinstance(value, str):
        if len(value) > limits.STRING_CHARACTERS:
            raise Fault("limit", f"a text of {len(value):,} characters; at most {limits.STRING_CHARACTERS:,}", line)
    elif isinstance(value, int):
        if value.bit_length() > limits.INTEGER_BITS:
            raise Fault("limit", "a number of more than 100 digits", line)
    elif isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            raise Fault("limit", "a number too large for a float", line)
    elif value is not None:
        raise Fault("refused", f"a literal of type {type(value).__name__} is not in the language", line)


def check_name(name: str, line: int | None = None) -> None:
    """Raises Fault if ``name`` is not a valid name. ``ast.parse`` has already normalized look-alikes of ASCII letters
    (NFKC)."""
    if len(name) > limits.NAME_CHARACTERS:
        raise Fault("limit", f"a name of {len(name)} characters; at most {limits.NAME_CHARACTERS}", line)
    if not _NAME.fullmatch(name):
        raise Fault(
            "refused", f"{name!r} is not a name in this language: ASCII letters, digits, no double underscore", line
        )


def _node_name(node: ast.AST) -> str:
    kind = type(node).__name__
    return _NAMES_OF_NODES.get(kind, kind)
