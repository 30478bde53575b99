"""Which packets a cut stops, by a model of the packet filter: every packet that should, and no other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_inventory import INVENTORY, on_hosts

from chaosk.hosts.firewall.party import ANYBODY, SELF, parties, party
from chaosk.hosts.firewall.rules import Direction, Rule, rules, with_ports, words
from chaosk.spec.contracts.target import Node

from .conftest import PROBES, broker, host, listener, zookeeper

CLUSTER = INVENTORY
ADDRESS = {f"node{n}": f"198.18.0.1{n}" for n in (1, 2, 3)} | {None: SELF}
NODES = [*map(host, (1, 2, 3)), *map(broker, (0, 1, 2)), *map(zookeeper, (1, 2, 3)), PROBES]
PORTS = {"broker": (9092, 9093), "zookeeper": (2181, 2888, 3888)}


@dataclass(frozen=True)
class Packet:
    """A TCP packet between two machines; a machine is a host's name, or None for the probes'."""

    source: str | None
    target: str | None
    sport: int
    dport: int


def stops(rule: Rule, packet: Packet, local: str) -> bool | None:
    """Whether a rule on ``local`` stops the packet; None if it does not match."""
    arriving = rule.side == "I"
    here, there = (packet.target, packet.source) if arriving else (packet.source, packet.target)
    own, peer = (packet.dport, packet.sport) if arriving else (packet.sport, packet.dport)
    matches = (
        here == local
        and (not rule.loopback or packet.source == packet.target)
        and rule.peer in {None, ADDRESS[there]}
        and rule.own in {None, ADDRESS[here]}
        and rule.port in {None, ("peer", peer), ("own", own)}
    )
    return rule.stop if matches else None


def stopped(cut: dict[str, tuple[Rule, ...]], packet: Packet) -> bool:
    """Whether it is stopped on its way: where it leaves, or where it arrives; the first rule that matches counts."""
    for place, side in ((packet.source, "O"), (packet.target, "I")):
        for rule in cut.get(place or "", ()):
            verdict = stops(rule, packet, place or "") if rule.side == side else None
            if verdict is not None:
                if verdict:
                    return True
                break
    return False


def connection(caller: Node, called: Node, port: int) -> tuple[Packet, Packet]:
    """A packet to a port, and one of the answer."""
    return Packet(caller.host, called.host, 50000, port), Packet(called.host, caller.host, port, 50000)


def cut(a: list[Node], b: list[Node], direction: Direction = "both") -> dict[str, tuple[Rule, ...]]:
    """The rules between two groups of the cluster."""
    return rules(parties(CLUSTER, a), parties(CLUSTER, b), direction)


def ports(called: Node) -> tuple[int, ...]:
    """Where a node is connected to."""
    if called.kind == "host":
        return PORTS["broker"] + PORTS["zookeeper"]
    return PORTS.get(called.kind, ())


def apart(a: Node, b: Node) -> bool:
    """Whether they are on different machines, so that a packet tells them apart."""
    return a.host != b.host


two = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)).filter(lambda pair: apart(*pair))


@given(pair=two)
def test_every_connection_between_the_two_is_cut(pair: tuple[Node, Node]) -> None:
    """Both directions of every connection that either of them opens to the other."""
    a, b = pair
    standing = cut([a], [b])
    for caller, called in ((a, b), (b, a)):
        if party(CLUSTER, caller).calls(party(CLUSTER, called)):
            for port in ports(called):
                for packet in connection(caller, called, port):
                    assert stopped(standing, packet), packet


@given(pair=two, third=st.sampled_from(NODES), other=st.sampled_from(NODES))
def test_nobody_else_is_touched(pair: tuple[Node, Node], third: Node, other: Node) -> None:
    """Packets of machines that are not on both sides of the cut go through."""
    a, b = pair
    machines = {third.host, other.host}
    if machines == {a.host, b.host}:
        return
    for port in (*ports(other), 22, 12345):
        for packet in connection(third, other, port):
            assert not stopped(cut([a], [b]), packet), packet


@given(pair=two)
def test_a_process_is_no_whole_host(pair: tuple[Node, Node]) -> None:
    """Between two processes, ports that neither serves stay open; between whole hosts nothing does."""
    a, b = pair
    whole = {a.kind, b.kind} <= {"host", "probe"}
    for packet in (*connection(a, b, 12345), *connection(b, a, 12345)):
        assert stopped(cut([a], [b]), packet) is whole


@given(pair=two)
def test_in_and_out_are_the_halves_of_both(pair: tuple[Node, Node]) -> None:
    """`in` stops what goes to the first group, `out` what leaves it; together they are the whole cut."""
    a, b = pair
    halves = {direction: cut([a], [b], direction) for direction in ("in", "out", "both")}
    for caller, called in ((a, b), (b, a)):
        for port in (*ports(called), 12345):
            for packet in connection(caller, called, port):
                towards = packet.target == a.host
                whole = stopped(halves["both"], packet)
                assert stopped(halves["in"], packet) == (whole and towards)
                assert stopped(halves["out"], packet) == (whole and not towards)


@given(pair=two)
def test_rules_stand_on_the_first_groups_hosts(pair: tuple[Node, Node]) -> None:
    """Or on the second's, where the first has none."""
    a, b = pair
    assert set(cut([a], [b])) <= {a.host or b.host}


