"""Inputs of stop conditions: the watcher's last state, the probes' states over the last minute, the hosts."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from chaosk.cluster.foreign import Foreign
from chaosk.core.errors import ChaoskError, StepError
from chaosk.hosts.transport._contract import Transport
from chaosk.run.clock import now
from chaosk.run.watcher.state import StrainedState, WatcherState
from chaosk.spec.command import Command
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.stop_condition import OperationCounts, Strained

LONGEST = 60.0
"""Seconds for which states of the probes are kept."""
STALE = 5.0
"""Seconds after which the watcher's last state is stale."""
OFTEN = 0.1
"""Minimum seconds between two samples of the probes."""

States = tuple[ProbeState, ...]


class ProbeHistory:
    """States of the probes over the last minute."""

    def __init__(self, states: Callable[[], States]) -> None:
        """``states`` returns the last state of each probe."""
        self._states = states
        self._seen: deque[tuple[int, States]] = deque()
        self._lock = threading.Lock()

    def changes(self, window: float) -> tuple[int, tuple[OperationCounts, ...]] | None:
        """Sample now, and compare with the sample of ``window`` seconds ago; None if there is none that old."""
        with self._lock:
            at, states = self._look()
            before = [old for old in self._seen if old[0] <= at - int(window * 1e9)]
        if not before:
            return None
        then = {state.probe: state for state in before[-1][1]}
        return at, tuple(_change(then.get(state.probe), state) for state in states)

    def _look(self) -> tuple[int, States]:
        if not self._seen or now() - self._seen[-1][0] >= OFTEN * 1e9:
            self._seen.append((now(), self._states()))
        while self._seen[0][0] < now() - int((LONGEST + 1.0) * 1e9):
            self._seen.popleft()
        return self._seen[-1]


def _change(old: ProbeState | None, new: ProbeState) -> OperationCounts:
    """Return the difference of two states; a restarted probe counts from zero."""
    bad, was = new.fail + new.info + new.errors, old.fail + old.info + old.errors if old is not None else 0
    ok, before = new.ok, old.ok if old is not None else 0
    if bad < was or ok < before:
        was = before = 0
    return OperationCounts(probe=new.probe, ok=ok - before, bad=bad - was)


class HostWatch:
    """Tests if hosts are reachable, each over a separate connection."""

    def __init__(self, transport: Transport, hosts: Iterable[str], held: Callable[[], frozenset[str]]) -> None:
        """``held`` returns the hosts that a fault affects as a whole now."""
        self._transport = transport
        self._hosts = tuple(hosts)
        self._held = held
        self._pool = ThreadPoolExecutor(max(1, len(self._hosts)), "signs of life")

    def unreachable(self, within: float) -> tuple[int, dict[str, str]]:
        """Return the time of the test, and the reason for each host that did not answer in time."""
        spared = self._held()
        asked = {host: self._pool.submit(self._ask, host, within) for host in self._hosts if host not in spared}
        wait(asked.values(), within)
        at = now()
        found = {host: why for host, future in asked.items() if (why := _problem(future, within)) is not None}
        spared |= self._held()  # a fault may have started during the wait
        return at, {host: why for host, why in found.items() if host not in spared}

    def close(self) -> None:
        """End the connections."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._transport.close()

    def _ask(self, host: str, within: float) -> None:
        self._transport.run(Command(host=host, argv=("true",), timeout=within, repeatable=True))


def _problem(future: Future[None], within: float) -> str | None:
    if not future.done():
        return f"not within {within:g} s"
    error = future.exception()
    if error is not None and not isinstance(error, ChaoskError):
        raise error
    return None if error is None else str(error)


class RunStopConditionInputs:
    """The inputs of a run's stop conditions: see :class:`chaosk.spec.contracts.stop_condition.StopConditionInputs`."""

    def __init__(
        self, watched: Callable[[], WatcherState | None], foreign: Foreign, probes: ProbeHistory, hosts: HostWatch
    ) -> None:
        """``watched`` returns the watcher's last state."""
        self._watched = watched
        self._foreign = foreign
        self._offline: dict[tuple[str, int], int] = {}
        self._lock = threading.Lock()
        self.changes = probes.changes
        self.unreachable = hosts.unreachable

    def strained(self) -> tuple[int, tuple[Strained, ...]] | None:
        """Return the last state of topics outside the scenario; raises StepError if it is stale."""
        state = self._watched()
        if state is None:
            return None
        if now() - state.at > STALE * 1e9:
            raise StepError(f"the watcher has reported nothing for {(now() - state.at) / 1e9:.0f} s")
        foreign = [one for one in state.strained if self._foreign.is_foreign(one.topic)]
        with self._lock:
            leaderless = [(one.topic, one.partition) for one in foreign if one.leader < 0]
            self._offline = {place: self._offline.get(place, state.at) for place in leaderless}
            since = dict(self._offline)
        return state.at, tuple(self._strained(one, state.at, since) for one in foreign)

    def _strained(self, one: StrainedState, at: int, since: dict[tuple[str, int], int]) -> Strained:
        offline = (at - since.get((one.topic, one.partition), at)) / 1e9
        least = self._foreign.least(one.topic)
        return Strained(one.topic, one.partition, one.leader, one.in_sync, one.replicas, least, offline)
