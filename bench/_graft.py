"""Puts the code of a mutant into a module that others have imported from already, and takes it out again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any


class Unimportable(Exception):  # noqa: N818 - what it is, not that it is one
    """The mutant's module cannot be imported."""


_OWN = {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "_abc_impl"}


@contextmanager
def grafted(module: ModuleType, code: CodeType) -> Iterator[None]:
    """The module as ``code`` makes it, while this lasts.

    Functions and classes stay the objects that they are and get the new one's code, so whoever holds them by
    ``from module import name``, in a registry or as an argument of a test has the mutant too. Constants that others
    imported are replaced there. Raises Unimportable, with nothing changed, if the code raises as it is imported.
    """
    fresh = ModuleType(module.__name__)
    fresh.__dict__.update({"__file__": module.__file__, "__package__": module.__package__})
    try:
        exec(code, fresh.__dict__)  # noqa: S102 - our own code, changed a little
    except Exception as error:
        raise Unimportable(f"{type(error).__name__}: {error}") from error
    with ExitStack() as undo:
        for name, new in list(vars(fresh).items()):
            if name in vars(module) and not name.startswith("__"):
                _global(module, name, new, undo)
        yield


def _global(module: ModuleType, name: str, new: Any, undo: ExitStack) -> None:
    old = getattr(module, name)
    if old is new or isinstance(new, ModuleType):
        return
    if isinstance(old, (FunctionType, type)):
        if old.__module__ == module.__name__:
            _replace(old, new, undo)
        return
    private = name.startswith("_")
    for each in [module] if private else list(sys.modules.values()):
        names = getattr(each, "__dict__", {})
        if name in names and names[name] is old:
            _set(each, name, new, undo)


def _replace(old: Any, new: Any, undo: ExitStack) -> None:
    """A function or a class by what it is made of."""
    if isinstance(old, FunctionType):
        if hasattr(old, "__wrapped__") and hasattr(new, "__wrapped__"):
            _replace(old.__wrapped__, new.__wrapped__, undo)  # what surrounds it is another module's
            return
        for part in ("__code__", "__defaults__", "__kwdefaults__"):
            _set(old, part, getattr(new, part), undo)
        return
    for name, value in list(vars(new).items()):
        if name in _OWN or name.startswith("__abstract"):
            continue
        mine = vars(old).get(name)
        if isinstance(mine, FunctionType) and isinstance(value, FunctionType):
            _replace(mine, value, undo)
        elif mine is not value:
            _set(old, name, value, undo)


def _set(owner: Any, name: str, value: Any, undo: ExitStack) -> None:
    undo.callback(_setter(owner, name, vars(owner)[name] if isinstance(owner, type) else getattr(owner, name)))
    setattr(owner, name, value)


def _setter(owner: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)
