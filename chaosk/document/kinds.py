"""The kind of a document, derived from its keys."""

from __future__ import annotations

from pathlib import Path

from chaosk.document.load import EXPLORE, read
from chaosk.document.nodes import Mapping
from chaosk.document.parse import parse

_INVENTORY = frozenset({"hosts", "brokers", "zookeepers", "controllers", "lab", "client"})
_SCENARIO = frozenset({"timeline", "probes", "topics", "hypothesis", "expect"})


def is_inventory(path: Path) -> bool:
    """Return True if most of the file's keys are those of an inventory. Raises DocumentError if it cannot be read."""
    root, _ = parse(read(path))
    keys = root.values.keys() if isinstance(root, Mapping) else frozenset[str]()
    return len(keys & _INVENTORY) > len(keys & _SCENARIO)


def is_space(path: Path) -> bool:
    """Return True if a file is a space of sequences, not a scenario. Raises DocumentError if it cannot be read."""
    root, _ = parse(read(path))
    return isinstance(root, Mapping) and EXPLORE in root.values
