"""Small changes of a module's code, each of which some test ought to notice.

Ours, because what decides in a check are calls of Spark (a filter, a kind of join, a lowest for a highest), which the
operators of mutation tools leave alone, while most of what they change (any string, any argument) makes a query that
Spark refuses at once: such mutants are killed by everything and prove nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

Changes = Iterator[ast.AST]

_BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_NEGATED = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
}  # fmt: skip
_PAIRS = (
    ("min", "max"), ("min_by", "max_by"), ("least", "greatest"), ("minimum", "maximum"), ("lead", "lag"),
    ("isNull", "isNotNull"), ("any", "all"), ("asc", "desc"), ("bool_or", "bool_and"),
    ("unboundedPreceding", "unboundedFollowing"),
)  # fmt: skip
_SWAPPED = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
_JOINS = {
    "inner": ("left", "left_anti"), "left": ("inner",), "left_anti": ("left_semi",), "left_semi": ("left_anti",),
    "full": ("inner",),
}  # fmt: skip
_DROPPED = {"filter", "where", "withColumn", "withColumns", "distinct", "dropDuplicates", "cast", "unionByName"}
_SMALL = 100
_SEVERITIES = {"violation": "allowed", "allowed": "violation", "unproven": "violation", "information": "violation"}
_SAID = {"rule", "also", "title", "counted", "tables", "order", "screens", "suspects"}
"""Fields of a check that name and describe it, or only spare it work."""


@dataclass(frozen=True)
class Mutant:
    """One change. ``number`` counts the changes of the module."""

    number: int
    line: int
    operator: str
    was: str
    became: str
    code: CodeType


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its lines and always the same; the tree is put back after each."""
    tree = ast.parse(path.read_text("utf-8"))
    number = 0
    for parent, field, place, node in list(_nodes(tree)):
        for operator, change in OPERATORS.items():
            for new in change(node):
                ast.copy_location(new, node)
                _put(parent, field, place, new)
                code = compile(ast.fix_missing_locations(tree), str(path), "exec")
                _put(parent, field, place, node)
                yield Mutant(number, _line(node), operator, _text(node), _text(new), code)
                number += 1


def identity(path: Path) -> Mutant:
    """The mutant that changes nothing, which no test may kill."""
    return Mutant(-1, 0, "identity", "", "", compile(path.read_text("utf-8"), str(path), "exec"))


def _line(node: ast.AST) -> int:
    """Where a node ends: of a chain of calls over several lines that is the call itself."""
    return getattr(node, "end_lineno", 0) if isinstance(node, ast.Call) else getattr(node, "lineno", 0)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _nodes(parent: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node that may change, with where it hangs: no docstrings, annotations, decorators, words, messages."""
    for field, value in ast.iter_fields(parent):
        if field in {"annotation", "returns", "decorator_list", "args"} and not isinstance(parent, ast.Call):
            continue
        for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and not _only_says(node):
                yield parent, field, place, node
                yield from _nodes(node)


def _only_says(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in _SAID for target in node.targets)
    bare = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return bare or isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr))


# --- operators --------------------------------------------------------------------------------------------------------


def _boundary(node: ast.AST) -> Changes:
    yield from _compared(node, _BOUNDARY)


def _negated(node: ast.AST) -> Changes:
    yield from _compared(node, _NEGATED)


def _compared(node: ast.AST, words: dict[type[ast.cmpop], type[ast.cmpop]]) -> Changes:
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in words:
                changed = [*node.ops[:place], words[type(operator)](), *node.ops[place + 1 :]]
                yield ast.Compare(node.left, changed, node.comparators)


def _arithmetic(node: ast.AST) -> Changes:
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _half(node: ast.AST) -> Changes:
    """One condition of several is gone."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        yield from (node.left, node.right)
    elif isinstance(node, ast.BoolOp):
        yield from node.values


def _plain(node: ast.AST) -> Changes:
    """A ``~`` or a ``not`` is gone."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.Not)):
        yield node.operand


def _constant(node: ast.AST) -> Changes:
    """A small number is one more and one less; of a large one (nanoseconds) twice and half are worth telling apart."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        small = node.value < _SMALL
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1)) if small else (
            ast.Constant(node.value * 2), ast.Constant(type(node.value)(node.value / 2)),
        )  # fmt: skip


def _severity(node: ast.AST) -> Changes:
    if isinstance(node, ast.Constant) and node.value in _SEVERITIES:
        yield ast.Constant(_SEVERITIES[str(node.value)])


def _opposite(node: ast.AST) -> Changes:
    """The lowest for the highest, the one after for the one before."""
    if isinstance(node, ast.Attribute) and node.attr in _SWAPPED:
        yield ast.Attribute(node.value, _SWAPPED[node.attr], node.ctx)
    elif isinstance(node, ast.Name) and node.id in _SWAPPED and isinstance(node.ctx, ast.Load):
        yield ast.Name(_SWAPPED[node.id], node.ctx)


def _join(node: ast.AST) -> Changes:
    if isinstance(node, ast.keyword) and node.arg == "how" and isinstance(node.value, ast.Constant):
        yield from (ast.keyword("how", ast.Constant(kind)) for kind in _JOINS.get(str(node.value.value), ()))


def _dropped(node: ast.AST) -> Changes:
    """A call in a chain is gone."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DROPPED:
        yield node.func.value


def _argument(node: ast.AST) -> Changes:
    """One of the values of a coalesce is gone, one of the cases of a meaning; a condition is the opposite."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in {"coalesce", "meaning"} and (len(node.args) > 1 or node.keywords):
        for place in range(len(node.args)):
            yield ast.Call(node.func, [*node.args[:place], *node.args[place + 1 :]], node.keywords)
    elif name == "when":
        yield ast.Call(node.func, [ast.UnaryOp(ast.Invert(), node.args[0]), *node.args[1:]], node.keywords)


def _branch(node: ast.AST) -> Changes:
    """An early return does not happen, or always does; a value chosen is always the one, or the other."""
    if isinstance(node, ast.If):
        yield from (ast.If(ast.Constant(value), node.body, node.orelse) for value in (True, False))
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


def _returned(node: ast.AST) -> Changes:
    """Nothing is returned, or no row: what a glance answers becomes no and yes."""
    if isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and not node.value.value):
            yield ast.Return(ast.Constant(None))
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "bool":
            yield ast.Return(ast.Constant(value=True))


OPERATORS: dict[str, Callable[[ast.AST], Changes]] = {
    "boundary": _boundary, "negated": _negated, "arithmetic": _arithmetic, "half": _half, "plain": _plain,
    "constant": _constant, "severity": _severity, "opposite": _opposite, "join": _join, "dropped": _dropped,
    "argument": _argument, "branch": _branch, "returned": _returned,
}  # fmt: skip
"""By name, what changes a node: the changed ones."""
