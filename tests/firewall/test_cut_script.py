"""The script that puts rules on a host, on real packet filters (both kinds of iptables, nft) in namespaces."""

from __future__ import annotations

import re
import subprocess
from itertools import permutations

import pytest

from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.commands import Cut
from chaosk.hosts.firewall.party import SELF
from chaosk.hosts.firewall.rules import Action, Rule
from chaosk.spec.command import Command

from .machine import CUT, FOREIGN, OTHER, RULES, Machine, gone, install, remove, standing

pytestmark = pytest.mark.lab

IPTABLES = pytest.mark.parametrize("machine", ["iptables-nft", "iptables-legacy"], indirect=True)


@pytest.mark.parametrize("action", ["drop", "reject"])
def test_a_cut_and_its_end(machine: Machine, action: Action) -> None:
    """Put in place it stands, taken away it is gone, and every foreign rule is as it was, byte for byte."""
    before = machine.saved()
    machine.do(gone())
    machine.do(install(action=action))
    assert "0 packets stopped" in machine.do(standing(action=action))
    assert "is there" in machine.refuse(gone())
    machine.do(remove())
    machine.do(gone())
    assert machine.saved() == before


@IPTABLES
def test_ssh_comes_first(machine: Machine) -> None:
    """By the port that sshd itself names, before anything is stopped, both ways; IPv6 neighbours are found."""
    machine.do(install(rules=(Rule("I"), Rule("O"))))
    for tool in ("iptables", "ip6tables"):
        listed = machine.sh(f"{tool} -S {CUT.chain}-I; {tool} -S {CUT.chain}-O").stdout.splitlines()
        rules = [line.split(" ", 2)[2] for line in listed if line.startswith("-A")]
        half = len(rules) // 2
        assert rules[0] == "-p tcp -m tcp --dport 2222 -j RETURN"
        assert rules[half] == "-p tcp -m tcp --sport 2222 -j RETURN"
        assert (rules[half - 1], rules[-1]) == ("-j DROP", "-j DROP")
        neighbours = [rule for rule in rules if "icmpv6-type" in rule]
        assert len(neighbours) == (8 if tool == "ip6tables" else 0)


@IPTABLES
def test_the_jumps_come_first_and_are_tagged(machine: Machine) -> None:
    """Before a rule that accepts established connections, with the run and the entry in the comment."""
    machine.do(install())
    first = machine.sh("iptables -S INPUT | sed -n 2p").stdout
    assert first.endswith(f"-j {CUT.chain}-I\n")
    assert "chaosk:2026-11-21T10-00-00.000000Z-lab:cut" in first


@IPTABLES
def test_placeholders_are_filled_in_by_the_host(machine: Machine) -> None:
    """The address of chaosk is the one that the session comes from, in the family it is of."""
    machine.do(install(rules=(Rule("I", peer=SELF),)))
    assert "-s 198.18.0.1/32 -j DROP" in machine.sh(f"iptables -S {CUT.chain}-I").stdout
    assert machine.sh(f"ip6tables -S {CUT.chain}-I").returncode != 0
    machine.do(install(rules=(Rule("I", peer=SELF),)), client="2001:db8::1")
    assert "-s 2001:db8::1/128 -j DROP" in machine.sh(f"ip6tables -S {CUT.chain}-I").stdout
    machine.do(install(rules=(Rule("I", peer=SELF),)), client="::ffff:198.18.0.1")
    assert "-s 198.18.0.1/32 -j DROP" in machine.sh(f"iptables -S {CUT.chain}-I").stdout


@IPTABLES
def test_names_are_resolved_by_the_host(machine: Machine) -> None:
    """A listener advertised by name is cut at every address the host knows for it; an unknown name is refused."""
    machine.do(install(rules=(Rule("O", peer="localhost", port=("peer", 9092)),)))
    assert "-d 127.0.0.1/32" in machine.sh(f"iptables-save | grep -- '-A {CUT.chain}-O'").stdout + "-d 127.0.0.1/32" * (
        "::1" in machine.sh("getent ahosts localhost").stdout
    )
    said = machine.refuse(install(rules=(Rule("O", peer="no-such-host.invalid"),)))
    assert "knows no address of no-such-host.invalid" in said


def test_a_listener_in_the_other_family_is_refused(machine: Machine) -> None:
    """The session comes over IPv4, the listener is on IPv6: a cut of that pair would stop nothing."""
    rule = Rule("I", peer=SELF, own="2001:db8::11", port=("own", 9092))
    assert f"no address of {SELF[1:]} (IP version 6)" in machine.refuse(install(rules=(rule,)))
    machine.do(gone())


