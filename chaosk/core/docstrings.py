"""Docstrings of a class's fields, read from its source on demand.

Pydantic's ``use_attribute_docstrings`` would read them whenever a class is made, which took a quarter of the start-up
time of every command. They are needed only to write a JSON Schema or a page of the reference.
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
    """Map each field of a class to its docstring, base classes included; empty for a class without source."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        for lender in _LENT.get(each, ()):
            found.update(of_fields(lender))
        found.update(_in_module(each.__module__).get(each.__qualname__, {}))
    return {name: text for name, text in found.items() if name in kind.model_fields}


def lend(kind: Kind, *lenders: Kind) -> None:
    """Describe the fields of a class made at run time by the fields of the same names in ``lenders``."""
    _LENT[kind] = lenders


@cache
def _in_module(name: str) -> dict[str, dict[str, str]]:
    """Map qualified class names of a module to the docstrings of their fields."""
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    source = "".join(linecache.getlines(file))
    try:
        return dict(_classes(ast.parse(source), ""))
    except SyntaxError:  # not a Python file
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
