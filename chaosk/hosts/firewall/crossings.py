"""Connections to try while a cut is in place, one for each host of the first group. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chaosk.hosts.firewall.party import Party


@dataclass(frozen=True, slots=True)
class Crossing:
    """A TCP connection from a host to a port of another one."""

    host: str
    to: str
    """The other host's name."""
    address: str
    port: int


def crossings(a: Iterable[Party], b: Iterable[Party]) -> tuple[Crossing, ...]:
    """Return one crossing for each host of ``a`` that has a connection to a party of ``b`` on another host, or from it.

    Every one of them has packets in both directions, so that a cut of either makes it fail.
    """
    others = tuple(b)
    found: dict[str, Crossing] = {}
    for one in a:
        between = (crossing for two in others for crossing in (*_from(one, two), *_from(two, one)))
        if one.host is not None and (first := next(between, None)) is not None:
            found.setdefault(one.host, first)
    return tuple(found.values())


def _from(one: Party, two: Party) -> Iterator[Crossing]:
    if one.host is None or two.host is None or one.host == two.host or not one.calls(two):
        return
    for door in two.doors[:1]:
        yield Crossing(one.host, two.host, door.address or two.addresses[0], door.port)