def test_doing_it_again_changes_nothing(machine: Machine) -> None:
    """A command that is sent twice leaves one cut, and one end of it is enough."""
    before = machine.saved()
    machine.do(install())
    once = machine.saved()
    machine.do(install())
    assert machine.saved() == once
    machine.do(remove())
    machine.do(remove())
    assert machine.saved() == before


@pytest.mark.parametrize("order", list(permutations((CUT, OTHER))))
def test_two_cuts_end_in_either_order(machine: Machine, order: tuple[Cut, Cut]) -> None:
    """Each stands beside the other, and is taken away without it."""
    before = machine.saved()
    machine.do(install(CUT))
    machine.do(install(OTHER, RULES[:2]))
    machine.do(standing(CUT))
    machine.do(standing(OTHER, RULES[:2]))
    first, second = order
    machine.do(remove(first))
    machine.do(gone(first))
    machine.do(standing(second, RULES if second is CUT else RULES[:2]))
    machine.do(remove(second))
    assert machine.saved() == before


DAMAGE = {
    "a rule removed": "iptables -D {chain}-I 2",
    "the jump removed": "iptables -D INPUT 1",
    "the other jump removed": "iptables -D OUTPUT 1",
    "a rule added": "iptables -A {chain}-I -s 192.0.2.7 -j DROP",
    "a rule replaced": "iptables -R {chain}-I 2 -s 192.0.2.7 -j DROP",
    "a rule put before it": "iptables -I INPUT 1 -s 198.18.0.12 -j ACCEPT",
    "the chain flushed": "iptables -F {chain}-O",
    "all flushed": "iptables -F",
    "an IPv6 rule removed": "ip6tables -D {chain}-I 1",
    "a new start of the firewall": "iptables-restore </dev/fd/3",
}


@IPTABLES
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_cut_that_no_longer_stands_is_noticed(machine: Machine, damage: str) -> None:
    """Whatever somebody does to it; and what is left of it is taken away all the same, and nothing else."""
    before = machine.saved()
    machine.do(install())
    machine.do(standing())
    change = damage.format(chain=CUT.chain).replace("/dev/fd/3", "/dev/stdin")
    assert machine.sh(change, stdin=FOREIGN).returncode == 0
    machine.refuse(standing())
    machine.do(remove())
    machine.do(gone())
    if "INPUT 1 -s" in damage:
        machine.sh("iptables -D INPUT 1")
    if damage != "iptables -F":
        assert machine.saved() == before


@IPTABLES
def test_another_cut_before_it_does_not_matter(machine: Machine) -> None:
    """Only a foreign rule before the jump could let packets past; another cut never does."""
    machine.do(install(CUT))
    machine.do(install(OTHER))
    assert machine.sh("iptables -S INPUT | sed -n 2p").stdout.endswith(f"-j {OTHER.chain}-I\n")
    machine.do(standing(CUT))


HALVES = [
    "iptables -N {chain}-I",
    "iptables -N {chain}-I && iptables -A {chain}-I -s 192.0.2.1 -j DROP",
    "iptables -N {chain}-O && iptables -I OUTPUT 1 -m comment --comment {comment} -j {chain}-O",
    "ip6tables -N {chain}-I && ip6tables -I INPUT 1 -j {chain}-I && ip6tables -I INPUT 1 -j {chain}-I",
]


@IPTABLES
@pytest.mark.parametrize("half", HALVES)
def test_half_a_cut_is_taken_away(machine: Machine, half: str) -> None:
    """Whatever a command left that was ended in the middle."""
    before = machine.saved()
    assert machine.sh(half.format(chain=CUT.chain, comment=CUT.comment)).returncode == 0
    machine.refuse(gone())
    machine.do(remove())
    machine.do(gone())
    assert machine.saved() == before


def test_a_refused_rule_leaves_nothing(machine: Machine) -> None:
    """If the packet filter refuses one family's rules, the other's are taken back."""
    before = machine.saved()
    command = install()
    broken = command.model_copy(update={"stdin": f"{command.stdin}6 I -s 2001:db8::1 -p nonsense -j DROP\n"})
    said = "nft cannot do it here" if machine.by == "nft" else "ip6tables-restore failed"
    assert said in machine.refuse(broken)
    assert machine.saved() == before


