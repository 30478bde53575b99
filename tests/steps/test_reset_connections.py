"""reset_connections: what it yields, whose connections it means, and what is refused before anything is done."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.hosts.firewall.party import SELF
from chaosk.spec.contracts.step import Run
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, EVERYONE, HOSTS, PROBES, ZOOKEEPERS, site, step, told

RESET = "reset_connections: {between: [a, b]%s}"
CUT = "cut_network: {between: [a, b]%s}"
DOORS = tuple(Node(kind="listener", id=f"CLIENT/{n}", host=f"node{n + 1}") for n in (0, 1))


def rules(inventory: Inventory, text: str, a: tuple[Node, ...], b: tuple[Node, ...]) -> dict[str, list[str]]:
    """By host the rules on arriving packets that a step of the name gives."""
    deeds = step(text).inject(site(inventory, a=a, b=b))
    commands = [deed.command for deed in deeds if isinstance(deed, Run)]
    lines = {command.host: (command.stdin or "").splitlines() for command in commands}
    return {host: [line for line in those if line.split()[1] == "I"] for host, those in lines.items()}


def test_its_life(inventory: Inventory) -> None:
    """The kernels are asked, each host does it, and nothing is left to undo: no lease, no `for`."""
    reset, here = step(RESET % ""), site(inventory, a=BROKERS[:2], b=[PROBES])
    assert told(reset.before(here)) == ["node1: fits", "node2: fits"]
    assert told(reset.inject(here)) == ["node1: end", "node2: end"]
    assert [*reset.verify(here), *reset.undo(here), *reset.healed(here), *reset.harm(here)] == []
    assert not reset.lasting


def test_it_is_done_once(inventory: Inventory) -> None:
    """Done again because an answer was lost, it would end the connections that have come since."""
    (deed,) = step(RESET % "").inject(site(inventory, a=BROKERS[:1], b=[PROBES]))
    assert isinstance(deed, Run)
    assert not deed.command.repeatable


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (BROKERS[:1], (PROBES,)),
        (BROKERS[:1], BROKERS[1:]),
        (BROKERS[:1], ZOOKEEPERS),
        (BROKERS[:1], (EVERYONE,)),
        ((EVERYONE,), BROKERS[:1]),
        (HOSTS[:1], HOSTS[1:]),
        (DOORS[:1], (PROBES,)),
    ],
)
def test_it_ends_what_a_cut_would_stop(inventory: Inventory, a: tuple[Node, ...], b: tuple[Node, ...]) -> None:
    """On the same hosts, by the same rules for arriving packets, and by no others."""
    found = rules(inventory, RESET % "", a, b)
    assert found == rules(inventory, CUT % "", a, b)
    assert all(found.values())


def test_probes_first(inventory: Inventory) -> None:
    """The rules stand on the brokers' hosts then, and speak of what arrives there."""
    assert rules(inventory, RESET % ", ports: [9092]", (PROBES,), BROKERS[1:2]) == {
        "node2": [f"any I -s {SELF} -p tcp --dport 9092 -j DROP"]
    }


def test_ssh_cannot_be_reset(inventory: Inventory) -> None:
    """A reset that names SSH's port is refused, as such a cut is."""
    with pytest.raises(StepError, match="port 22 is SSH on node1, by which chaosk heals it"):
        rules(inventory, RESET % ", ports: [9092, 22]", HOSTS[:1], HOSTS[1:])


def test_groups_that_have_no_connections_are_refused(inventory: Inventory) -> None:
    """Nothing would happen, and look as if it had done no harm."""
    with pytest.raises(StepError, match="entry: neither of the groups connects to the other"):
        list(step(RESET % "").before(site(inventory, a=DOORS[:1], b=DOORS[1:])))
    with pytest.raises(StepError, match="entry: one of the groups has no nodes"):
        list(step(RESET % "").before(site(inventory, a=BROKERS[:1], b=())))


def test_hosts_are_asked_before_the_run(inventory: Inventory) -> None:
    """Whatever may be aimed at: the two groups are not told apart then; and probes have no kernel of their own."""
    (fact,) = step(RESET % "").suits(site(inventory, a=[BROKERS[0], PROBES], b=[BROKERS[0], PROBES]))
    assert told([fact]) == ["node1: fits"]


def test_a_direction_makes_no_sense() -> None:
    """A connection has two, and it ends for both."""
    with pytest.raises(ValidationError, match="Extra inputs"):
        step(RESET % ", direction: in")


def test_it_cannot_be_while_a_cut_is(inventory: Inventory) -> None:
    """The other end would hear of no reset."""
    here = site(inventory, a=BROKERS[:1], b=[PROBES])
    assert list(step(RESET % "").holds(here)) == list(step(CUT % "").holds(here)) != []
