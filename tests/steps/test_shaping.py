"""The steps on queues: which packets they mean, on which hosts, in tc's words, and what they refuse."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.planning.conflicts import contradiction
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, PreparedFault, Run
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, EVERYONE, HOSTS, PROBES, ZOOKEEPERS, site, step, told

DELAY = "delay_network: {between: [a, b], delay: 100ms%s}"
EVERY = {
    "delay_network": "delay: 100ms",
    "duplicate_packets": "share: 10 %",
    "reorder_packets": "share: 25 %",
    "limit_bandwidth": "rate: 1Mbit/s",
}


def rules(inventory: Inventory, a: tuple[Node, ...], b: tuple[Node, ...], more: str = "") -> dict[str, list[str]]:
    """By host the packets that are delayed."""
    deeds = step(DELAY % more).inject(site(inventory, a=a, b=b))
    commands = [deed.command for deed in deeds if isinstance(deed, Run)]
    return {command.host: (command.stdin or "").splitlines() for command in commands}


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("delay_network: {between: [a, b], delay: 100ms}", "netem delay 100000us"),
        ("delay_network: {between: [a, b], delay: 1s, jitter: 250ms}", "netem delay 1000000us 250000us"),
        ("duplicate_packets: {between: [a, b], share: 12.5 %}", "netem duplicate 12.5000%"),
        ("reorder_packets: {between: [a, b], share: 25 %}", "netem delay 10000us reorder 25.0000%"),
        (
            "limit_bandwidth: {between: [a, b], rate: 8Mbit/s}",
            "htb rate 8000000bit burst 16384 cburst 16384 limit 200000",
        ),
        (
            "limit_bandwidth: {between: [a, b], rate: 8kbit/s}",
            "htb rate 8000bit burst 16384 cburst 16384 limit 131072",
        ),
    ],
)
def test_what_tc_is_told(inventory: Inventory, text: str, how: str) -> None:
    """From the first question to the last the same, and the packets with it."""
    here, it = site(inventory, a=HOSTS[:1], b=HOSTS[1:]), step(text)
    (fits,), (put,), (stands,) = it.before(here), it.inject(here), it.verify(here)
    assert isinstance(put, Run)
    assert put.command.argv[6:] == (how,)
    for fact in (fits, stands):
        assert isinstance(fact, Fact)
        assert isinstance(fact.query, Command)
        assert fact.query.argv[5:] == put.command.argv[5:]
        assert fact.query.stdin == put.command.stdin


@pytest.mark.parametrize("kind", EVERY)
def test_its_life(inventory: Inventory, kind: str) -> None:
    """The kernel can, it is put in place, it stands, it is taken away, nothing is left."""
    here, it = site(inventory, a=HOSTS[:1], b=HOSTS[1:]), step(f"{kind}: {{between: [a, b], {EVERY[kind]}}}")
    every = [it.before, it.inject, it.verify, it.undo, it.healed]
    assert [told(one(here)) for one in every] == [
        ["node1: fits"], ["node1: put"], ["node1: stands"], ["node1: lift"], ["node1: gone"],
    ]  # fmt: skip


def test_only_what_leaves_by_default(inventory: Inventory) -> None:
    """Queues hold what leaves: on the first group's hosts, on the second's, or on both; never what arrives."""
    one, two = ["4 O -d 198.18.0.12 -j DROP"], ["4 O -d 198.18.0.11 -j DROP"]
    a, b = HOSTS[:1], HOSTS[1:2]
    assert rules(inventory, a, b) == rules(inventory, a, b, ", direction: out") == {"node1": one}
    assert rules(inventory, a, b, ", direction: in") == {"node2": two}
    assert rules(inventory, a, b, ", direction: both") == {"node1": one, "node2": two}


def test_a_host_from_everyone_else(inventory: Inventory) -> None:
    """Whatever leaves it, whoever it is for."""
    assert rules(inventory, HOSTS[:1], (EVERYONE,)) == {"node1": ["any O -j DROP"]}
    assert rules(inventory, (EVERYONE,), HOSTS[:1], ", direction: in") == {"node1": ["any O -j DROP"]}


def test_probes_wait_for_answers(inventory: Inventory) -> None:
    """What a broker's ports send to chaosk's machine."""
    found = rules(inventory, BROKERS[:1], (PROBES,), ", ports: [9092]")
    assert found == {"node1": ["any O -d @_self -p tcp --sport 9092 -j DROP"]}


@pytest.mark.parametrize(("other", "direction"), [(PROBES, "in"), (EVERYONE, "in"), (PROBES, "both")])
def test_what_leaves_no_host_is_refused(inventory: Inventory, other: Node, direction: str) -> None:
    """Nobody's queue holds it; the message says which direction there is."""
    with pytest.raises(StepError, match=r"leaves no host of the inventory.*`direction: out`"):
        rules(inventory, HOSTS[:1], (other,), f", direction: {direction}")
    with pytest.raises(StepError, match="`direction: in`"):
        rules(inventory, (other,), HOSTS[:1])


