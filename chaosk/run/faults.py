"""The life of one fault: aim, journal, lease, inject, verify, watch, verify again, undo, verify the undo.

On every exit, :meth:`Faults.heal_all` undoes all faults still in place, last in, first out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import structlog

from chaosk.core.errors import ChaoskError, StepError
from chaosk.hosts.lease import watched_on
from chaosk.run.clock import Interrupted, now, sleep_until
from chaosk.run.executor import Executor
from chaosk.run.fault_progress import FaultProgress
from chaosk.run.journal import Journal
from chaosk.run.lasting import FactCheck, lasted
from chaosk.run.leases import Leases
from chaosk.run.vigil import Vigil, as_look
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.step import Deed, Fact, PreparedFault
from chaosk.spec.scenario import Entry

log = structlog.get_logger()

HEAL_WITHIN = 120.0
"""Seconds for which the undo of one fault is retried before it counts as not healed."""
RETRY_AFTER = 1.0
"""Seconds between two tries."""
_NEVER = threading.Event()
"""Never set: nothing interrupts healing."""


def _nobody(_: str) -> None:
    """Drop the message."""


class Faults:
    """Every fault of a run. Each is driven by one thread; any thread may heal."""

    def __init__(
        self, hands: Executor, journal: Journal, leases: Leases, record: Callable[[FaultProgress], None],
        say: Callable[[str], None] = _nobody,
    ) -> None:  # fmt: skip
        """``say`` prints a message at once."""
        self._hands = hands
        self._journal = journal
        self._leases = leases
        self._record = record
        self._say = say
        self._lives: list[FaultProgress] = []
        self._lock = threading.Lock()

    def inject(self, fault: PreparedFault, entry: Entry, stop: threading.Event) -> FaultProgress:
        """Journal, inject and verify; raises StepError if it did not take, Interrupted if the run is stopped."""
        life = FaultProgress(fault, invoked=now())
        try:
            self._require(life, fault.before, stop)
            superseded = self._superseded(entry, fault)
            self._arm(life, entry)
            life.invoked = now()
            for deed in fault.inject:
                self._hands.do(self._leases.guarded(fault, deed), stop)
            first = tuple(fact for fact in fault.verify if not fact.last)
            applied = self._require(life, first, stop, verifies=True)
        except ChaoskError as error:
            self._fail(life, error)
            raise
        life.applied = applied
        life.verified = now()
        life.took = True
        self._watch(life)
        for other in superseded:
            self._finish(other)
        if not entry.step.lasting:
            life.armed = False
            self._close(life)
        return life

    def end(self, life: FaultProgress) -> None:
        """Verify that the fault is still in place, then undo it and verify the undo; never raises.

        A fault that cannot be undone now stays open: :meth:`heal_all` tries again once all others are undone.
        """
        with life.lock:
            if life.over:
                return
            self._look_again(life)
            self._undo(life)
            if life.undone:
                self._close(life)

    def heal_all(self) -> tuple[str, ...]:
        """Undo all faults in place, last in, first out; return the problems of those not undone, on every call.

        All deeds come first, then all facts: a broker does not return while an older fault keeps its host cut off.
        """
        with self._lock:
            lives = [life for life in reversed(self._lives) if not life.over]
        lifted = [self._lift(life) for life in lives]
        for life, done in zip(lives, lifted, strict=True):
            with life.lock:
                self._undo(life, lifted=done)
                self._close(life)
        self._disarm_late()
        with self._lock:
            left = [life for life in reversed(self._lives) if not life.undone or life.left]
        return tuple(f"{life.fault.name}: {life.left if life.undone else '; '.join(life.why)}" for life in left)

    def _disarm_late(self) -> None:
        """Disarm leases that could not be disarmed at their fault's end, because a host did not answer."""
        with self._lock:
            lives = [life for life in self._lives if life.left]
        for life in lives:
            life.left = self._leases.disarm(life.fault)

    def lives(self) -> tuple[FaultProgress, ...]:
        """Return the life of each fault so far, in order of injection."""
        with self._lock:
            return tuple(self._lives)

    def held(self) -> frozenset[str]:
        """Return the hosts that a fault affects as a whole."""
        with self._lock:
            faults = [life.fault for life in self._lives if not (life.over and life.undone)]
        hosts = (node.id for fault in faults for node in fault.targets if node.kind == "host")
        return frozenset(hosts) | frozenset(host for fault in faults for host in fault.down)

    def down(self) -> frozenset[str]:
        """Return the hosts that a fault has taken down, or is about to, and that are not yet known to be whole."""
        with self._lock:
            faults = [life.fault for life in self._lives if not (life.over and life.undone)]
        return frozenset(host for fault in faults for host in fault.down)

    def over(self) -> frozenset[str]:
        """Return the names of the faults that are completely undone."""
        with self._lock:
            return frozenset(life.fault.name for life in self._lives if life.over and life.undone)

    def begun(self, name: str) -> bool:
        """Return True if that fault got so far that an undo may be necessary."""
        with self._lock:
            return any(life.fault.name == name for life in self._lives)

    def _lift(self, life: FaultProgress) -> bool:
        """Verify a fault again and execute its undo once; return True on success."""
        with life.lock:
            self._look_again(life)
            life.heal_invoked = life.heal_invoked or now()
            return self._carry_out(life.fault, life.fault.undo) is None

    def _arm(self, life: FaultProgress, entry: Entry) -> None:
        """Write the undo to disk, here and on every harmed host; from then on the fault counts as in place."""
        if life.fault.undo:
            self._journal.arm(life.fault)
            try:
                self._leases.arm(life.fault, entry, partial(self._seen, life))
            except ChaoskError:
                self._keep(life)  # a host without an answer may have armed it
                raise
            life.armed = True
        self._keep(life)

    def _keep(self, life: FaultProgress) -> None:
        with self._lock:
            self._lives.append(life)

    def _require(
        self, life: FaultProgress, facts: tuple[Fact, ...], stop: threading.Event, *, verifies: bool = False
    ) -> int:
        """Return the time since when all facts hold: from the start, or from the last one that had to be waited for."""
        since = now()
        for fact in facts:
            began = now()
            answer = self._hands.confirm(fact, stop)
            if not answer.holds:
                raise StepError(f"{life.fault.name}: did not take: not seen: {fact.says} ({answer.seen})")
            if answer.waited:
                since = began = now()
            if verifies:
                life.looks.append(as_look(fact, answer, began))
        return since

    def _watch(self, life: FaultProgress) -> None:
        """Start to watch the facts that no host watches itself."""
        theirs = {fact.says for host in self._leases.keepers(life.fault) for fact in watched_on(life.fault, host)}
        life.looks = [replace(look, by_host=look.says in theirs) for look in life.looks]
        if asked := tuple(fact for fact in life.fault.watch if fact.says not in theirs):
            life.vigil = Vigil(asked, self._hands.ask, partial(self._seen, life))
            life.vigil.start()

    def _seen(self, life: FaultProgress, look: FactCheck) -> None:
        """Add a look at a fault in place; report at once the first time that the fault is missing."""
        if life.verified is None or look.earliest < life.verified:
            return
        life.looks.append(look)
        if look.holds is False and not life.told and life.looked is None:
            life.told = True
            log.warning("gap", fault=life.fault.name, says=look.says, seen=look.told)
            self._say(f"{life.fault.name}: NOT IN PLACE: not seen: {look.says} ({look.told})")

    def _fail(self, life: FaultProgress, error: ChaoskError) -> None:
        life.took = False
        life.why.append("the run was told to stop" if isinstance(error, Interrupted) else str(error))
        if not life.armed:
            self._close(life)

    def _superseded(self, entry: Entry, fault: PreparedFault) -> list[FaultProgress]:
        """Return the faults in place that this one ends, each verified again before it is lifted."""
        with self._lock:
            lives = [life for life in self._lives if not life.over and life.fault.step in entry.step.ends]
        lives = [life for life in lives if set(life.fault.targets) <= set(fault.targets)]
        for life in lives:
            self._look_again(life)
            life.heal_invoked = now()
        return lives

    def _look_again(self, life: FaultProgress) -> None:
        if not life.took or not life.armed or life.heal_invoked is not None:
            return
        if life.vigil is not None:
            life.vigil.end()
        for fact in (one for one in life.fault.verify if one.still):
            began = now()
            answer = self._hands.ask(fact)
            log.info("still", says=fact.says, holds=answer.holds, seen=answer.seen)
            if fact.last:
                self._say_last(life, fact, answer)
            # no answer does not confirm it
            life.looks.append(as_look(fact, answer.model_copy(update={"answered": True}), began))
        life.looked = now()
        if (lost := self._leases.lost(life.fault)) is not None:
            life.took = False
            life.why.append(f"did not last: its lease was lost, so the host may have healed itself: {lost}")

    def _say_last(self, life: FaultProgress, fact: Fact, answer: Answer) -> None:
        """Report an effect that was due by now: its appearance, or its absence."""
        if answer.holds:
            self._say(f"{life.fault.name}: {fact.says} ({answer.seen})")
            return
        life.took = False
        remedy = f"; {fact.remedy}" if fact.remedy else ""
        life.why.append(f"not seen by its end: {fact.says} ({answer.seen}){remedy}")

    def _undo(self, life: FaultProgress, *, lifted: bool = False) -> None:
        """Undo and verify until it is healed or the time is over; ``lifted``: the deeds of the first try are done."""
        if not life.armed:
            return
        life.heal_invoked = life.heal_invoked or now()
        end = now() + int(HEAL_WITHIN * 1e9)
        while (problem := self._try_undo(life.fault, lifted=lifted)) is not None:
            lifted = False
            log.warning("undo", fault=life.fault.name, problem=problem)
            if now() >= end:
                life.why.append(f"not undone: {problem}")
                return
            sleep_until(now() + int(RETRY_AFTER * 1e9), _NEVER)
        life.healed = now()

    def _try_undo(self, fault: PreparedFault, *, lifted: bool) -> str | None:
        """Try the undo once: all deeds even if one fails, the facts, the tidying; return the first problem, or None."""
        problem = None if lifted else self._carry_out(fault, fault.undo)
        if problem is not None:
            return problem
        for fact in fault.healed:
            answer = self._hands.confirm(fact, _NEVER)
            if not answer.holds:
                return f"not seen: {fact.says} ({answer.seen})"
        return self._carry_out(fault, fault.tidy, tell=True)

    def _carry_out(self, fault: PreparedFault, deeds: tuple[Deed, ...], *, tell: bool = False) -> str | None:
        """Execute every deed, even if one fails; return the first problem, or None. ``tell``: print their output."""
        problems: list[str] = []
        for deed in deeds:
            try:
                said = self._hands.do(self._leases.exclusive(fault, deed), _NEVER)
                if tell and said:
                    self._say(f"{fault.name}: {said}")
            except ChaoskError as error:
                problems.append(str(error))
        return problems[0] if problems else None

    def _finish(self, life: FaultProgress) -> None:
        """Close a fault that another step lifted: its undo has no effect any more, but its healing is verified."""
        with life.lock:
            if not life.over:
                self._undo(life)
                if life.undone:
                    self._close(life)

    def _judge(self, life: FaultProgress) -> None:
        """Decide from the looks if it was in place from its verification to the last look before its undo."""
        if life.looked is None or life.applied is None:
            return
        if life.fault.watch and life.undone:
            self._leases.looked(life.fault)
        why, told = lasted(life.looks, life.applied, life.looked)
        life.took = life.took and not why
        life.why[:0] = why
        for line in told:
            log.warning("unwatched", fault=life.fault.name, what=line)
            self._say(f"{life.fault.name}: {line}")

    def _close(self, life: FaultProgress) -> None:
        life.over = True
        if life.vigil is not None:
            life.vigil.end()
        self._judge(life)
        if life.undone:
            life.left = self._leases.disarm(life.fault)
            self._journal.disarm(life.fault.name)
        try:
            self._record(life)
        except ChaoskError as error:  # a row that cannot be written must not keep the other faults from healing
            log.warning("record", fault=life.fault.name, problem=str(error))
