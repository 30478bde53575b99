"""What became of mutants, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from everyrow.mutants import NAMES
from everyrow.reasons import reason_of


def table(lines: Iterable[Mapping[str, str]]) -> str:
    """By table of rows how many mutants left PASS, how many pass with a reason, and how many without."""
    counts: dict[str, Counter[str]] = {}
    for line in lines:
        passed = line["verdict"] == "pass"
        explained = reason_of(tuple(line[name] for name in NAMES)) is not None
        what = "noticed" if not passed else "reason" if explained else "unexplained"
        counts.setdefault(line["table"], Counter())[what] += 1
    found = [f"{'table':<16}{'mutants':>9}{'noticed':>9}{'reason':>9}{'neither':>9}"]
    for name, one in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        figures = (sum(one.values()), one["noticed"], one["reason"], one["unexplained"])
        found.append(f"{name:<16}" + "".join(f"{figure:>9,}" for figure in figures))
    return "\n".join(found)
