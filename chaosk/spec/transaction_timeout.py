"""Transaction time-outs: the time that a run must wait to detect a hanging transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosk.core.units import spell_duration

USUAL = 60.0
"""Default of ``transaction.timeout.ms``, in seconds."""
SLACK = 30.0
"""Seconds after the time-out in which a coordinator aborts the transaction."""
_SETTING = "transaction.timeout.ms"


def timeouts(probes: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Map each transactional probe to its ``transaction.timeout.ms`` in seconds; probes as in ``plan.json``."""
    found = {}
    for name, kinds in probes.items():
        produce, transform = kinds.get("produce") or {}, kinds.get("transform")
        if produce.get("transaction"):
            found[name] = _seconds(produce.get("config") or {})
        elif transform is not None:
            found[name] = _seconds(transform.get("producer_config") or {})
    return found


def longest(probes: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the longest time-out; the default one if no probe writes in transactions."""
    return max(timeouts(probes).values(), default=USUAL)


def short(settle: float, probes: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the warning about a ``settle`` too short to detect a hanging transaction; None if it is long enough."""
    found = timeouts(probes)
    if not found:
        return None
    probe = max(found, key=lambda name: found[name])
    needed = found[probe] + SLACK
    if settle >= needed:
        return None
    return (
        f"settle: {spell_duration(settle)} is too short to detect that a transaction of {probe} hangs: that takes "
        f"{spell_duration(needed)}, its {_SETTING} and {spell_duration(SLACK)}; a run in which a last stable offset "
        "does not advance settles that long automatically"
    )


def _seconds(settings: Mapping[str, Any]) -> float:
    return float(settings.get(_SETTING, USUAL * 1_000)) / 1_000
