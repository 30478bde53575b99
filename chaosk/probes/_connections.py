"""A client's TCP connections as events, from librdkafka's own statistics: whose they are, when they open and close.

librdkafka tells of every broker it knows, and of the coordinators by handles of their own, in which state it is, since
when, how often it tried to connect and how often it was disconnected. From two samples follows what happened between
them. See "Statistics" in librdkafka's STATISTICS.md; a connection stands from the state UP on, which includes asking
for the API versions and logging in.
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
    """What one sample says of one handle."""

    role: str
    broker: int | None
    address: str | None
    state: str
    entered: int
    """When it came into that state, monotonic nanoseconds."""
    connects: int
    disconnects: int
    active: int | None
    """When a byte last went either way over the connection that stands."""

    @property
    def stands(self) -> bool:
        """Whether it has a connection."""
        return self.state in _STANDS


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a handle's connections between two samples."""

    role: str
    broker: int | None
    address: str | None
    event: str
    count: int
    at: int | None
    idle: bool = False


def handles(statistics: Mapping[str, Any]) -> dict[Key, Handle]:
    """Every handle of a sample; ``statistics`` is what librdkafka emitted, parsed."""
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
    """What happened to one handle; ``idle_limit``: nanoseconds after which the client closes what is idle."""
    if before is not None and _replaced(before, after):
        if before.stands:
            yield Event(before.role, before.broker, before.address, "closed", 1, None)
        before = None
    was, disconnects, connects = (before.stands, before.disconnects, before.connects) if before else (False, 0, 0)
    closed = max(after.disconnects - disconnects, int(was and not after.stands))
    opened = closed + after.stands - was
    under_way = (after.state in _UNDER_WAY) - (before is not None and before.state in _UNDER_WAY)
    failed = after.connects - connects - opened - under_way
    old = before if before is not None and was else after  # what was closed is where it was, not where it is now
    if closed > 0:
        at = after.entered if closed == 1 and was and not after.stands and after.connects == connects else None
        by = after.entered if at is not None or (closed == 1 and after.stands) else None
        idle = before is not None and _was_idle(before, by, idle_limit)
        yield Event(old.role, old.broker, old.address, "closed", closed, at, idle)
    to = after if after.address is not None or before is None else before
    sought = after.role in _LOGICAL.values() and (before is None or before.address is None)
    if failed > 0 and to.address is not None and not sought:  # it counts attempts at one it has yet to find as well
        yield Event(to.role, to.broker, to.address, "failed", failed, None)
    if opened > 0:
        at = after.entered if opened == 1 and after.stands else None
        yield Event(after.role, after.broker, after.address, "opened", opened, at)


def _replaced(before: Handle, after: Handle) -> bool:
    """Whether it is another handle of the same key: a client that finds nobody begins anew, its counters too."""
    return after.connects < before.connects or after.disconnects < before.disconnects


def _was_idle(before: Handle, closed: int | None, limit: int | None) -> bool:
    if limit is None or before.active is None or closed is None:
        return False
    return closed - before.active >= limit


class Connections:
    """Writes the events of one client."""

    def __init__(self, place: Workplace, client: str, config: Mapping[str, Any]) -> None:
        """``client``: ``consumer`` or ``producer``; ``config``: its settings, for its idle limit."""
        self._place, self._client = place, client
        limit = int(config.get("connections.max.idle.ms", 0))
        self._limit = limit * 1_000_000 if limit > 0 else None
        self._since = time.monotonic_ns()
        self._handles: dict[Key, Handle] = {}
        self._first: Key | None = None
        """The handle of the connection by which the client learned of all others, while that connection stands."""
        self._fresh = True

    def settings(self) -> dict[str, Any]:
        """What the client has to be made with."""
        return {"statistics.interval.ms": EVERY, "stats_cb": self.heard}

    def heard(self, statistics: str) -> None:
        """Take one sample."""
        told = json.loads(statistics)
        seen, found = int(told["ts"]) * _MICRO, handles(told)
        for event in self._between(found):
            self._write(event, seen)
        self._handles, self._since = found, seen

    def gone(self) -> None:
        """The client is thrown away for another one, and so are its connections."""
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
        """The first connection of a client is the one it bootstraps by, until it is closed."""
        if key != self._first:
            return event
        if event.event == "closed":
            self._first = None
        if event.event == "failed":
            return event
        return Event("bootstrap", event.broker, event.address, event.event, event.count, event.at, event.idle)


def _moved(before: Mapping[Key, Handle], found: Mapping[Key, Handle]) -> dict[Key, Key]:
    """Handles that have another key now: an address of ``bootstrap.servers`` becomes a broker."""
    moved: dict[Key, Key] = {}
    for key, handle in found.items():
        old: Key = ("address", handle.address or "")
        if key[0] == "broker" and key not in before and old in before and old not in found:
            moved[old] = key
    return moved


def _first(found: Mapping[Key, Handle]) -> Key | None:
    """The handle with the connection that was opened first; None if none stands."""
    standing = [(handle.entered, key) for key, handle in found.items() if handle.stands and key[0] != "logical"]
    return min(standing, key=lambda each: each[0])[1] if standing else None


class Watch:
    """Watches the clients that a probe has one after the other, if it was asked to; else it costs nothing."""

    def __init__(self, place: Workplace, client: str, *, on: bool) -> None:
        """``client``: ``consumer`` or ``producer``."""
        self._place, self._client, self._on = place, client, on
        self._connections: Connections | None = None

    def settings(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """What the next client has to be made with besides ``config``; the one before is gone."""
        if not self._on:
            return {}
        if self._connections is not None:
            self._connections.gone()
        self._connections = Connections(self._place, self._client, {**self._place.client, **config})
        return self._connections.settings()
