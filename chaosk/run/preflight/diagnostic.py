"""The result of an examination."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from chaosk.core.errors import PreflightError
from chaosk.core.model import Model

State = Literal["ok", "warning", "unknown", "bad"]
"""``bad``: no run can start; ``unknown``: it could not be examined; ``warning``: a run can start."""


class Diagnostic(Model):
    """One finding."""

    where: str
    """A host by its name in the inventory, ``broker 1``, or ``cluster``."""
    what: str
    """The examined item, in a word or two."""
    state: State
    seen: str
    todo: str = ""
    """The remedy; empty if there is none."""

    def __str__(self) -> str:
        """Return one line for messages."""
        return f"{self.where}: {self.what}: {self.seen}" + (f"; {self.todo}" if self.todo else "")


def ok(where: str, what: str, seen: str) -> Diagnostic:
    """Return a finding without a problem."""
    return Diagnostic(where=where, what=what, state="ok", seen=seen)


def bad(where: str, what: str, seen: str, todo: str) -> Diagnostic:
    """Return a finding that prevents a run until ``todo`` is done."""
    return Diagnostic(where=where, what=what, state="bad", seen=seen, todo=todo)


def warning(where: str, what: str, seen: str, todo: str) -> Diagnostic:
    """Return a finding that does not prevent a run."""
    return Diagnostic(where=where, what=what, state="warning", seen=seen, todo=todo)


def unknown(where: str, what: str, why: str) -> Diagnostic:
    """Return a finding for an item that could not be examined."""
    return Diagnostic(where=where, what=what, state="unknown", seen=why)


def fit(findings: Iterable[Diagnostic]) -> bool:
    """Return True if a run may start."""
    return all(one.state != "bad" for one in findings)


def refuse(findings: Iterable[Diagnostic]) -> None:
    """Raise PreflightError with every bad finding, if there is any."""
    told = [f"  {one}" for one in findings if one.state == "bad"]
    if told:
        raise PreflightError("\n".join(("the run cannot start:", *told)))
