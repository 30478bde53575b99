"""Which hosts of an inventory are the machine that chaosk runs on, however their addresses are spelled."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

from chaosk.spec.inventory import Inventory

_LOCAL = ("localhost", "ip6-localhost", "localhost.localdomain")


def here(inventory: Inventory) -> frozenset[str]:
    """The hosts whose address is one of this machine's own; names are resolved, nothing is sent to any host."""
    return frozenset(name for name, host in inventory.hosts.items() if any(map(is_own, _resolved(host.address))))


def surely_here(inventory: Inventory) -> frozenset[str]:
    """The hosts whose address says by itself that it is this machine: no socket is opened, no name is resolved."""
    return frozenset(name for name, host in inventory.hosts.items() if _says_local(host.address))


def is_own(address: str) -> bool:
    """Whether a numeric address is one of this machine's: only those can a socket be bound to."""
    plain = _plain(address)
    if plain is None:
        return False
    if plain.is_loopback or plain.is_unspecified:
        return True
    with socket.socket(socket.AF_INET if plain.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(plain), 0))
        except OSError:
            return False
    return True


def _resolved(address: str) -> tuple[str, ...]:
    if _plain(address) is not None:
        return (address,)
    try:
        return tuple({str(found[4][0]) for found in socket.getaddrinfo(address, None)})
    except OSError:
        return ()  # connecting to it fails with better words


def _says_local(address: str) -> bool:
    plain = _plain(address)
    if plain is None:
        return address.lower().rstrip(".") in _LOCAL
    return plain.is_loopback or plain.is_unspecified


def _plain(address: str) -> IPv4Address | IPv6Address | None:
    """A numeric address, an IPv4 address that is written as IPv6 as what it is; None for a name."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
