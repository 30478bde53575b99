"""A client's TCP connections as events, from librdkafka's statistics: their role, opening and closing.

librdkafka reports every broker that it knows, and each coordinator by a separate handle: its state, since when, and the
numbers of connection attempts and disconnections. Two samples show the events between them. See "Statistics" in
librdkafka's STATISTICS.md. A connection counts from the state UP on, which includes the request for API versions and
the login.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chaosk.spec.contracts.probe import Workplace

EVERY = 250
"""Milliseconds between two samples. One costs a third of a millisecond for some partitions, a few for a hundred."""

_STANDS = frozenset({"UP", "APIVERSION_QUERY", "AUTH_HANDSHAKE", "AUTH_REQ", "REAUTH"})
_UNDER_WAY = frozenset({"CONNECT", "SSL_HANDSHAKE", "AUTH_LEGACY"})
_LOGICAL = {"GroupCoordinator": "group_coordinator", "TxnCoordinator": "transaction_coordinator"}
_MICRO = 1000  # nanoseconds

Key = tuple[str, str | int]
"""One handle of a client: a coordinator by its name, a broker by its id, else an address of ``bootstrap.servers``."""


@dataclass(frozen=True, slots=True)
class Handle:
    """One handle in one sample."""

    role: str
    broker: int | None
    address: str | None
    state: str
    entered: int
    """Start of its current state, monotonic nanoseconds."""
    connects: int
    disconnects: int
    active: int | None
    """Time of the last byte in either direction over the current connection."""

    @property
    def stands(self) -> bool:
        """True if it has a connection."""
        return self.state in _STANDS


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a handle's connections between two samples."""

    role: str
    broker: int | None
    address: str | None
    event: str
    count: int
    at: int | None
    idle: bool = False


def handles(statistics: Mapping[str, Any]) -> dict[Key, Handle]:
    """Return every handle of a sample; ``statistics`` is librdkafka's parsed output."""
    now = int(statistics["ts"]) * _MICRO
    told = statistics["brokers"].values()
    ids = {each["nodename"]: each["nodeid"] for each in told if each["nodeid"] >= 0}
    return dict(_handle(each, ids, now) for each in told)


def _handle(told: Mapping[str, Any], ids: Mapping[str, int], now: int) -> tuple[Key, Handle]:
    address = told["nodename"] if told["nodename"] not in {"", ":0"} else None
    logical = told["source"] == "logical"
    broker = ids.get(told["nodename"]) if logical else told["nodeid"] if told["nodeid"] >= 0 else None
    key: Key = ("logical", told["name"]) if logical else ("address", told["nodename"])
    if not logical and broker is not None:
        key = ("broker", broker)
    role = _LOGICAL.get(told["name"], told["name"]) if logical else "bootstrap" if broker is None else "data"
    idle = [told[name] for name in ("rxidle", "txidle") if told[name] >= 0]
    return key, Handle(
        role=role,
        broker=broker,
        address=address,
        state=told["state"],
        entered=now - int(told["stateage"]) * _MICRO,
        connects=told["connects"],
        disconnects=told["disconnects"],
        active=now - min(idle) * _MICRO if idle else None,
    )


def changes(before: Handle | None, after: Handle, idle_limit: int | None) -> Iterator[Event]:
    """Yield the events of one handle; ``idle_limit``: nanoseconds after which the client closes an idle connection."""
    if before is not None and _replaced(before, after):
        if before.stands:
            yield Event(before.role, before.broker, before.address, "closed", 1, None)
        before = None
    was, disconnects, connects = (before.stands, before.disconnects, before.connects) if before else (False, 0, 0)
    closed = max(after.disconnects - disconnects, int(was and not after.stands))
    opened = closed + after.stands - was
    under_way = (after.state in _UNDER_WAY) - (before is not None and before.state in _UNDER_WAY)
    failed = after.connects - connects - opened - under_way
    old = before if before is not None and was else after  # the closed connection belongs to the old address
    if closed > 0:
        at = after.entered if closed == 1 and was and not after.stands and after.connects == connects else None
        by = after.entered if at is not None or (closed == 1 and after.stands) else None
        idle = before is not None and _was_idle(before, by, idle_limit)
        yield Event(old.role, old.broker, old.address, "closed", closed, at, idle)
    to = after if after.address is not None or before is None else before
    sought = after.role in _LOGICAL.values() and (before is None or before.address is None)
    # the counter includes attempts at a coordinator that is still unknown
    if failed > 0 and to.address is not None and not sought:
        yield Event(to.role, to.broker, to.address, "failed", failed, None)
    if opened > 0:
        at = after.entered if opened == 1 and after.stands else None
        yield Event(after.role, after.broker, after.address, "opened", opened, at)


