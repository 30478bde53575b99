"""The leases of a run: armed on the hosts before a fault, renewed while the run lives, disarmed after the undo.

At each renewal a host reports its looks at the fault since the last one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from chaosk.core.errors import ChaoskError, StepError
from chaosk.core.parallel import parallel_map
from chaosk.hosts import lease
from chaosk.hosts.lease import Lease
from chaosk.hosts.transport._contract import Transport
from chaosk.run.clock import now
from chaosk.run.lasting import FactCheck
from chaosk.run.renewal import Renewal
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import Deed, Fact, PreparedFault
from chaosk.spec.scenario import Entry

log = structlog.get_logger()

DISARM_TRIES = 3


Tell = Callable[[FactCheck], None]
"""Called with each look."""


def nobody(_: FactCheck) -> None:
    """Drop the look."""


class _Kept:
    """One renewed lease, and the number of the last look that its host reported."""

    def __init__(self, one: Lease, seconds: float, run: Callable[[Command], Result], tell: Tell) -> None:
        self._lease = one
        self._seconds = seconds
        self._run = run
        self._tell = tell
        self._after = 0

    def renew(self) -> str | None:
        """Renew the lease; return the host's reason for a refusal, else None. Raises ChaoskError without an answer."""
        result = self._run(lease.renew(self._lease, self._seconds, self._after))
        try:
            self._take(result)
        except Exception as error:  # noqa: BLE001 - a malformed look must not end the renewal
            log.warning("looks", lease=self._lease.id, host=self._lease.host, problem=str(error))
        return None if result.ok else _against(result)

    def ask(self) -> None:
        """Fetch the host's looks up to now; a missing answer is only logged."""
        try:
            self._take(self._run(lease.looks(self._lease, self._after)))
        except ChaoskError as error:
            log.warning("looks", lease=self._lease.id, host=self._lease.host, problem=str(error))

    def _take(self, result: Result) -> None:
        for one in lease.seen(result):
            if one.number > self._after and one.fact < len(self._lease.watched):
                self._after = one.number
                self._tell(_look(self._lease.watched[one.fact], one))


def _look(fact: Fact, one: lease.HostObservation) -> FactCheck:
    holds = {0: True, 1: False}.get(one.status)
    seen = one.text or f"status {one.status}"
    log.info("looked", says=fact.says, holds=holds, seen=seen, number=one.number)
    return FactCheck(fact.says, one.earliest, one.latest, holds, seen, by_host=True, remedy=fact.remedy)


def _against(result: Result) -> str:
    return f"{result.command.host}: {result.said}"


class Leases:
    """Every lease of one run; usable from several threads."""

    def __init__(self, transport: Transport, run_id: str, by: str, longest: float) -> None:
        """``by``: the owner, for people who find a lease; ``longest``: the maximum duration of a lease in seconds."""
        self._transport = transport
        self._run = run_id
        self._by = by
        self._longest = longest
        self._armed: dict[str, dict[str, Lease]] = {}
        self._renewals: dict[str, list[Renewal]] = {}
        self._kept: dict[str, list[_Kept]] = {}
        self._lock = threading.Lock()

    def arm(self, fault: PreparedFault, entry: Entry, tell: Tell = nobody) -> None:
        """Arm a lease on each host that the fault's undo touches, in parallel, and start to renew them.

        ``tell`` is called from other threads with the hosts' looks at the fault from then on, also before it is in
        place. Raises StepError if any cannot be armed; the others are then disarmed, at once or by a later
        :meth:`disarm`.
        """
        leases = lease.leases(fault, self._run, self._by, time.time_ns())
        seconds = self._seconds(entry)
        problems = self._everywhere(leases, lambda one: lease.arm(one, seconds))
        if problems:
            if self._everywhere(leases, lambda one: lease.disarm(one.host, one.id)):
                with self._lock:
                    self._armed[fault.name] = lease.all_of(leases)
            raise StepError(f"{fault.name}: not injected, no lease can be armed: {'; '.join(problems)}")
        kept = {
            f"{one.id} on {one.host}": _Kept(one, seconds, self._sent, tell)
            for one in leases
            if one.host not in fault.down  # the lease stays there for the healing after its boot
        }
        renewals = [Renewal(each.renew, name, seconds) for name, each in kept.items()]
        with self._lock:
            self._armed[fault.name] = lease.all_of(leases)
            self._renewals[fault.name] = renewals
            self._kept[fault.name] = list(kept.values())
        for renewal in renewals:
            renewal.start()

    def guarded(self, fault: PreparedFault, deed: Deed) -> Deed:
        """Return a deed of the injection that a host refuses once its lease has expired."""
        return lease.guarded(deed, self._armed.get(fault.name, {}))

    def exclusive(self, fault: PreparedFault, deed: Deed) -> Deed:
        """Return a deed of the undo that never runs at the same time as the host's own undo."""
        return lease.exclusive(deed, self._armed.get(fault.name, {}))

    def lost(self, fault: PreparedFault) -> str | None:
        """Return the reason if a lease of the fault was not renewed in time, so that its host may have healed."""
        with self._lock:
            lost = [renewal.lost for renewal in self._renewals.get(fault.name, ())]
        return next((why for why in lost if why is not None), None)

    def keepers(self, fault: PreparedFault) -> tuple[str, ...]:
        """Return the hosts that keep and renew a lease of the fault, and so look at it themselves."""
        with self._lock:
            return tuple(host for host in self._armed.get(fault.name, ()) if host not in fault.down)

    def looked(self, fault: PreparedFault) -> None:
        """Fetch the hosts' remaining looks at a fault that is over but not disarmed."""
        with self._lock:
            kept = self._kept.get(fault.name, [])
        parallel_map(_Kept.ask, kept)

    def left(self) -> dict[str, float]:
        """Return the seconds by fault until the first of its leases expires without renewal."""
        with self._lock:
            return {name: min(one.left for one in each) for name, each in self._renewals.items() if each}

    def disarm(self, fault: PreparedFault) -> str | None:
        """End the renewals and the hosts' timers; return a message about leases still armed, else None."""
        with self._lock:
            renewals = self._renewals.pop(fault.name, [])
            self._kept.pop(fault.name, None)
            leases = list(self._armed.get(fault.name, {}).values())
        for renewal in renewals:
            renewal.end()
        problems: list[str] = []
        for _ in range(DISARM_TRIES):
            problems = self._everywhere(leases, lambda one: lease.disarm(one.host, one.id))
            if not problems:
                break
        with self._lock:
            if not problems:
                self._armed.pop(fault.name, None)
        return f"a lease is still armed: {'; '.join(problems)}" if problems else None

    def _seconds(self, entry: Entry) -> float:
        return lease.length(entry.lasts, self._longest)

    def _everywhere(self, leases: tuple[Lease, ...] | list[Lease], command: Callable[[Lease], Command]) -> list[str]:
        """Run a command for every lease in parallel; return the problems."""
        problems = parallel_map(lambda one: self._problem(command(one)), leases)
        return [why for why in problems if why is not None]

    def _problem(self, command: Command) -> str | None:
        try:
            return self._refusal(command)
        except ChaoskError as error:
            return str(error)

    def _refusal(self, command: Command) -> str | None:
        """Run a command; return the host's reason for a refusal, else None. Raises ChaoskError without an answer."""
        result = self._sent(command)
        return None if result.ok else _against(result)

    def _sent(self, command: Command) -> Result:
        began = now()
        result = self._transport.run(command)
        log.info(
            "lease", host=command.host, command=command.brief, status=result.exit_status,
            seconds=round((now() - began) / 1e9, 3),
        )  # fmt: skip
        return result
