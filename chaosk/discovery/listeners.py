"""Kafka's lists of listeners and voters, as they stand in configurations. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from chaosk.discovery.findings import QuorumMember

_LISTENER = re.compile(r"([A-Za-z0-9_.-]+)://(?:\[([^\]]*)\]|([^:/]*)):(\d+)")
_VOTER = re.compile(r"(\d+)@(?:\[([^\]]*)\]|([^:]+)):(\d+)")
ZOOKEEPER_PORT = 2181


@dataclass(frozen=True, slots=True)
class ListenerAddress:
    """A listener with its address; empty if it is any address of its host."""

    name: str
    address: str
    port: int


def listeners_in(text: str) -> tuple[ListenerAddress, ...]:
    """Parse ``listeners`` or ``advertised.listeners``; parts that are no listener are left out."""
    found = (_LISTENER.fullmatch(part.strip()) for part in text.split(","))
    return tuple(ListenerAddress(one[1], _somewhere(one[2] or one[3]), int(one[4])) for one in found if one is not None)


def protocols_in(text: str) -> dict[str, str]:
    """Parse ``listener.security.protocol.map``."""
    pairs = (part.strip().partition(":") for part in text.split(","))
    return {name.strip(): protocol.strip().upper() for name, colon, protocol in pairs if colon}


def protocol_of(name: str, settings: Mapping[str, str]) -> str:
    """Return the security protocol of a listener; by default its name is its protocol."""
    return protocols_in(settings.get("listener.security.protocol.map", "")).get(name, name.upper())


def voters_in(text: str, source: str) -> Iterator[QuorumMember]:
    """Parse ``controller.quorum.voters``."""
    for part in text.split(","):
        if (found := _VOTER.fullmatch(part.strip())) is not None:
            yield QuorumMember(int(found[1]), found[2] or found[3], int(found[4]), source)


def keepers_in(text: str, source: str) -> Iterator[QuorumMember]:
    """Parse ``zookeeper.connect``, whose end may be a path in ZooKeeper."""
    for part in text.partition("/")[0].split(","):
        address, _, port = part.strip().rpartition(":")
        if not port.isdigit():
            address, port = part.strip(), str(ZOOKEEPER_PORT)
        if address:
            yield QuorumMember(None, address.strip("[]"), int(port), source)


def names_in(text: str) -> tuple[str, ...]:
    """Split a list at its commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _somewhere(address: str) -> str:
    """Return an address; empty if it stands for any."""
    try:
        return "" if ip_address(address).is_unspecified else address
    except ValueError:
        return address
