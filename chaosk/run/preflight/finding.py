"""What an examination found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from chaosk.core.errors import PreflightError
from chaosk.core.model import Model

State = Literal["ok", "warning", "unknown", "bad"]
"""``bad``: no run starts like this; ``unknown``: it could not be asked; ``warning``: a run starts all the same."""


class Finding(Model):
    """One answer."""

    where: str
    """A host by its name in the inventory, ``broker 1``, or ``cluster``."""
    what: str
    """What was examined, in a word or two."""
    state: State
    seen: str
    todo: str = ""
    """What to do about it; empty where nothing is."""

    def __str__(self) -> str:
        """On one line, for messages."""
        return f"{self.where}: {self.what}: {self.seen}" + (f"; {self.todo}" if self.todo else "")


def ok(where: str, what: str, seen: str) -> Finding:
    """All is well."""
    return Finding(where=where, what=what, state="ok", seen=seen)


def bad(where: str, what: str, seen: str, todo: str) -> Finding:
    """No run starts before this is done."""
    return Finding(where=where, what=what, state="bad", seen=seen, todo=todo)


def warning(where: str, what: str, seen: str, todo: str) -> Finding:
    """A run starts, and somebody should know."""
    return Finding(where=where, what=what, state="warning", seen=seen, todo=todo)


def unknown(where: str, what: str, why: str) -> Finding:
    """It could not be asked."""
    return Finding(where=where, what=what, state="unknown", seen=why)


def fit(findings: Iterable[Finding]) -> bool:
    """Whether a run may start."""
    return all(one.state != "bad" for one in findings)


def refuse(findings: Iterable[Finding]) -> None:
    """Raise PreflightError with every bad finding, if there is any."""
    told = [f"  {one}" for one in findings if one.state == "bad"]
    if told:
        raise PreflightError("\n".join(("the run cannot start:", *told)))
