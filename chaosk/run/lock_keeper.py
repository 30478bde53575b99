"""Holding the cluster's lock for the duration of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import structlog

from chaosk.core.errors import ChaoskError, PreflightError
from chaosk.hosts import lock
from chaosk.hosts.transport._contract import Transport
from chaosk.run.renewal import Renewal
from chaosk.spec.command import Command

log = structlog.get_logger()


class LockKeeper:
    """The lock on every host of the cluster, from :meth:`take` to :meth:`leave`."""

    def __init__(
        self, transport: Transport, hosts: tuple[str, ...], run: str, by: str, lost: Callable[[str], None]
    ) -> None:
        """``lost`` is called from another thread with the reason if the lock is lost, or the run is halted."""
        self._transport = transport
        self._hosts = tuple(sorted(hosts))
        self._run = run
        self._by = by
        self._lost = lost
        self._held: list[str] = []
        self._renewals: list[Renewal] = []
        self._down: Callable[[], frozenset[str]] = frozenset
        self._booted: set[str] = set()

    def excuse(self, down: Callable[[], frozenset[str]]) -> None:
        """Pass over the hosts that ``down`` returns; the lock is taken on them again once they are back.

        No other run can get the cluster until then, since it needs the locks of all the other hosts as well.
        """
        self._down = down

    def take(self) -> None:
        """Take the lock on every host; raises PreflightError, and holds none, if another run has one of them."""
        try:
            for host in self._hosts:
                if (why := self._refusal(lock.take(host, self._run, self._by))) is not None:
                    raise PreflightError(
                        f"{host}: another run is on this cluster: {why}; wait for it, or end it with `chaosk halt`"
                    )
                self._held.append(host)
        except ChaoskError:
            self.leave()
            raise
        self._renewals = [
            Renewal(
                partial(self._keep, host), f"lock on {host}", lock.SECONDS,
                partial(self._lose, host),
            )
            for host in self._held
        ]  # fmt: skip
        for renewal in self._renewals:
            renewal.start()

    def leave(self) -> None:
        """Release the lock on every host; on a host that does not answer it expires."""
        for renewal in self._renewals:
            renewal.end()
        for host in self._held:
            try:
                self._refusal(lock.leave(host, self._run))
            except ChaoskError as error:
                log.warning("lock", host=host, problem=str(error))
        self._held, self._renewals = [], []

    def _lose(self, host: str, why: str) -> None:
        self._lost(f"{host}: {why}")

    def _keep(self, host: str) -> str | None:
        if host in self._down():
            self._booted.add(host)
            return None
        if host not in self._booted:
            return self._refusal(lock.keep(host, self._run))
        refused = self._refusal(lock.take(host, self._run, self._by))
        self._booted.discard(host)
        return refused

    def _refusal(self, command: Command) -> str | None:
        result = self._transport.run(command)
        if result.ok:
            return None
        return result.said if result.stderr.strip() else f"{command.host}: {result.said}"