def _replaced(before: Handle, after: Handle) -> bool:
    """Return True if a new handle has the same key: a client without any broker starts again, with new counters."""
    return after.connects < before.connects or after.disconnects < before.disconnects


def _was_idle(before: Handle, closed: int | None, limit: int | None) -> bool:
    if limit is None or before.active is None or closed is None:
        return False
    return closed - before.active >= limit


class ConnectionRecorder:
    """Writes the events of one client."""

    def __init__(self, place: Workplace, client: str, config: Mapping[str, Any]) -> None:
        """``client``: ``consumer`` or ``producer``; ``config``: its settings, for its idle limit."""
        self._place, self._client = place, client
        limit = int(config.get("connections.max.idle.ms", 0))
        self._limit = limit * 1_000_000 if limit > 0 else None
        self._since = time.monotonic_ns()
        self._handles: dict[Key, Handle] = {}
        self._first: Key | None = None
        """The handle of the connection by which the client learned of all others, while that connection is open."""
        self._fresh = True

    def settings(self) -> dict[str, Any]:
        """Return the additional settings for the client."""
        return {"statistics.interval.ms": EVERY, "stats_cb": self.heard}

    def heard(self, statistics: str) -> None:
        """Process one sample."""
        told = json.loads(statistics)
        seen, found = int(told["ts"]) * _MICRO, handles(told)
        for event in self._between(found):
            self._write(event, seen)
        self._handles, self._since = found, seen

    def gone(self) -> None:
        """Record that the client was replaced, which closes its connections."""
        now = time.monotonic_ns()
        for key, handle in self._handles.items():
            if handle.stands:
                event = self._in_role(key, Event(handle.role, handle.broker, handle.address, "closed", 1, None))
                self._write(event, now)
        self._handles = {}

    def _write(self, event: Event, seen: int) -> None:
        who = (self._place.probe, self._place.incarnation, self._client)
        what = (event.role, event.broker, event.address, event.event, event.count, event.at)
        self._place.log.write("connections", (*who, *what, self._since, seen, event.idle))

    def _between(self, found: dict[Key, Handle]) -> Iterator[Event]:
        moved = _moved(self._handles, found)
        before = {moved.get(key, key): handle for key, handle in self._handles.items()}
        self._first = moved.get(self._first, self._first) if self._first else None
        if self._fresh:
            self._first = _first(found)
            self._fresh = self._first is None
        for key in [key for key in before if key not in found and before[key].stands]:
            gone = before[key]
            yield Event(gone.role, gone.broker, gone.address, "closed", 1, None)
        for key, after in found.items():
            for event in changes(before.get(key), after, self._limit):
                yield self._in_role(key, event)

    def _in_role(self, key: Key, event: Event) -> Event:
        """Give the first connection of a client the role ``bootstrap``, until it is closed."""
        if key != self._first:
            return event
        if event.event == "closed":
            self._first = None
        if event.event == "failed":
            return event
        return Event("bootstrap", event.broker, event.address, event.event, event.count, event.at, event.idle)


def _moved(before: Mapping[Key, Handle], found: Mapping[Key, Handle]) -> dict[Key, Key]:
    """Map old to new keys of the same handle: an address of ``bootstrap.servers`` becomes a broker."""
    moved: dict[Key, Key] = {}
    for key, handle in found.items():
        old: Key = ("address", handle.address or "")
        if key[0] == "broker" and key not in before and old in before and old not in found:
            moved[old] = key
    return moved


def _first(found: Mapping[Key, Handle]) -> Key | None:
    """Return the handle with the oldest open connection; None without one."""
    standing = [(handle.entered, key) for key, handle in found.items() if handle.stands and key[0] != "logical"]
    return min(standing, key=lambda each: each[0])[1] if standing else None


class Watch:
    """Watches the successive clients of a probe, if requested; otherwise it costs nothing."""

    def __init__(self, place: Workplace, client: str, *, on: bool) -> None:
        """``client``: ``consumer`` or ``producer``."""
        self._place, self._client, self._on = place, client, on
        self._connections: ConnectionRecorder | None = None

    def settings(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return additional settings for the next client besides ``config``; the former client is gone."""
        if not self._on:
            return {}
        if self._connections is not None:
            self._connections.gone()
        self._connections = ConnectionRecorder(self._place, self._client, {**self._place.client, **config})
        return self._connections.settings()
