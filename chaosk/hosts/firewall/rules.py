"""Compute the packet rules of a cut for each host, from two groups of parties. Pure.

A connection has packets in two directions. So a cut of the connections from ``a`` to a door of ``b`` stops, on the host
of ``a``, packets to that port and packets from it. Rules are installed on the first group's hosts, or on the second's
if the first has none (the probes). ``in`` and ``out`` are always relative to the first group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_address
from itertools import product
from typing import Final, Literal

from chaosk.hosts.firewall.party import SELF, Door, Party

Side = Literal["I", "O"]
ARRIVING: Final = "I"
LEAVING: Final = "O"
Direction = Literal["both", "in", "out"]
Action = Literal["drop", "reject"]
TURNED: dict[Direction, Direction] = {"both": "both", "in": "out", "out": "in"}
"""The same direction, relative to the other side."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An action that drops only a share of the packets, chosen at random for each packet."""

    share: float
    """Between 0 and 1, exclusive, with four decimals."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a host's chain for incoming (I) or outgoing (O) packets."""

    side: Side
    peer: str | None = None
    """Address or name of the other end; None for any."""
    own: str | None = None
    """Address of this end; None for any."""
    port: tuple[Literal["peer", "own"], int] | None = None
    """The end and its TCP port; None for every packet."""
    loopback: bool = False
    """Match only packets between processes of this host."""
    stop: bool = True
    """Stop the packet; False passes it on to the host's other rules."""


def rules(a: tuple[Party, ...], b: tuple[Party, ...], direction: Direction) -> dict[str, tuple[Rule, ...]]:
    """Map each host to the rules that cut ``a`` from ``b``; rules that pass come before those that stop any peer.

    Any peer can only be in ``b``. A pair of parties without a host gets no rule.
    """
    found: dict[str, dict[Rule, None]] = {}
    for one, two in product(a, b):
        own, peer, seen = (two, one, TURNED[direction]) if one.host is None else (one, two, direction)
        if own.host is not None:
            found.setdefault(own.host, {}).update(dict.fromkeys(_rules(own, peer, _sides(seen))))
    return {host: _in_order(host, a, tuple(every)) for host, every in found.items() if every}


def with_ports(parties: tuple[Party, ...], ports: tuple[int, ...]) -> tuple[Party, ...]:
    """Limit the parties to connections to these ports; probes serve none."""
    doors = tuple(Door(port) for port in ports)
    return tuple(replace(p, doors=() if p.kind == "probe" else doors, whole=False) for p in parties)


def parts(rule: Rule, port: int) -> bool:
    """Return whether a rule stops packets between chaosk's machine and a port on the rule's host."""
    meant = rule.port is None or rule.port == ("own", port)
    return rule.stop and meant and not rule.loopback and rule.peer in {None, SELF}


def words(rule: Rule, action: Action | Loss) -> Iterator[str]:
    """Yield the rule as lines ``FAMILY SIDE WORDS`` for ``cut.sh``, without a chain; to reject all takes two lines."""
    families = [_family(address) for address in (rule.peer, rule.own) if address is not None]
    family = next((each for each in families if each is not None), "any")
    for protocol, verdict in _verdicts(rule, action):
        yield " ".join((family, rule.side, *_match(rule), *protocol, *verdict))


def stdin_of(rules: tuple[Rule, ...], action: Action | Loss = "drop") -> str:
    """Return rules as the standard input of a script."""
    return "".join(f"{line}\n" for rule in rules for line in words(rule, action))


def _sides(direction: Direction) -> tuple[Side, ...]:
    if direction == "both":
        return ARRIVING, LEAVING
    return (ARRIVING,) if direction == "in" else (LEAVING,)


def _rules(own: Party, peer: Party, sides: tuple[Side, ...]) -> Iterator[Rule]:
    """Yield rules on the host of ``own`` against ``peer``."""
    same = own.host == peer.host
    anywhere = Rule(ARRIVING, loopback=same)
    ends = [anywhere] if same or not peer.addresses else [replace(anywhere, peer=each) for each in peer.addresses]
    for side, end in product(sides, ends):
        bare = replace(end, side=side)
        if own.whole and (peer.whole or not peer.doors):
            yield bare
        else:
            yield from _connections(own, peer, bare)


