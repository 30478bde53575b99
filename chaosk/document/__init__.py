"""YAML files into typed values: all mistakes of a file at once, each with its line, its path and its remedy.

The stages of a file::

    bytes -> parse      nodes with line and column; YAML's traps are refused
          -> variants   several experiments of one file, each handled separately from here on
          -> variables  ``${name}`` replaced
          -> blocks     repeated entries, as they are written
          -> shape      names, kinds and ranges of values, from the typed fields (pydantic)
          -> references names that must exist, expressions that must parse, mutual exclusions
          -> rounds     one entry for each round of a repeated entry
          -> Scenario | Inventory | LabLayout

Nothing here connects to anything.
"""

from __future__ import annotations

from chaosk.document.load import load_inventory, load_scenario, load_variants
from chaosk.document.problems import DocumentError, Problem

__all__ = ["DocumentError", "Problem", "load_inventory", "load_scenario", "load_variants"]
