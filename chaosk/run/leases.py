"""The leases of a run: armed on the hosts before a fault, renewed while the run lives, disarmed when all is undone.

With each renewal a host tells what it has seen of the fault meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from chaosk.core.errors import ChaoskError, StepError
from chaosk.core.parallel import together
from chaosk.hosts import lease
from chaosk.hosts.lease import Lease
from chaosk.hosts.transport._contract import Transport
from chaosk.run.clock import now
from chaosk.run.lasting import Look
from chaosk.run.renewal import Renewal
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import Deed, Fact, Fault
from chaosk.spec.scenario import Entry

log = structlog.get_logger()

DISARM_TRIES = 3


Tell = Callable[[Look], None]
"""Is told of each look."""


def nobody(_: Look) -> None:
    """Tells nobody."""


class _Kept:
    """One lease that is renewed, and up to where its host has told what it saw."""

    def __init__(self, one: Lease, seconds: float, run: Callable[[Command], Result], tell: Tell) -> None:
        self._lease = one
        self._seconds = seconds
        self._run = run
        self._tell = tell
        self._after = 0

    def renew(self) -> str | None:
        """What the host has against it, None if it did it; raises ChaoskError where it does not answer."""
        result = self._run(lease.renew(self._lease, self._seconds, self._after))
        try:
            self._take(result)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with what was seen, the lease is kept alive
            log.warning("looks", lease=self._lease.id, host=self._lease.host, problem=str(error))
        return None if result.ok else _against(result)

    def ask(self) -> None:
        """What the host saw up to now; a host that does not answer has told enough."""
        try:
            self._take(self._run(lease.looks(self._lease, self._after)))
        except ChaoskError as error:
            log.warning("looks", lease=self._lease.id, host=self._lease.host, problem=str(error))

    def _take(self, result: Result) -> None:
        for one in lease.seen(result):
            if one.number > self._after and one.fact < len(self._lease.watched):
                self._after = one.number
                self._tell(_look(self._lease.watched[one.fact], one))


def _look(fact: Fact, one: lease.Seen) -> Look:
    holds = {0: True, 1: False}.get(one.status)
    seen = one.text or f"status {one.status}"
    log.info("looked", says=fact.says, holds=holds, seen=seen, number=one.number)
    return Look(fact.says, one.earliest, one.latest, holds, seen, by_host=True, remedy=fact.remedy)


def _against(result: Result) -> str:
    return f"{result.command.host}: {result.said}"


class Leases:
    """Every lease of one run; usable from several threads."""

    def __init__(self, transport: Transport, run_id: str, by: str, longest: float) -> None:
        """``by`` says who runs it, for whoever finds a lease; ``longest``: the most seconds that one may last."""
        self._transport = transport
        self._run = run_id
        self._by = by
        self._longest = longest
        self._armed: dict[str, dict[str, Lease]] = {}
        self._renewals: dict[str, list[Renewal]] = {}
        self._kept: dict[str, list[_Kept]] = {}
        self._lock = threading.Lock()

    def arm(self, fault: Fault, entry: Entry, tell: Tell = nobody) -> None:
        """Arm a lease on each host that the fault's undo touches, all at the same time, and begin to renew them.

        ``tell`` is called, in other threads, with what hosts see of the fault from then on, also before it is in place.
        Raises StepError if any cannot be armed; those that were are disarmed then, or by a later :meth:`disarm`.
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
            if one.host not in fault.down  # kept there for whoever heals once it is up again
        }
        renewals = [Renewal(each.renew, name, seconds) for name, each in kept.items()]
        with self._lock:
            self._armed[fault.name] = lease.all_of(leases)
            self._renewals[fault.name] = renewals
            self._kept[fault.name] = list(kept.values())
        for renewal in renewals:
            renewal.start()

    def guarded(self, fault: Fault, deed: Deed) -> Deed:
        """A deed of the injection: a host refuses it once the lease has run out there."""
        return lease.guarded(deed, self._armed.get(fault.name, {}))

    def exclusive(self, fault: Fault, deed: Deed) -> Deed:
        """A deed of the undo: never at the same time as the host's own undo."""
        return lease.exclusive(deed, self._armed.get(fault.name, {}))

    def lost(self, fault: Fault) -> str | None:
        """Why a lease of the fault was not renewed in time, so that its host may have healed itself; None if none."""
        with self._lock:
            lost = [renewal.lost for renewal in self._renewals.get(fault.name, ())]
        return next((why for why in lost if why is not None), None)

    def keepers(self, fault: Fault) -> tuple[str, ...]:
        """The hosts that keep a lease of the fault and renew it, and so look at it by themselves."""
        with self._lock:
            return tuple(host for host in self._armed.get(fault.name, ()) if host not in fault.down)

    def looked(self, fault: Fault) -> None:
        """Have told what hosts saw of the fault since they were last asked; for a fault that is over, not disarmed."""
        with self._lock:
            kept = self._kept.get(fault.name, [])
        together(_Kept.ask, kept)

    def left(self) -> dict[str, float]:
        """By fault the seconds until the first of its leases would run out if it were not renewed any more."""
        with self._lock:
            return {name: min(one.left for one in each) for name, each in self._renewals.items() if each}

    def disarm(self, fault: Fault) -> str | None:
        """End the renewals and the hosts' timers; what is left armed, in words."""
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
        """Run a command for every lease at the same time; what went wrong, in words."""
        problems = together(lambda one: self._problem(command(one)), leases)
        return [why for why in problems if why is not None]

    def _problem(self, command: Command) -> str | None:
        try:
            return self._refusal(command)
        except ChaoskError as error:
            return str(error)

    def _refusal(self, command: Command) -> str | None:
        """What the host has against it, None if it did it; raises ChaoskError where it does not answer."""
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
