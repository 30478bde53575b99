"""The step that cuts: which groups it takes, where its rules stand, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, PreparedFault, Run, Site
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, EVERYONE, HOSTS, PROBES, ZOOKEEPERS, site, step, told

CUT = "cut_network: {between: [a, b]%s}"


def rules(inventory: Inventory, a: tuple[Node, ...], b: tuple[Node, ...], more: str = "") -> dict[str, list[str]]:
    """By host the rules that the cut puts there."""
    deeds = step(CUT % more).inject(site(inventory, a=a, b=b))
    commands = [deed.command for deed in deeds if isinstance(deed, Run)]
    return {command.host: (command.stdin or "").splitlines() for command in commands}


def test_the_life_of_a_cut(inventory: Inventory) -> None:
    """Nothing there, put in place, seen standing, taken away, nothing left."""
    cut, here = step(CUT % ""), site(inventory, a=HOSTS[:1], b=HOSTS[1:])
    assert told(cut.before(here)) == ["node1: gone"]
    assert told(cut.inject(here)) == ["node1: install"]
    assert told(cut.verify(here)) == ["node1: standing", "node1: 198.18.0.12"]
    assert told(cut.undo(here)) == ["node1: remove"]
    assert told(cut.healed(here)) == ["node1: gone"]
    assert cut.lasting


@pytest.mark.parametrize("firewall", ["auto", "nft", "iptables"])
def test_the_inventory_says_what_cuts(inventory: Inventory, firewall: str) -> None:
    """Every command to a host names what its inventory names, from the first question to the last."""
    hosts = {**inventory.hosts, "node1": inventory.hosts["node1"].model_copy(update={"firewall": firewall})}
    cut, here = step(CUT % ""), site(inventory.model_copy(update={"hosts": hosts}), a=HOSTS[:1], b=HOSTS[1:])
    deeds = [deed.command for deed in (*cut.inject(here), *cut.undo(here)) if isinstance(deed, Run)]
    facts = [*cut.before(here), *cut.verify(here), *cut.healed(here)]
    asked = [fact.query for fact in facts if isinstance(fact.query, Command) and fact.query.sudo]
    assert [command.argv[-1] for command in (*deeds, *asked)] == [firewall] * 5


def test_what_is_verified_is_what_was_asked(inventory: Inventory) -> None:
    """The same rules are put in place and looked for, in the same chain."""
    cut, here = step(CUT % ""), site(inventory, a=BROKERS[:1], b=[EVERYONE])
    (install,) = cut.inject(here)
    standing, _ = cut.verify(here)
    assert isinstance(install, Run)
    assert isinstance(standing, Fact)
    assert isinstance(standing.query, Command)
    assert standing.query.stdin == install.command.stdin
    assert standing.query.argv[5:] == install.command.argv[5:]


@pytest.mark.parametrize(
    ("written", "groups"),
    [
        ("[a, b]", (("a",), ("b",))),
        ("[[a, c], b]", (("a", "c"), ("b",))),
        ('["leader(orders, 0)", everyone else]', (("leader(orders, 0)",), ("everyone else",))),
    ],
)
def test_a_group_is_a_target_or_a_list(written: str, groups: tuple[tuple[str, ...], ...]) -> None:
    """Both spellings mean the same, and every target of both groups is resolved."""
    cut = step(f"cut_network: {{between: {written}}}")
    assert cut.model_dump()["between"] == groups
    assert cut.targets() == tuple(dict.fromkeys(target for group in groups for target in group))
    assert type(cut).model_validate_json(cut.model_dump_json()) == cut


@pytest.mark.parametrize("between", ["[a]", "[a, b, c]", "a", "[a, []]", '[a, ""]', "[a, {b: c}]", "[[[a]], b]"])
def test_anything_but_two_groups_is_refused(between: str) -> None:
    """When the scenario is read, long before the cluster is touched."""
    with pytest.raises(ValidationError):
        step(f"cut_network: {{between: {between}}}")


def test_a_host_from_everyone_else(inventory: Inventory) -> None:
    """All packets, but those on its own loopback."""
    assert rules(inventory, HOSTS[:1], (EVERYONE,)) == {
        "node1": ["any I -i lo -j RETURN", "any O -o lo -j RETURN", "any I -j DROP", "any O -j DROP"]
    }


def test_everyone_else_can_stand_first(inventory: Inventory) -> None:
    """Then `in` is what goes to everyone else: the same as `out` of the other group."""
    turned = rules(inventory, (EVERYONE,), HOSTS[:1], ", direction: in")
    assert turned == rules(inventory, HOSTS[:1], (EVERYONE,), ", direction: out")
    assert turned["node1"][-1] == "any O -j DROP"


def test_a_broker_from_everyone_else(inventory: Inventory) -> None:
    """Nobody gets in, and it does not reach the other brokers and ZooKeeper, also not the one beside it."""
    lines = rules(inventory, BROKERS[:1], (EVERYONE,))["node1"]
    assert "any I -p tcp --dport 9092 -j DROP" in lines
    assert "4 O -d 198.18.0.12 -p tcp --dport 9093 -j DROP" in lines
    assert "any O -o lo -p tcp --dport 2181 -j DROP" in lines
    beside = lines.index("any O -o lo -p tcp --dport 2181 -j DROP")
    assert beside < lines.index("any O -o lo -j RETURN") < lines.index("any O -p tcp --sport 9092 -j DROP")


def test_a_leader_from_its_peers_but_not_from_clients(inventory: Inventory) -> None:
    """The zombie leader of experiment G9: cut from the other brokers and all ZooKeeper nodes, probes reach it."""
    cut = rules(inventory, BROKERS[:1], (*BROKERS[1:], *ZOOKEEPERS))
    assert set(cut) == {"node1"}
    named = {word for line in cut["node1"] for word in line.split() if word.startswith(("198", "@"))}
    assert named == {"198.18.0.12", "198.18.0.13"}
    assert not [line for line in cut["node1"] if line.startswith("any I -p")]


def test_probes_from_one_broker(inventory: Inventory) -> None:
    """The rules stand on the broker's host, against the address that chaosk has there."""
    assert rules(inventory, (PROBES,), BROKERS[1:2]) == {
        "node2": [
            "any I -s @_self -p tcp --dport 9092 -j DROP", "any I -s @_self -p tcp --dport 9093 -j DROP",
            "any O -d @_self -p tcp --sport 9092 -j DROP", "any O -d @_self -p tcp --sport 9093 -j DROP",
        ]
    }  # fmt: skip


