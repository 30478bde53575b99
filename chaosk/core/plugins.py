"""Plugins are files: each module of a package without a leading ``_`` defines one class of its contract.

A plugin's name is its file name; a class may have further ``forms``, with names of their own. Third parties add theirs
through an entry-point group (``chaosk.steps``, ``chaosk.probes``, ``chaosk.checks``, ``chaosk.targets``,
``chaosk.conditions``, ``chaosk.stop_conditions``), with one entry point per module.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TypeVar

from chaosk.core.errors import UsageError

T = TypeVar("T")


@cache
def discover(package: str, contract: type[T]) -> dict[str, type[T]]:
    """Map names to the classes of ``contract`` in ``package`` and in the entry-point group of the same kind.

    Raises UsageError with the module's name if a module does not define exactly one class of the contract, or if two
    plugins have the same name.
    """
    found: dict[str, type[T]] = {}
    for module in (*_own(package), *_foreign(package)):
        plugin = only_class(module, contract)
        forms: Mapping[str, type[T]] = getattr(plugin, "forms", dict)()
        for name, form in {file_of(plugin): plugin, **forms}.items():
            if name in found:
                taken = found[name].__module__
                raise UsageError(f"{module.__name__}: there is a {name!r} already ({taken}); rename one of the files")
            found[name] = form
    return dict(sorted(found.items()))


def name_of(plugin: type) -> str:
    """Return the name of a plugin's class: its file name, unless it is a further form of that plugin."""
    return str(vars(plugin).get("plugin_name", file_of(plugin)))


def file_of(plugin: type) -> str:
    """Return the file name of a plugin's class."""
    return plugin.__module__.rpartition(".")[2]


def only_class(module: ModuleType, contract: type[T]) -> type[T]:
    """Return the concrete class of ``contract`` in ``module``; raises UsageError unless there is exactly one."""
    theirs = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, contract) and value.__module__ == module.__name__
    ]
    classes = [value for value in theirs if not inspect.isabstract(value)]
    if len(classes) != 1:
        missing = "" if classes else "".join(f"; {_unfinished(value)}" for value in theirs)
        msg = (
            f"{module.__name__}: defines {len(classes)} classes that are a {contract.__name__}; it must be exactly one"
            f"{missing}"
        )
        raise UsageError(msg)
    return classes[0]


def _unfinished(value: type) -> str:
    """Return the methods that an abstract class of a plugin does not define, in words."""
    methods: frozenset[str] = vars(value)["__abstractmethods__"]
    return f"{value.__name__} is not complete: define {', '.join(sorted(methods))}"


def _own(package: str) -> list[ModuleType]:
    home = import_module(package)
    files = (info.name for info in pkgutil.iter_modules(home.__path__) if not info.ispkg)
    return [import_module(f"{package}.{name}") for name in files if not name.startswith("_")]


def _foreign(package: str) -> list[ModuleType]:
    group = f"chaosk.{package.rpartition('.')[2]}"
    return [_load(group, entry) for entry in entry_points(group=group)]


def _load(group: str, entry: EntryPoint) -> ModuleType:
    try:
        module = entry.load()
    except Exception as error:  # a third-party module may raise anything
        raise UsageError(f"{entry.value}: the plugin cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(module, ModuleType):
        raise UsageError(f"{entry.value}: an entry point of {group} must name a module, not {type(module).__name__}")
    return module