@given(pair=two, direction=st.sampled_from(["both", "in", "out"]))
def test_the_order_of_members_does_not_matter(pair: tuple[Node, Node], direction: Direction) -> None:
    """The same groups make the same rules, so that a cut can be recognised."""
    group = [node for node in NODES if node.host != pair[0].host][:3]
    assert cut([pair[0]], group, direction) == cut([pair[0]], group[::-1], direction)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_host_from_everyone_else(number: int) -> None:
    """No packet of others gets to it or away from it, whatever the port; its own loopback works."""
    standing = rules(parties(CLUSTER, [host(number)]), (ANYBODY,), "both")
    assert set(standing) == {f"node{number}"}
    for node, port in product(NODES, (9092, 2181, 12345)):
        inside = node.host == f"node{number}"
        for packet in (*connection(node, host(number), port), *connection(host(number), node, port)):
            assert stopped(standing, packet) is not inside


def test_members_of_a_group_still_reach_each_other() -> None:
    """Two hosts cut from everyone else are a minority that still talks among itself."""
    standing = rules(parties(CLUSTER, [host(1), host(2)]), (ANYBODY,), "both")
    for packet in (*connection(host(1), host(2), 9093), *connection(host(2), host(1), 12345)):
        assert not stopped(standing, packet)
    for packet in (*connection(host(1), host(3), 9093), *connection(PROBES, host(2), 9092)):
        assert stopped(standing, packet)


def test_two_processes_of_one_host() -> None:
    """A broker cut from the ZooKeeper node beside it: on the loopback interface, and nowhere else."""
    standing = cut([broker(0)], [zookeeper(1)])
    assert all(stopped(standing, packet) for packet in connection(host(1), host(1), 2181))
    assert not any(stopped(standing, packet) for packet in connection(host(2), host(1), 2181))
    assert not any(stopped(standing, packet) for packet in connection(host(1), host(1), 9092))


def test_a_listener_alone() -> None:
    """Only its own port is closed: clients are cut off, replication goes on."""
    standing = cut([listener("CLIENT", 1)], [PROBES, broker(0), broker(2)])
    assert all(stopped(standing, packet) for packet in connection(PROBES, broker(1), 9092))
    assert all(stopped(standing, packet) for packet in connection(broker(0), broker(1), 9092))
    assert not any(stopped(standing, packet) for packet in connection(broker(0), broker(1), 9093))
    assert not any(stopped(standing, packet) for packet in connection(broker(1), broker(0), 9092))


