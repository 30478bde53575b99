"""Why some rows carry nothing: mutants that pass, and rightly."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Reason:
    """Why mutants pass; ``*`` stands for anything, ``|`` is between those that it holds for."""

    table: str
    kind: str
    operator: str
    why: str
    workload: str = "*"
    way: str = "*"

    def holds(self, name: tuple[str, ...]) -> bool:
        """Whether it is said of a mutant of this name."""
        workload, table, kind, operator, way = name
        pairs = (
            (self.workload, workload), (self.table, table), (self.kind, kind), (self.operator, operator),
            (self.way, way),
        )  # fmt: skip
        return all(any(fnmatchcase(word, one) for one in pattern.split("|")) for pattern, word in pairs)


REASONS: tuple[Reason, ...] = ()


def reason_of(name: tuple[str, ...]) -> Reason | None:
    """The first reason that is said of a mutant; None if there is none."""
    return next((reason for reason in REASONS if reason.holds(name)), None)
