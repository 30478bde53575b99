"""Faults in place, for people: targets, duration, and remaining time of leases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chaosk.run.clock import now
from chaosk.run.fault_progress import FaultProgress


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """One fault that is not over."""

    name: str
    step: str
    targets: str
    state: str
    """``injecting``, ``in place``, ``undoing`` or ``NOT HEALED``."""
    seconds: float
    """Seconds in this state."""
    lease: float | None
    """Seconds until its host would undo it without chaosk; None if no host keeps a renewed lease."""


def active_faults(lives: Iterable[FaultProgress], leases: Mapping[str, float]) -> tuple[ActiveFault, ...]:
    """Return those of ``lives`` that are not over and undone; ``leases``: remaining seconds by fault."""
    return tuple(_standing(life, leases.get(life.fault.name)) for life in lives if not (life.over and life.undone))


def _standing(life: FaultProgress, lease: float | None) -> ActiveFault:
    state, since = _state(life)
    return ActiveFault(life.fault.name, life.fault.step, life.fault.whom, state, (now() - since) / 1e9, lease)


def _state(life: FaultProgress) -> tuple[str, int]:
    if life.over:
        return "NOT HEALED", life.heal_invoked or life.invoked
    if life.heal_invoked is not None:
        return "undoing", life.heal_invoked
    return ("in place", life.applied) if life.applied is not None else ("injecting", life.invoked)
