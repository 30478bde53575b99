"""The loop of the probe ``health_check``: starts due checks, serves many connections in one thread, logs each."""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from chaosk.cluster.security import security
from chaosk.core.errors import PreflightError, UsageError
from chaosk.probes._health_check_connection import NO_TURN, TIMEOUT, HealthCheckConnection, Resolved, Tls
from chaosk.probes._priority import go_first
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.health_check import HealthCheck

AT_ONCE = 100
"""Concurrent connections to one broker; further checks wait for their turn."""

FLUSH_EVERY = 0.05
"""Seconds between flushes of the event log."""

TELL_EVERY = 0.2
"""Seconds between reports of progress."""

_LEAD = 50_000_000  # nanoseconds before the first check is due
_NAP = 0.02  # longest sleep in seconds
_now = time.monotonic_ns


class HealthCheckLoop:
    """One incarnation of a health check."""

    def __init__(self, probe: HealthCheck, place: Workplace) -> None:
        """Resolves the brokers' addresses; raises UsageError or PreflightError if that, or the TLS setup, fails."""
        self._probe, self._place = probe, place
        self._tls = security(place.client).tls if probe.exchange == "api_versions" else None
        self._places = {broker: _resolved(broker, place) for broker in _wanted(probe, place)}
        self._turns = tuple(self._places)
        self._schedule = probe.schedule(len(self._turns))
        self._waiting: dict[int, deque[int]] = {broker: deque() for broker in self._turns}
        self._flying: dict[int, set[HealthCheckConnection]] = {broker: set() for broker in self._turns}
        self._selector = selectors.DefaultSelector()
        self._counts: Counter[str] = Counter()
        self._last_error: str | None = None
        self._next = self._start = self._flushed = self._told = 0

    def run(self) -> None:
        """Check by the schedule until stopped, wait for checks in progress, and write the end marker."""
        self._start = _now() + _LEAD
        self._began()
        go_first()
        while not self._place.stopping():
            self._fall_due()
            left = self._start + self._schedule.due(self._next) - _now()
            self._step(max(0.0, min(left / 1e9, _NAP)))
        while any(self._waiting.values()) or any(self._flying.values()):
            self._step(_NAP)
        self._selector.close()
        self._end()

    # --- checking -------------------------------------------------------------------------------------------------

    def _fall_due(self) -> None:
        due = self._schedule.count(_now() - self._start)
        for number in range(self._next, due):
            broker = self._turns[number % len(self._turns)]
            self._waiting[broker].append(self._start + self._schedule.due(number))
        self._next = due

    def _step(self, wait: float) -> None:
        for broker, waiting in self._waiting.items():
            while waiting and len(self._flying[broker]) < AT_ONCE:
                self._begin(self._check(broker, waiting.popleft()))
        for key, _events in self._selector.select(wait):
            self._go_on(key.data)
        self._give_up()
        self._keep()

    def _check(self, broker: int, due: int) -> HealthCheckConnection:
        tls = None if self._tls is None else Tls(self._tls, self._place.brokers[broker][0])
        return HealthCheckConnection(broker, due, asks=self._probe.exchange == "api_versions", tls=tls)

    def _begin(self, check: HealthCheckConnection) -> None:
        check.begin(self._places[check.broker])
        if check.over or check.socket is None:
            self._written(check)
            return
        self._flying[check.broker].add(check)
        self._selector.register(check.socket, selectors.EVENT_WRITE, check)

    def _go_on(self, check: HealthCheckConnection) -> None:
        connection = check.socket
        if connection is None:
            return
        awaited, descriptor = check.awaits, connection.fileno()
        check.go_on()
        if check.over:
            self._selector.unregister(descriptor)
            self._flying[check.broker].discard(check)
            self._written(check)
        elif check.awaits != awaited:
            self._selector.modify(descriptor, check.awaits, check)

    def _give_up(self) -> None:
        """End hanging checks, and those that waited for their turn for as long."""
        overdue = _now() - round(self._probe.timeout * 1e9)
        for broker, flying in self._flying.items():
            for check in [each for each in flying if (each.began or 0) <= overdue]:
                if check.socket is not None:
                    self._selector.unregister(check.socket)
                flying.discard(check)
                check.end(TIMEOUT)
                self._written(check)
            waiting = self._waiting[broker]
            while waiting and waiting[0] <= overdue:
                check = HealthCheckConnection(broker, waiting.popleft(), asks=False)
                check.end(NO_TURN)
                self._written(check)

    def _written(self, check: HealthCheckConnection) -> None:
        who = (self._place.probe, self._place.incarnation, check.broker)
        times = (check.due, check.began, check.connected, check.answered, check.closed)
        self._place.log.write("health_checks", (*who, *times, check.outcome, check.error))
        self._counts[check.outcome] += 1
        self._last_error = check.error or self._last_error

    def _keep(self) -> None:
        now = _now()
        if now - self._flushed > FLUSH_EVERY * 1e9:
            self._place.log.flush()
            self._flushed = now
        if now - self._told > TELL_EVERY * 1e9:
            self._place.tell(self._state())
            self._told = now

    # --- beginning, progress and end ------------------------------------------------------------------------------

    def _began(self) -> None:
        place = self._place
        row = (place.probe, place.incarnation, "health_check", None, self._start, os.getpid())
        place.log.write("incarnations", (*row, None, None, None, None, None, "sockets"))
        place.log.flush()
        place.tell(self._state())

    def _state(self) -> ProbeState:
        counts = self._counts
        return ProbeState(
            probe=self._place.probe,
            kind="health_check",
            running=True,
            scheduled=self._next,
            ok=counts["ok"],
            fail=counts["fail"],
            info=counts["info"],
            last_error=self._last_error,
        )

    def _end(self) -> None:
        place = self._place
        place.log.write("ends", (place.probe, place.incarnation, _now(), self._next, self._counts.total()))
        place.log.flush()
        place.tell(self._state())


def _wanted(probe: HealthCheck, place: Workplace) -> tuple[int, ...]:
    wanted = tuple(place.brokers) if probe.brokers == "all" else tuple(dict.fromkeys(probe.brokers))
    unknown = [broker for broker in wanted if broker not in place.brokers]
    if unknown or not wanted:
        there_are = ", ".join(map(str, place.brokers)) or "none"
        what = f"no broker {unknown[0]}" if unknown else "no broker"
        msg = f"{place.probe}: the inventory has {what} that clients connect to; it has {there_are}"
        raise UsageError(msg)
    return wanted


def _resolved(broker: int, place: Workplace) -> Resolved:
    host, port = place.brokers[broker]
    try:
        family, _kind, _protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        msg = f"{place.probe}: the address {host} of broker {broker} cannot be resolved: {error.strerror}"
        raise PreflightError(msg) from error
    return family, tuple(address)
