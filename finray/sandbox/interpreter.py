"""Evaluates the syntax tree of a checked program. Nothing is compiled, and the only Python objects are plain values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from finray.sandbox import functions, provenance
from finray.sandbox.language import parse
from finray.sandbox.limits import Fault
from finray.sandbox.values import Budget, Value, binary, checked, compare, dict_key, element, elements, number

RESULT_NAMES = ("answer", "ans", "result")
"""A program's value is the first of these variables that it sets, otherwise that of its last statement."""


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Interpreter:
    """Runs one program. ``variables`` are its inputs, and afterwards also what it has assigned. The inputs are figures,
    and so are literals of the program that equal one of ``figures`` (see ``finray.sandbox.provenance``)."""

    def __init__(self, variables: Mapping[str, Value], figures: Collection[float] = ()) -> None:
        self.variables = {name: provenance.traced(value, provenance.FIGURE) for name, value in variables.items()}
        self.deciding: dict[float, None] = {}
        self._figures = frozenset(figures)
        self._named: set[object] = set(variables)
        self._counting = 0
        self.assigned: dict[str, None] = {}
        self.last: Value = None
        self.budget = Budget()
        self._made = self.budget.weigh
        self._line: int | None = None
        self._evaluators: dict[type[ast.expr], Callable[..., Value]] = {
            ast.Constant: self._constant,
            ast.Name: lambda node: self._variable(node.id),
            ast.Attribute: lambda node: functions.CONSTANTS[node.attr],
            ast.BinOp: lambda node: self._operate(type(node.op), self._value(node.left), self._value(node.right)),
            ast.UnaryOp: self._unary,
            ast.BoolOp: self._bool,
            ast.Compare: self._compare,
            ast.IfExp: lambda node: self._value(node.body if self._value(node.test) else node.orelse),
            ast.Call: self._call,
            ast.List: lambda node: self._made([self._value(part) for part in node.elts]),
            ast.Tuple: lambda node: self._made(tuple(self._value(part) for part in node.elts)),
            ast.Dict: self._dict,
            ast.Subscript: self._subscript,
            ast.ListComp: lambda node: self._made(self._comprehended(node.elt, node.generators)),
            ast.DictComp: self._dict_comprehension,
        }

    def run(self, tree: ast.Module) -> Value:
        """The program's value (see ``RESULT_NAMES``). Raises Fault with the line."""
        try:
            self._block(tree.body)
        except Fault as fault:
            raise fault if fault.line else Fault(fault.reason, fault.message, self._line) from None
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise Fault("failed", _reason(error), self._line) from None
        except RecursionError:
            raise Fault("limit", "nested too deeply", self._line) from None
        except (_Break, _Continue):  # the parser allows them outside a loop
            raise Fault("syntax", "break or continue outside a loop", self._line) from None
        named = next((name for name in RESULT_NAMES if name in self.assigned), None)
        return self.budget.weigh(self.last if named is None else self.variables[named])

    def ungrounded(self, value: Value) -> tuple[float, ...]:
        """The numbers that the program's ``value`` was computed from, or decided by, that are not figures."""
        return provenance.ungrounded(value, self.deciding)

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._line = statement.lineno
            self.budget.spend(1)
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=expression):
                value = self._value(expression)
                for target in targets:
                    self._assign(target, value)
                self.last = value
            case ast.AugAssign(target=target, op=operator, value=expression):
                self.last = self._augment(target, type(operator), self._value(expression))
            case ast.If(test=test, body=body, orelse=orelse):
                self._block(body if self._value(test) else orelse)
            case ast.For():
                self._for(node)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[x])):
                value, values = self._value(x), self._variable(name)
                if not isinstance(values, list):
                    raise TypeError(f"{name} is not a list")
                self.budget.spend(1)
                values.append(self._made(value))
            case ast.Expr(value=expression):
                self.last = self._value(expression)
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Pass():
                return
            case _:
                raise Fault("refused", f"`{type(node).__name__}` is not in the language", node.lineno)

    def _for(self, node: ast.For) -> None:
        for value in elements(self.budget, self._value(node.iter)):
            self._assign(node.target, value)
            try:
                with self._count(value):
                    self._block(node.body)
            except _Break:
                break
            except _Continue:
                continue

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.budget.spend(1)
                self.variables[name] = value
                self.assigned[name] = None
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = elements(self.budget, value)
                if len(parts) != len(targets):
                    raise ValueError(f"{len(parts)} values for {len(targets)} names")
                for part_target, part in zip(targets, parts, strict=True):
                    self._assign(part_target, part)
            case ast.Subscript(value=container, slice=index):
                changed, key = self._value(container), self._value(index)
                if not isinstance(changed, list | dict):
                    raise TypeError("only elements of lists and dicts can be assigned to")
                self.budget.weigh(value)
                changed[dict_key(key) if isinstance(changed, dict) else key] = value
            case _:
                raise Fault("refused", f"`{type(target).__name__}` cannot be assigned to", target.lineno)

    def _augment(self, target: ast.expr, operator: type[ast.operator], by: Value) -> Value:
        before = self._value(target)
        value = self._operate(operator, before, by)
        if isinstance(before, list):  # as in Python, all names of the list see the change
            before[:] = value
            return before
        self._assign(target, value)
        return value

    def _value(self, node: ast.expr) -> Value:
        self.budget.spend(1)
        evaluate = self._evaluators.get(type(node))
        if evaluate is None:
            raise Fault("refused", f"`{type(node).__name__}` is not in the language", node.lineno)
        return evaluate(node)

    def _variable(self, name: str) -> Value:
        if name not in self.variables:
            raise Fault("failed", f"{name!r} has no value yet")
        return self.variables[name]

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool) or node.value not in self._figures:
            return node.value
        self._named.add((node.lineno, node.col_offset))
        return provenance.traced(node.value, provenance.FIGURE)

    def _operate(self, operator: type[ast.operator], left: Value, right: Value) -> Value:
        result = binary(self.budget, operator, left, right)
        if self._counting:
            result = provenance.counted(operator, left, right, result)
        return provenance.capped(result, len(self._named))

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return not value
        result = checked(-number(value) if isinstance(node.op, ast.USub) else +number(value))
        return provenance.traced(result, provenance.origin_of(value))

    def _bool(self, node: ast.BoolOp) -> Value:
        value: Value = None
        for part in node.values:
            value = self._value(part)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _compare(self, node: ast.Compare) -> Value:
        left = self._value(node.left)
        for operator, expression in zip(node.ops, node.comparators, strict=True):
            right = self._value(expression)
            if (constant := provenance.decides(left, right)) is not None:
                self.deciding[constant] = None
            if not compare(self.budget, type(operator), left, right):
                return False
            left = right
        return True

    def _call(self, node: ast.Call) -> Value:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else cast(ast.Name, node.func).id
        if isinstance(node.func, ast.Name) and name in self.variables:
            raise TypeError(f"{name} is a variable here and cannot be called")
        match node.args:
            case [ast.GeneratorExp(elt=part, generators=generators)]:
                arguments = [self._made(self._comprehended(part, generators))]
            case _:
                arguments = [self._value(argument) for argument in node.args]
        keywords = {str(keyword.arg): self._value(keyword.value) for keyword in node.keywords}
        return provenance.capped(functions.call(self.budget, name, arguments, keywords), len(self._named))

    def _dict(self, node: ast.Dict) -> Value:
        pairs = zip(node.keys, node.values, strict=True)
        return self._made({dict_key(self._value(cast(ast.expr, key))): self._value(value) for key, value in pairs})

    def _subscript(self, node: ast.Subscript) -> Value:
        container = self._value(node.value)
        if not isinstance(node.slice, ast.Slice):
            return element(container, self._value(node.slice))
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        values = [None if bound is None else self._value(bound) for bound in bounds]
        if not isinstance(container, list | tuple):
            raise TypeError("only lists have slices")
        self.budget.spend(len(container))
        return container[slice(*values)]

    def _dict_comprehension(self, node: ast.DictComp) -> Value:
        pair = ast.Tuple([node.key, node.value], ast.Load(), lineno=node.lineno)
        pairs = self._comprehended(pair, node.generators)
        return self._made({dict_key(key): value for key, value in pairs})

    def _comprehended(self, part: ast.expr, generators: list[ast.comprehension]) -> list[Value]:
        """The elements of a comprehension. As in Python, the names that it binds end with it."""
        outside, assigned = dict(self.variables), dict(self.assigned)
        self.budget.spend(len(outside))
        found: list[Value] = []
        self._generate(part, generators, found)
        self.variables, self.assigned = outside, assigned
        return found

    def _generate(self, part: ast.expr, generators: list[ast.comprehension], found: list[Value]) -> None:
        if not generators:
            value = self._value(part)
            found.append(provenance.counted(ast.Add, 0, value, value) if self._counting else value)
            return
        first, rest = generators[0], generators[1:]
        for value in elements(self.budget, self._value(first.iter)):
            self._assign(first.target, value)
            if all(self._value(condition) for condition in first.ifs):
                with self._count(value):
                    self._generate(part, rest, found)

    @contextmanager
    def _count(self, element: Value) -> Iterator[None]:
        """Inside the block, the program works on ``element``: a sum with one term for each figure counts figures."""
        counts = provenance.holds_figure(element)
        self._counting += counts
        try:
            yield
        finally:
            self._counting -= counts


def run_source(
    source: str, variables: Mapping[str, Value], figures: Collection[float] = ()
) -> tuple[Interpreter, Value]:
    """Parse and run a program. Returns the interpreter and the program's value. Raises Fault."""
    tree = parse(source, functions.NAMES, frozenset(functions.CONSTANTS))
    interpreter = Interpreter(variables, figures)
    return interpreter, interpreter.run(tree)


def _reason(error: Exception) -> str:
    if isinstance(error, ZeroDivisionError):
        return "division by zero"
    if isinstance(error, OverflowError):
        return "a number too large for a float"
    if isinstance(error, KeyError):
        return f"no such key: {str(error)[:80]}"
    return str(error)[:200]