def test_no_rules_are_no_cut(machine: Machine) -> None:
    """A cut of nothing fails: it must not count as one that stands."""
    assert "no rules" in machine.refuse(install(rules=()))
    assert "no rules" in machine.refuse(standing(rules=()))


@pytest.mark.parametrize("action", ["drop", "reject"])
def test_packets_are_really_stopped_and_counted(machine: Machine, action: Action) -> None:
    """A connection over the loopback interface that worked does not any more, and works again afterwards."""
    connect = "timeout {} bash -c 'echo x >/dev/tcp/127.0.0.1/9092'"
    rules = (Rule("I", loopback=True, port=("own", 9092)),)
    with machine.serving(9092):
        assert machine.sh(connect.format(60)).returncode == 0
        machine.do(install(rules=rules, action=action))
        assert machine.sh(connect.format(1)).returncode == (124 if action == "drop" else 1)
        said = machine.do(standing(rules=rules, action=action))
        stopped = re.search(r" (\d+) packets stopped", said)
        assert stopped is not None
        assert int(stopped[1]) > 0
        machine.do(remove())
        assert machine.sh(connect.format(60)).returncode == 0


def test_without_an_ssh_session_nothing_is_cut(machine: Machine) -> None:
    """The port that must stay open is not known then."""
    command = install()
    argv = [*machine.enter, *machine.here(command)]
    env = {"PATH": machine.path}
    done = subprocess.run(argv, input=command.stdin, env=env, capture_output=True, text=True, check=False)
    assert "sshd has not set SSH_CONNECTION" in done.stderr
    machine.do(gone())


def test_taking_away_needs_no_ssh_session(machine: Machine) -> None:
    """Whoever heals, a timer on the host for example, needs the names alone."""
    machine.do(install())
    argv = [*machine.enter, *machine.here(remove())]
    subprocess.run(argv, env={"PATH": machine.path}, check=True)
    machine.do(gone())


def lasts() -> Command:
    """Whether it is there."""
    return commands.lasts("node1", CUT)


def shown(machine: Machine, query: Command) -> list[str]:
    """The marks in what is said of it."""
    return [line for line in machine.do(query).splitlines() if line.startswith("mark ")]


def test_as_long_as_it_lasts_it_is_the_same_one(machine: Machine) -> None:
    """Asked for in full or in short, and with others' rules and another cut that come and go."""
    machine.do(install())
    first = shown(machine, standing())
    assert first
    assert shown(machine, lasts()) == first
    machine.do(install(OTHER))
    machine.sh("iptables -A INPUT -s 192.0.2.10 -j DROP; iptables -D INPUT -s 192.0.2.10 -j DROP")
    assert shown(machine, lasts()) == first
    machine.do(remove(OTHER))
    assert shown(machine, standing()) == first


def test_what_was_put_back_is_another_one_or_has_counted_less(machine: Machine) -> None:
    """The same rules again: the kernel has other numbers for them, or at least their counters begin anew."""
    machine.do(install())
    with machine.serving(2181):
        machine.sh("timeout 3 bash -c '</dev/tcp/127.0.0.1/2181'")
    before = machine.do(lasts()).splitlines()
    machine.do(remove())
    machine.do(install())
    after = machine.do(lasts()).splitlines()
    assert before != after
    marks = [(one, two) for one, two in zip(before, after, strict=True) if one.startswith("mark ") and one != two]
    counts = [(one, two) for one, two in zip(before, after, strict=True) if one.startswith("count ") and one != two]
    assert marks or counts


@pytest.mark.parametrize(
    "damage", ["nft delete table inet {table}; iptables -F INPUT", "nft flush ruleset; iptables -F INPUT"]
)
def test_what_was_taken_away_lasts_no_longer(machine: Machine, damage: str) -> None:
    """Its table, or the jump to its chains: a no, in words."""
    machine.do(install())
    machine.sh(damage.format(table=CUT.chain.replace("CHAOSK-", "chaosk-")))
    said = machine.refuse(lasts())
    assert "no table chaosk-" in said or "no jump to CHAOSK-" in said or "neither a table" in said
    machine.do(remove())
    machine.do(gone())


def test_a_jump_that_somebody_overtakes_lasts_no_longer(machine: Machine) -> None:
    """By nft no other rule can let pass what it drops; by iptables one that comes first can."""
    machine.do(install())
    machine.sh("iptables -I INPUT 1 -j ACCEPT")
    if machine.by == "nft":
        machine.do(lasts())
    else:
        assert "no jump to CHAOSK-" in machine.refuse(lasts())
