"""The histories that twists start from: all that functions of the analysis's tests make without being told how."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.history import History

TESTS = Path(__file__).parents[1]
GIVEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
MOST = 1000
"""Rows of the longest history that is taken: a longer one finds no more."""
OFTEN = ("plain", "transactional", "piped", "shared", "marked")
"""Histories that every second draw takes: in them nothing is wrong yet, so that each twist matters."""
Make = Callable[[], History]


def plain() -> History:
    """Fifty records, and all went well."""
    return History(records=50)


@cache
def bases() -> dict[str, Make]:
    """By name, every function that makes a history that is short enough."""
    found: dict[str, Make] = {"plain": plain}
    for path in sorted((TESTS / "analysis").rglob("*.py")):
        if path.name != "conftest.py":
            module = import_module(".".join(path.relative_to(TESTS).with_suffix("").parts))
            found |= {_name(module, name, found): make for name, make in _makers(module)}
    return {name: make for name, make in found.items() if sum(map(len, make().rows.values())) <= MOST}


def _name(module: ModuleType, name: str, known: dict[str, Make]) -> str:
    """The function's name, with that of its file if another file has one of that name."""
    return f"{module.__name__.rpartition('.')[2]}.{name}" if name in known else name


def _makers(module: ModuleType) -> Iterator[tuple[str, Make]]:
    for name, made in vars(module).items():
        own = inspect.isfunction(made) and made.__module__ == module.__name__ and not name.startswith("test_")
        if own and _returns_history(made) and all(map(_spare, inspect.signature(made).parameters.values())):
            yield name, made


def _returns_history(made: Callable[..., Any]) -> bool:
    return made.__annotations__.get("return") in ("History", History)


def _spare(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty or parameter.kind in GIVEN