def _connections(own: Party, peer: Party, bare: Rule) -> Iterator[Rule]:
    """Yield rules on the connections that each of the two opens to the other's doors."""
    for door in own.doors if peer.calls(own) else ():
        at = _numeric(door.address)
        if at is None or bare.peer is None or _family(bare.peer) in {None, _family(at)}:
            yield replace(bare, own=at, port=("own", door.port))
    for door in peer.doors if own.calls(peer) else ():
        if bare.peer is None or door.address in {None, bare.peer}:
            yield replace(bare, port=("peer", door.port))


def _in_order(host: str, group: tuple[Party, ...], cut: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Return the needed rules of a host in order; if any peer is stopped, the group's own members are passed."""
    anybody = [rule for rule in cut if rule.peer is None and not rule.loopback]
    friends = {address for party in group if party.host != host for address in party.addresses} if anybody else set()
    sides = {rule.side for rule in anybody}
    through = [Rule(side, peer=address, stop=False) for side in sides for address in friends]
    through += [Rule(side, loopback=True, stop=False) for side in sides]
    needed = [rule for rule in cut if not any(_covers(other, rule, friends) for other in cut)]
    return tuple(sorted((*needed, *through), key=_order))


def _covers(wide: Rule, narrow: Rule, friends: set[str]) -> bool:
    """Return whether ``wide`` stops all that ``narrow`` stops, so that ``narrow`` is redundant."""
    if wide == narrow or wide.side != narrow.side or wide.loopback != narrow.loopback:
        return False
    if wide.peer is None and narrow.peer in friends:
        return False
    pairs = ((wide.peer, narrow.peer), (wide.own, narrow.own), (wide.port, narrow.port))
    return all(one is None or one == two for one, two in pairs)


def _order(rule: Rule) -> tuple[int, str, str, str, str]:
    """Sort key: rules with a named peer, then rules that pass packets, then rules that stop any peer."""
    named = rule.peer is not None or rule.loopback
    rank = 1 if not rule.stop else 0 if named else 2
    return rank, rule.side, rule.peer or "", rule.own or "", str(rule.port)


def _match(rule: Rule) -> Iterator[str]:
    arriving = rule.side == ARRIVING
    if rule.loopback:
        yield from ("-i" if arriving else "-o", "lo")
    if rule.peer is not None:
        known = _family(rule.peer) or rule.peer == SELF
        yield from ("-s" if arriving else "-d", rule.peer if known else f"@{rule.peer}")
    if rule.own is not None:
        yield from ("-d" if arriving else "-s", rule.own)
    if rule.port is not None:
        end, port = rule.port
        yield from ("-p", "tcp", "--sport" if (end == "peer") == arriving else "--dport", str(port))


def _verdicts(rule: Rule, action: Action | Loss) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield protocol match and verdict pairs. TCP is rejected with a reset, so that connections end at once."""
    if not rule.stop:
        yield (), ("-j", "RETURN")
    elif isinstance(action, Loss):
        yield ("-m", "statistic", "--mode", "random", "--probability", f"{action.share:.4f}"), ("-j", "DROP")
    elif action == "drop":
        yield (), ("-j", "DROP")
    else:
        yield ("-p", "tcp") if rule.port is None else (), ("-j", "REJECT", "--reject-with", "tcp-reset")
        if rule.port is None:
            yield (), ("-j", "REJECT")


def _family(address: str) -> str | None:
    """Return ``4`` or ``6`` for a numeric address, None for a name."""
    try:
        return str(ip_address(address).version)
    except ValueError:
        return None


def _numeric(address: str | None) -> str | None:
    """Return the address if it is numeric; None for a name, which may resolve to something else on this host."""
    return address if address and _family(address) else None
