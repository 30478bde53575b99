"""Who may join the faults that stand: looked at once its targets are known, before anything is armed or injected."""

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
from chaosk.spec.contracts.step import Fault
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Entry

log = structlog.get_logger()


class Admission:
    """The faults that were let in and are not known to be undone; usable from several threads."""

    def __init__(
        self,
        inventory: Inventory,
        allow: Allow,
        foreign: Callable[[], Sequence[ForeignPartition]],
        here: frozenset[str] = frozenset(),
    ) -> None:
        """``foreign``: the partitions that are not the scenario's, now; ``here``: the hosts chaosk itself runs on."""
        self._inventory = inventory
        self._allow = allow
        self._foreign = foreign
        self._here = here
        self._standing: dict[str, Fault] = {}
        self._lock = threading.Lock()

    def admit(self, fault: Fault, entry: Entry) -> None:
        """Let a fault in; from here on it counts. Raises StepError with why not, and what to do."""
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
        """These are over, or never began; names that were never let in are passed over."""
        with self._lock:
            for name in names:
                self._standing.pop(name, None)

    def _others(self) -> Sequence[ForeignPartition]:
        try:
            return self._foreign()
        except ChaoskError as error:
            raise StepError(
                f"refused: nobody knows what it would do to the topics of others, as the cluster does not tell: {error}"
            ) from error
