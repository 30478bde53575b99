"""Contradictions between two faults that would be in place at the same time. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from chaosk.spec.contracts.step import PreparedFault, Run


def contradiction(new: PreparedFault, ends: tuple[str, ...], standing: Iterable[PreparedFault]) -> str | None:
    """Return the reason and remedy if a fault cannot join the ``standing`` ones; None if it can.

    Two faults that change the same object contradict: neither could be verified, and undoing one would undo the other.
    A step that ``ends`` a kind of fault may do so if it ends all of it. No other fault can last on a host that goes
    down.
    """
    for other in standing:
        if (host := _shaken(new, other)) is not None:
            return (
                f"{host} goes down by one of {other.name} ({other.step}) and {new.name} ({new.step}), and the other "
                f"acts on it: that would not outlast the boot; start it `after: {{entry: {other.name}, is: healed}}`, "
                "or aim at something else"
            )
        shared = [what for what in new.holds if what in other.holds]
        if not shared:
            continue
        if other.step not in ends:
            return (
                f"{shared[0]} is already affected by {other.name} ({other.step}) until that is undone; start it "
                f"`after: {{entry: {other.name}, is: healed}}`, or aim at something else"
            )
        left = [str(node) for node in other.targets if node not in new.targets]
        if left:
            return (
                f"{new.step} would end a part of {other.name} only ({other.step}), which needs {', '.join(left)} as "
                "well; aim at all of its targets"
            )
    return None


def _shaken(one: PreparedFault, two: PreparedFault) -> str | None:
    """Return a host that one of the two takes down and the other acts on; None if there is none."""
    for faller, other in ((one, two), (two, one)):
        touched = {deed.command.host for deed in (*other.inject, *other.undo) if isinstance(deed, Run)}
        if found := [host for host in faller.down if host in touched]:
            return found[0]
    return None