def test_probes_from_everyone_else(inventory: Inventory) -> None:
    """A client that reaches nothing of the cluster."""
    cut = rules(inventory, (PROBES,), (EVERYONE,))
    assert set(cut) == {"node1", "node2", "node3"}
    assert cut["node1"] == ["any I -s @_self -j DROP", "any O -d @_self -j DROP"]


def test_a_client_on_the_minority_side(inventory: Inventory) -> None:
    """One host and the probes from everyone else: those two still reach each other, and nobody else."""
    cut = rules(inventory, (HOSTS[0], PROBES), (EVERYONE,))
    assert cut["node1"][:2] == ["any I -i lo -j RETURN", "any I -s @_self -j RETURN"]
    assert cut["node2"] == ["any I -s @_self -j DROP", "any O -d @_self -j DROP"]


def test_only_one_port(inventory: Inventory) -> None:
    """`ports` picks connections by their port, also between hosts."""
    lines = rules(inventory, HOSTS[:1], HOSTS[1:2], ", ports: [2181]")["node1"]
    assert len(lines) == 4
    assert all("port 2181 " in line for line in lines)


def test_reject(inventory: Inventory) -> None:
    """Refused at once, not dropped in silence."""
    lines = rules(inventory, HOSTS[:1], HOSTS[1:2], ", action: reject")["node1"]
    assert {line.split(" -j ")[1] for line in lines} == {"REJECT", "REJECT --reject-with tcp-reset"}


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ((), HOSTS[:1], "one of the groups has no nodes"),
        (HOSTS[:1], (), "one of the groups has no nodes"),
        (HOSTS[:1], HOSTS[:2], "both sides of the cut have host node1"),
        (HOSTS[:1], BROKERS[:1], "both sides of the cut have"),
        ((PROBES,), (PROBES,), "both sides of the cut have probe"),
        ((EVERYONE,), (EVERYONE,), "`everyone else` is a group of its own"),
        (HOSTS[:1], (EVERYONE, HOSTS[1]), "`everyone else` is a group of its own"),
    ],
)
def test_groups_that_make_no_cut_are_refused(
    inventory: Inventory, a: tuple[Node, ...], b: tuple[Node, ...], why: str
) -> None:
    """With the entry's name, before anything is written down or touched."""
    with pytest.raises(StepError, match=f"^entry: {why}"):
        list(step(CUT % "").before(site(inventory, a=a, b=b)))


def test_ssh_cannot_be_cut(inventory: Inventory) -> None:
    """A cut that names SSH's port would stop nothing, since SSH stays open: so it is refused."""
    with pytest.raises(StepError, match="port 22 is SSH on node1, by which chaosk heals it"):
        rules(inventory, HOSTS[:1], HOSTS[1:], ", ports: [9092, 22]")


