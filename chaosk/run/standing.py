"""The faults that are not over, for people: what is being done to whom, since when, and how long a lease would last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chaosk.run.clock import now
from chaosk.run.life import Life


@dataclass(frozen=True, slots=True)
class Standing:
    """One fault that is not over."""

    name: str
    step: str
    targets: str
    state: str
    """``injecting``, ``in place``, ``undoing`` or ``NOT HEALED``."""
    seconds: float
    """How long it has been so."""
    lease: float | None
    """Seconds until its host would undo it if chaosk were gone; None where no host keeps a lease that is renewed."""


def standing(lives: Iterable[Life], leases: Mapping[str, float]) -> tuple[Standing, ...]:
    """Those of ``lives`` that are not over and undone; ``leases``: by fault the seconds that are left."""
    return tuple(_standing(life, leases.get(life.fault.name)) for life in lives if not (life.over and life.undone))


def _standing(life: Life, lease: float | None) -> Standing:
    state, since = _state(life)
    return Standing(life.fault.name, life.fault.step, life.fault.whom, state, (now() - since) / 1e9, lease)


def _state(life: Life) -> tuple[str, int]:
    if life.over:
        return "NOT HEALED", life.heal_invoked or life.invoked
    if life.heal_invoked is not None:
        return "undoing", life.heal_invoked
    return ("in place", life.applied) if life.applied is not None else ("injecting", life.invoked)