def test_only_some_ports() -> None:
    """`ports` leaves every other connection alone, also between whole hosts."""
    a, b = (with_ports(parties(CLUSTER, [host(n)]), (2181,)) for n in (1, 2))
    standing = rules(a, b, "both")
    assert all(stopped(standing, packet) for packet in connection(host(1), host(2), 2181))
    assert all(stopped(standing, packet) for packet in connection(host(2), host(1), 2181))
    assert not any(stopped(standing, packet) for packet in connection(host(1), host(2), 9092))


def test_some_ports_of_everybody() -> None:
    """Nobody connects to those ports of the host, and the host to those ports of nobody."""
    one, anybody = (with_ports(p, (9092,)) for p in (parties(CLUSTER, [host(1)]), (ANYBODY,)))
    standing = rules(one, anybody, "both")
    assert all(stopped(standing, p) for p in (*connection(PROBES, host(1), 9092), *connection(host(1), host(2), 9092)))
    assert not any(stopped(standing, p) for p in connection(PROBES, host(1), 9093))


def test_probes_and_anybody_have_no_place_for_rules() -> None:
    """Neither has a host of the cluster, so there is no rule between them."""
    assert rules(parties(CLUSTER, [PROBES]), (ANYBODY,), "both") == {}


def test_no_rule_is_needless() -> None:
    """What a wider rule stops needs no rule of its own; verifying asks for each of them."""
    standing = rules(parties(CLUSTER, [host(1)]), (ANYBODY, *parties(CLUSTER, [broker(1), host(2)])), "both")
    assert [words_of(rule) for rule in standing["node1"]] == [
        ["any I -i lo -j RETURN"], ["any O -o lo -j RETURN"], ["any I -j DROP"], ["any O -j DROP"],
    ]  # fmt: skip


def words_of(rule: Rule) -> list[str]:
    """As the script reads it."""
    return list(words(rule, "drop"))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule("I", peer="198.18.0.12"), "4 I -s 198.18.0.12 -j DROP"),
        (Rule("O", peer="2001:db8::1"), "6 O -d 2001:db8::1 -j DROP"),
        (Rule("O", peer="kafka1.example", port=("peer", 9092)), "any O -d @kafka1.example -p tcp --dport 9092 -j DROP"),
        (Rule("I", peer=SELF, port=("own", 9092)), f"any I -s {SELF} -p tcp --dport 9092 -j DROP"),
        (Rule("O", peer=SELF, own="::1", port=("own", 9092)), f"6 O -d {SELF} -s ::1 -p tcp --sport 9092 -j DROP"),
        (Rule("I", loopback=True, port=("peer", 2181)), "any I -i lo -p tcp --sport 2181 -j DROP"),
        (Rule("I", loopback=True, stop=False), "any I -i lo -j RETURN"),
    ],
)
def test_how_a_rule_is_written(rule: Rule, expected: str) -> None:
    """Family first, then the chain's side, then what iptables takes."""
    assert words_of(rule) == [expected]


def test_reject_resets_tcp_and_refuses_the_rest() -> None:
    """A reset is the only refusal a TCP connection dies of at once; others get an ICMP message."""
    assert list(words(Rule("I"), "reject")) == ["any I -p tcp -j REJECT --reject-with tcp-reset", "any I -j REJECT"]
    assert list(words(Rule("I", port=("own", 9092)), "reject")) == [
        "any I -p tcp --dport 9092 -j REJECT --reject-with tcp-reset"
    ]


def test_a_listener_of_another_family_makes_no_rule() -> None:
    """An IPv6 listener is not reached from an IPv4 address: such a rule would be refused by iptables."""
    mixed = on_hosts("198.18.0.11", "198.18.0.12").model_dump(exclude_defaults=True)
    mixed["brokers"][0]["listeners"]["CLIENT"]["address"] = "2001:db8::1"
    inventory = type(CLUSTER).model_validate(mixed)
    found = rules(parties(inventory, [listener("CLIENT", 0)]), parties(inventory, [host(2)]), "both")
    assert found == {}
