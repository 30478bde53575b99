"""What stands below the fields of a class in its source: their descriptions, read where somebody asks for them.

Pydantic would read them whenever a class is made (``use_attribute_docstrings``), which took every command a quarter of
its time to start; they are asked for only where a JSON Schema or a page of the reference is written.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator, Mapping
from functools import cache

from pydantic import BaseModel

Kind = type[BaseModel]
_LENT: dict[type, tuple[Kind, ...]] = {}


def of_fields(kind: Kind) -> Mapping[str, str]:
    """By field of a class the text below it, those of its bases included; none of a class without a source."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        for lender in _LENT.get(each, ()):
            found.update(of_fields(lender))
        found.update(_in_module(each.__module__).get(each.__qualname__, {}))
    return {name: text for name, text in found.items() if name in kind.model_fields}


def lend(kind: Kind, *lenders: Kind) -> None:
    """Describe the fields of a class that was not written down by those of the same names in these."""
    _LENT[kind] = lenders


@cache
def _in_module(name: str) -> dict[str, dict[str, str]]:
    """By qualified name of a class the texts below its fields."""
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    source = "".join(linecache.getlines(file))
    try:
        return dict(_classes(ast.parse(source), ""))
    except SyntaxError:  # it is no file of Python's
        return {}


def _classes(parent: ast.AST, prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    for node in ast.iter_child_nodes(parent):
        match node:
            case ast.ClassDef(name=name):
                yield prefix + name, dict(_texts(node))
                yield from _classes(node, f"{prefix}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from _classes(node, f"{prefix}{name}.<locals>.")
            case _:
                yield from _classes(node, prefix)


def _texts(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(node.body, node.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