def test_what_stays_on_a_host_is_not_meant(inventory: Inventory) -> None:
    """A broker and the ZooKeeper node beside it: with others as well they are passed over, alone they are refused."""
    found = rules(inventory, BROKERS[:1], ZOOKEEPERS)
    assert list(found) == ["node1"]
    assert not [line for line in found["node1"] if "-o lo" in line or "198.18.0.11" in line]
    with pytest.raises(StepError, match="both groups are on one host"):
        rules(inventory, BROKERS[:1], ZOOKEEPERS[:1])


def test_ssh_is_refused(inventory: Inventory) -> None:
    """Its port by name; the script lets it past the queue besides."""
    with pytest.raises(StepError, match="is SSH on node1"):
        rules(inventory, HOSTS[:1], HOSTS[1:], ", ports: [22]")


def fault(inventory: Inventory, kind: str, a: tuple[Node, ...], b: tuple[Node, ...]) -> PreparedFault:
    """A fault as far as contradictions look at it."""
    it = step(f"{kind}: {{between: [a, b], {EVERY.get(kind, 'direction: out')}}}")
    here = site(inventory, a=a, b=b)
    return PreparedFault(
        name=kind, step=kind, targets=(*a, *b), before=(), inject=(), verify=(), undo=(), healed=(),
        holds=tuple(it.holds(here)),
    )  # fmt: skip


def test_one_step_at_a_time_has_the_queues_of_a_host(inventory: Inventory) -> None:
    """Another of them contradicts it, whatever the groups; on other hosts, or by the packet filter, it does not."""
    here = fault(inventory, "delay_network", HOSTS[:1], HOSTS[1:2])
    same = fault(inventory, "limit_bandwidth", HOSTS[:1], HOSTS[2:])
    elsewhere = fault(inventory, "limit_bandwidth", HOSTS[1:2], HOSTS[:1])
    cut = fault(inventory, "cut_network", HOSTS[:1], HOSTS[1:2])
    assert "the queues of node1" in (contradiction(same, (), [here]) or "")
    assert contradiction(elsewhere, (), [here]) is None
    assert contradiction(cut, (), [here]) is None


@pytest.mark.parametrize(("kind", "harms"), [(kind, kind in {"delay_network", "limit_bandwidth"}) for kind in EVERY])
def test_what_counts_as_a_cut(inventory: Inventory, kind: str, harms: bool) -> None:  # noqa: FBT001 - of the table
    """What can be too late counts; what TCP puts right does not."""
    here = site(inventory, a=HOSTS[:1], b=[EVERYONE])
    cut = list(step("cut_network: {between: [a, b]}").harm(here))
    assert list(step(f"{kind}: {{between: [a, b], {EVERY[kind]}}}").harm(here)) == (cut if harms else [])


@pytest.mark.parametrize(
    "text",
    [
        "delay_network: {between: [a, b], delay: 10ms, jitter: 11ms}",
        "delay_network: {between: [a, b], delay: 0s}",
        "delay_network: {between: [a, b], delay: 61s}",
        "duplicate_packets: {between: [a, b], share: 0 %}",
        "reorder_packets: {between: [a, b], share: 100 %}",
        "limit_bandwidth: {between: [a, b], rate: 7999bit/s}",
        "limit_bandwidth: {between: [a, b], rate: 10MB/s}",
    ],
)
def test_what_makes_no_sense_is_refused(text: str) -> None:
    """When the scenario is read."""
    with pytest.raises(ValidationError):
        step(text)
