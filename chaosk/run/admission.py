"""Admission of a fault beside the faults in place: checked once its targets are known, before it is armed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

import structlog

from chaosk.core.errors import ChaoskError, StepError
from chaosk.planning.blast_radius import excesses, forbidden
from chaosk.planning.conflicts import contradiction
from chaosk.planning.safety import on_own_machine
from chaosk.spec.allow import Allow
from chaosk.spec.contracts.live import ForeignPartition
from chaosk.spec.contracts.step import PreparedFault
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry

log = structlog.get_logger()


class Admission:
    """The admitted faults that are not known to be undone; usable from several threads."""

    def __init__(
        self,
        inventory: Inventory,
        allow: Allow,
        foreign: Callable[[], Sequence[ForeignPartition]],
        here: frozenset[str] = frozenset(),
    ) -> None:
        """``foreign`` returns the partitions outside the scenario; ``here``: the hosts that chaosk itself runs on."""
        self._inventory = inventory
        self._allow = allow
        self._foreign = foreign
        self._here = here
        self._standing: dict[str, PreparedFault] = {}
        self._lock = threading.Lock()

    def admit(self, fault: PreparedFault, entry: Entry) -> None:
        """Admit a fault, which counts from here on. Raises StepError with the reason for a refusal, and the remedy."""
        foreign = self._others() if fault.harm else ()
        with self._lock:
            beside = list(self._standing.values())
            why = on_own_machine(fault, self._here) or contradiction(fault, entry.step.ends, beside)
            if why is None:
                standing = [one.harm for one in beside if one.step not in entry.step.ends]
                why = forbidden(excesses(self._inventory, standing, fault.harm, foreign), self._allow)
            if why is not None:
                with_it = f" with {', '.join(self._standing)} in place" if self._standing else ""
                raise StepError(f"{fault.name}: refused before anything was done{with_it}: {why}")
            self._standing[fault.name] = fault

    def forget(self, names: Iterable[str]) -> None:
        """Remove faults that are over, or never began; other names are ignored."""
        with self._lock:
            for name in names:
                self._standing.pop(name, None)

    def _others(self) -> Sequence[ForeignPartition]:
        try:
            return self._foreign()
        except ChaoskError as error:
            raise StepError(
                f"refused: its harm to topics outside the scenario is unknown, as they cannot be read: {error}"
            ) from error
