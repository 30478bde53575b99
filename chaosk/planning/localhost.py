"""Hosts of an inventory that are the machine that runs chaosk, regardless of the spelling of their addresses."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

from chaosk.spec.inventory import Inventory

_LOCAL = ("localhost", "ip6-localhost", "localhost.localdomain")


def here(inventory: Inventory) -> frozenset[str]:
    """Return the hosts whose address is one of this machine's; names are resolved, hosts are not contacted."""
    return frozenset(name for name, host in inventory.hosts.items() if any(map(is_own, _resolved(host.address))))


def surely_here(inventory: Inventory) -> frozenset[str]:
    """Return the hosts whose address is local by definition: no socket is opened, no name is resolved."""
    return frozenset(name for name, host in inventory.hosts.items() if _says_local(host.address))


def is_own(address: str) -> bool:
    """Return True if a numeric address is one of this machine's, to which alone a socket can be bound."""
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
        return ()  # the connection attempt reports it better


def _says_local(address: str) -> bool:
    plain = _plain(address)
    if plain is None:
        return address.lower().rstrip(".") in _LOCAL
    return plain.is_loopback or plain.is_unspecified


def _plain(address: str) -> IPv4Address | IPv6Address | None:
    """Parse a numeric address, an IPv4-mapped IPv6 address as IPv4; return None for a name."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
