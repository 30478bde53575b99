"""YAML files in, typed values out: every mistake of a file at once, each with its line, its path and what to write.

The way of a file::

    bytes -> parse      nodes with line and column; YAML's traps are refused
          -> variants   several experiments of one file, each of them then on its own
          -> variables  ``${name}`` replaced
          -> blocks     what is repeated, as it is written
          -> shape      names, kinds and ranges of values, from the typed fields (pydantic)
          -> references names that must exist, expressions that must parse, what excludes what
          -> rounds     the entries of each round as entries of their own
          -> Scenario | Inventory | LabLayout

Nothing here connects to anything.
"""

from __future__ import annotations

from chaosk.document.load import load_inventory, load_scenario, load_variants
from chaosk.document.problems import DocumentError, Problem

__all__ = ["DocumentError", "Problem", "load_inventory", "load_scenario", "load_variants"]