def test_each_entry_has_chains_of_its_own(inventory: Inventory) -> None:
    """Two cuts of one run at the same time do not share any."""
    aims = {"a": HOSTS[:1], "b": HOSTS[1:]}
    names = set()
    for entry in ("one", "two"):
        (deed,) = step(CUT % "").inject(Site(inventory, "run-1", entry, aims))
        assert isinstance(deed, Run)
        names.add(deed.command.argv[5])
    assert len(names) == 2


def test_a_cut_is_data(inventory: Inventory) -> None:
    """All of it can be written down and read back the same."""
    cut, here = step(CUT % ""), site(inventory, a=BROKERS[:1], b=[EVERYONE])
    names = ("before", "inject", "verify", "undo", "healed")
    parts: dict[str, Any] = {name: tuple(getattr(cut, name)(here)) for name in names}
    fault = PreparedFault(name="entry", step="cut_network", targets=here.nodes("a", "b"), **parts)
    assert PreparedFault.model_validate_json(fault.model_dump_json()) == fault


def watched(inventory: Inventory, a: tuple[Node, ...], b: tuple[Node, ...], more: str = "") -> list[str]:
    """What is looked at while a cut lasts."""
    return [
        fact.query if isinstance(fact.query, str) else f"{fact.query.host}: {fact.query.argv[4]}"
        for fact in step(CUT % more).watch(site(inventory, a=a, b=b))
        if isinstance(fact.query, str | Command)
    ]


def test_what_is_cut_from_here_is_tried_from_here(inventory: Inventory) -> None:
    """The rules on their host, and each listener for clients that they part from the machine of the probes."""
    first = inventory.brokers[0]
    ports = {name: at for name, at in first.listeners.items() if at.clients}
    tried = [f"not(listener_up(0, {name}))" for name in ports]
    assert tried
    assert watched(inventory, HOSTS[:1], (EVERYONE,))[0] == "node1: lasts"
    assert set(tried) <= set(watched(inventory, HOSTS[:1], (EVERYONE,)))
    assert set(tried) <= set(watched(inventory, BROKERS[:1], (PROBES,)))
    assert watched(inventory, HOSTS[:1], HOSTS[1:]) == ["node1: lasts"], "clients go on"
    assert watched(inventory, HOSTS[:1], (EVERYONE,), ", ports: [65000]") == ["node1: lasts"]


def test_a_look_says_the_same_as_what_was_verified(inventory: Inventory) -> None:
    """So its marks are compared with those of the verification; and a host can ask it without rules."""
    cut, here = step(CUT % ""), site(inventory, a=HOSTS[:1], b=HOSTS[1:])
    (fact, _), (look,) = cut.verify(here), cut.watch(here)
    assert look.says == fact.says
    assert isinstance(look.query, Command)
    assert look.query.stdin is None


def test_it_says_who_is_on_which_side(inventory: Inventory) -> None:
    """One against two others, and which way a cut in one direction goes."""
    here = site(inventory, a=HOSTS[:1], b=HOSTS[1:3])
    one, *others = (str(node) for node in HOSTS[:3])
    assert step(CUT % "").aimed(here) == f"between {one} on one side and {' and '.join(others)} on the other"
    assert step(CUT % ", direction: in").aimed(here) == f"from {' and '.join(others)} to {one}"
    assert step(CUT % ", direction: out").aimed(here) == f"from {one} to {' and '.join(others)}"


@pytest.mark.parametrize(
    ("a", "b", "more", "tried"),
    [
        (HOSTS[:1], HOSTS[1:], "", ["node1 198.18.0.12 9092"]),
        (HOSTS[:2], HOSTS[2:], ", direction: in", ["node1 198.18.0.13 9092", "node2 198.18.0.13 9092"]),
        (HOSTS[:1], (EVERYONE,), "", ["node1 198.18.0.12 9092"]),
        (HOSTS[:1], (EVERYONE,), ", ports: [2181]", ["node1 198.18.0.12 2181"]),
        (BROKERS[:1], ZOOKEEPERS[1:], "", ["node1 198.18.0.12 2181"]),
        (ZOOKEEPERS[:1], BROKERS[1:], "", ["node2 198.18.0.11 2181"]),
        (BROKERS[:1], ZOOKEEPERS[:1], "", []),
        (BROKERS[:1], (PROBES,), "", []),
    ],
    ids=["hosts", "two hosts", "everyone else", "a port", "brokers call", "ZooKeeper is called", "one host", "probes"],
)
def test_a_connection_is_tried_across_the_cut(
    inventory: Inventory, a: tuple[Node, ...], b: tuple[Node, ...], more: str, tried: list[str]
) -> None:
    """From each host of the first group to a server of the other, or to it from a server that calls it."""
    facts = step(CUT % more).verify(site(inventory, a=a, b=b))
    queries = [fact.query for fact in facts if isinstance(fact.query, Command) and not fact.query.sudo]
    assert [f"{query.host} {' '.join(query.argv[4:])}" for query in queries] == tried
