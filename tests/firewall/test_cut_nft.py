"""What is nft's own in the script that puts rules on a host, on the real packet filter in a namespace."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from chaosk.hosts.firewall.party import SELF
from chaosk.hosts.firewall.rules import Action, Rule
from chaosk.spec.command import Command

from .machine import CUT, Machine, gone, install, remove, standing

pytestmark = [pytest.mark.lab, pytest.mark.parametrize("machine", ["nft"], indirect=True)]

TABLE = CUT.chain.lower()
ENDS = ("", "-save", "-restore")
LISTED = f"nft --stateless list table inet {TABLE}"


def chain(machine: Machine, name: str) -> list[str]:
    """The rules of a chain of the cut, as nft lists them."""
    listed = machine.sh(f"nft --stateless list chain inet {TABLE} {name}").stdout
    return [line.strip() for line in listed.splitlines() if line.startswith("\t\t") and "type filter" not in line]


def without(machine: Machine, tools: Path, *missing: str) -> str:
    """A folder with the machine's commands but a few: what a host's PATH is where those are not installed."""
    bare = tools / "bare"
    bare.mkdir()
    for folder in reversed(machine.path.split(":")):
        for tool in Path(folder).iterdir():
            if tool.is_file() and tool.name not in missing:
                (bare / tool.name).unlink(missing_ok=True)
                (bare / tool.name).symlink_to(tool)
    return str(bare)


def stand_in(machine: Machine, said: str) -> None:
    """From now on nft fails on this machine, with these words."""
    nft = Path(machine.path.split(":", maxsplit=1)[0], "nft")
    nft.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    nft.chmod(0o755)


def automatic(machine: Machine, command: Command) -> subprocess.CompletedProcess[str]:
    """Run a command as on a host whose inventory names no kind of packet filter."""
    return machine.run(*command.argv[:-1], "auto", stdin=command.stdin or "")


def test_the_lease_comes_first_then_ssh_then_neighbours(machine: Machine) -> None:
    """All hangs on the set; the port is the one that sshd itself names; then nothing is let through any more."""
    machine.do(install(rules=(Rule("I"), Rule("O"))))
    tag = f'meta nfproto != @lease return comment "{CUT.comment}"'
    nd = "icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } return"
    stop = ["meta nfproto ipv4 counter packets 0 bytes 0 drop", "meta nfproto ipv6 counter packets 0 bytes 0 drop"]
    stop = [rule.replace(" packets 0 bytes 0", "") for rule in stop]
    assert chain(machine, "input") == [tag, "tcp dport 2222 return", nd, *stop]
    assert chain(machine, "output") == [tag, "tcp sport 2222 return", nd, *stop]


def test_nothing_of_iptables_is_touched(machine: Machine) -> None:
    """Not while it stands either."""
    before = machine.sh("iptables-save -c; ip6tables-save -c; iptables-save | md5sum").stdout.splitlines()
    machine.do(install())
    during = machine.sh("iptables-save -c; ip6tables-save -c; iptables-save | md5sum").stdout.splitlines()
    rules = [[line for line in lines if not line.startswith("#")][:-1] for lines in (before, during)]
    assert rules[0] == rules[1]


def test_what_says_that_it_is_refused_passes(machine: Machine) -> None:
    """Only where something is refused: a reset or an unreachable that the same rules stopped would leave silence."""
    passes = ["tcp flags rst return", "icmp type destination-unreachable return"]
    passes.append("icmpv6 type destination-unreachable return")
    machine.do(install(action="reject"))
    assert [re.sub(r"tcp flags .*rst.* return", passes[0], rule) for rule in chain(machine, "input")[3:6]] == passes
    machine.do(install(action="drop"))
    assert not any("unreachable" in rule for rule in chain(machine, "input"))


@pytest.mark.parametrize(
    ("rule", "action", "stops"),
    [
        (Rule("I", peer="198.18.0.12"), "drop", ["ip saddr 198.18.0.12 counter drop"]),
        (Rule("O", peer="2001:db8::1"), "drop", ["ip6 daddr 2001:db8::1 counter drop"]),
        (
            Rule("I", peer="198.18.0.12", own="198.18.0.11", port=("own", 9092)),
            "reject",
            ["ip saddr 198.18.0.12 ip daddr 198.18.0.11 tcp dport 9092 counter reject with tcp reset"],
        ),
        (
            Rule("I", peer=SELF),
            "reject",
            [
                "meta l4proto tcp ip saddr 198.18.0.1 counter reject with tcp reset",
                "ip saddr 198.18.0.1 counter reject with icmp port-unreachable",
            ],
        ),
        (Rule("I", peer=SELF, stop=False), "drop", ["ip saddr 198.18.0.1 return"]),
    ],
)
def test_each_rule_is_what_was_asked(machine: Machine, rule: Rule, action: Action, stops: list[str]) -> None:
    """As nft itself understands it, with chaosk's address filled in."""
    machine.do(install(rules=(rule,), action=action))
    found = chain(machine, "input" if rule.side == "I" else "output")[6 if action == "reject" else 3 :]
    assert [sorted(one.split()) for one in found] == [sorted(one.split()) for one in stops]


def test_names_are_resolved_by_the_host(machine: Machine) -> None:
    """Every address that the host knows for it; a name that it does not know is refused."""
    machine.do(install(rules=(Rule("O", peer="localhost", port=("peer", 9092)),)))
    known = set(machine.sh("getent ahosts localhost | cut -d ' ' -f 1").stdout.split())
    assert {re.sub(r".* daddr (\S+) .*", r"\1", rule) for rule in chain(machine, "output")[3:]} == known
    said = machine.refuse(install(rules=(Rule("O", peer="no-such-host.invalid"),)))
    assert "knows no address of no-such-host.invalid" in said


def test_what_others_accept_is_stopped_all_the_same(machine: Machine) -> None:
    """A rule of the user's own before it, in nft and in iptables, and a connection that is there already."""
    machine.sh("iptables -I INPUT 1 -i lo -j ACCEPT; nft insert rule inet ops input iifname lo accept")
    talk = "exec 3<>/dev/tcp/127.0.0.1/9092 && {} && echo 'GET / HTTP/1.0\n' >&3 && timeout {} head -c 4 <&3"
    rules = (Rule("I", loopback=True, port=("own", 9092)),)
    command = install(rules=rules)
    Path(machine.path.split(":", maxsplit=1)[0], "cut").write_text(command.argv[2])
    words = f"printf '%s\\n' '{(command.stdin or '').strip()}' | sh {machine.path.split(':')[0]}/cut "
    words += " ".join(machine.here(command)[4:])
    with machine.serving(9092):
        assert machine.run("bash", "-c", talk.format("true", 60)).stdout == "HTTP"
        assert machine.run("bash", "-c", talk.format(words, 2)).stdout == ""
        machine.do(standing(rules=rules))


DAMAGE = {
    "a rule removed": "nft -a list chain inet {t} input | sed -n 's/.*saddr 198.18.0.12 .*handle //p' | head -n 1 | "
    "xargs nft delete rule inet {t} input handle",
    "a rule added": "nft add rule inet {t} input ip saddr 192.0.2.7 accept",
    "one put first": "nft insert rule inet {t} input accept",
    "a chain emptied": "nft flush chain inet {t} output",
    "its table asleep": "nft add table inet {t} '{{ flags dormant; }}'",
    "its table deleted": "nft delete table inet {t}",
    "all flushed": "nft flush ruleset",
    "one family let through": "nft delete element inet {t} lease '{{ ipv6 }}'",
    "all let through": "nft flush set inet {t} lease",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_cut_that_no_longer_stands_is_noticed(machine: Machine, damage: str) -> None:
    """Whatever somebody does to it; what is left is taken away, and nothing else."""
    before = machine.saved()
    machine.do(install())
    machine.do(standing())
    assert machine.sh(damage.format(t=TABLE)).returncode == 0
    machine.refuse(standing())
    machine.do(remove())
    machine.do(gone())
    if "ruleset" not in damage:
        assert machine.saved() == before


@pytest.mark.parametrize("half", ["", "'{ chain input { type filter hook input priority 0; }; }'"])
def test_whatever_has_its_name_is_taken_away(machine: Machine, half: str) -> None:
    """Somebody's repair, or a table whose chains are gone."""
    before = machine.saved()
    assert machine.sh(f"nft add table inet {TABLE} {half}").returncode == 0
    assert "is there" in machine.refuse(gone())
    machine.do(remove())
    machine.do(gone())
    assert machine.saved() == before


def test_a_host_chooses_nft_by_itself(machine: Machine) -> None:
    """Where it is there and the kernel can; every command finds what was chosen."""
    assert automatic(machine, install()).returncode == 0
    assert machine.sh(LISTED).returncode == 0
    assert CUT.chain not in machine.saved()
    assert f"{TABLE}: " in automatic(machine, standing()).stdout
    assert automatic(machine, gone()).returncode == 1
    assert automatic(machine, remove()).returncode == 0
    assert automatic(machine, gone()).returncode == 0


@pytest.mark.parametrize("missing", ["nft", "unshare"])
def test_a_host_without_it_takes_iptables(machine: Machine, tmp_path: Path, missing: str) -> None:
    """Or one on which the kernel's ability cannot be tried."""
    before = machine.saved()
    machine.path = without(machine, tmp_path, missing)
    assert automatic(machine, install()).returncode == 0
    assert CUT.chain in machine.sh("iptables-save").stdout
    assert f"{CUT.chain}-I (IPv4): " in automatic(machine, standing()).stdout
    assert automatic(machine, remove()).returncode == 0
    assert automatic(machine, gone()).returncode == 0
    machine.path = "/usr/sbin:/usr/bin:/sbin:/bin"
    assert machine.saved() == before


def test_a_host_with_nft_alone_needs_no_iptables(machine: Machine, tmp_path: Path) -> None:
    """From the first question to the last."""
    before = machine.saved()
    kept = machine.path
    machine.path = without(machine, tmp_path, *(f"{ip}tables{end}" for ip in ("ip", "ip6") for end in ENDS))
    assert machine.sh("iptables-save").returncode == 127
    for command, status in ((gone(), 0), (install(), 0), (standing(), 0), (gone(), 1), (remove(), 0), (gone(), 0)):
        done = automatic(machine, command)
        assert done.returncode == status, done
    machine.path = kept
    assert machine.saved() == before


@pytest.mark.parametrize(
    "said",
    [
        "netlink: Error: cache initialization failed: Invalid argument",
        "netlink: Error: cache initialization failed: Operation not supported",
        "Unable to initialize Netlink socket: Protocol not supported",
    ],
)
def test_a_kernel_without_nf_tables_takes_iptables(machine: Machine, said: str) -> None:
    """This machine's kernel has them, so what nft says of one that has not is said in its place."""
    stand_in(machine, said)
    assert automatic(machine, gone()).returncode == 0
    assert automatic(machine, install()).returncode == 0
    assert f"{CUT.chain}-I (IPv4): " in automatic(machine, standing()).stdout
    assert automatic(machine, remove()).returncode == 0
    assert automatic(machine, gone()).returncode == 0


def test_an_nft_that_does_not_answer_is_no_proof(machine: Machine) -> None:
    """Nobody knows whether the table is there: not gone, and not removed."""
    machine.do(install())
    stand_in(machine, "netlink: Error: cache initialization failed: Operation not permitted")
    for command in (gone(), remove()):
        assert "nft does not answer: netlink: Error" in automatic(machine, command).stderr
        assert "nft does not answer: netlink: Error" in machine.refuse(command)


def test_what_the_inventory_demands_is_not_replaced(machine: Machine, tmp_path: Path) -> None:
    """No nft there: refused, with what to do; nothing is cut by other means."""
    before = machine.saved()
    machine.path = without(machine, tmp_path, "nft")
    assert "there is no nft; install it there (nftables on Debian)" in machine.refuse(install())
    machine.path = "/usr/sbin:/usr/bin:/sbin:/bin"
    assert machine.saved() == before


def test_an_unknown_kind_is_refused(machine: Machine) -> None:
    """Nothing is done by halves or by none."""
    done = machine.run(*install().argv[:-1], "pf", stdin=install().stdin or "")
    assert (done.returncode, done.stderr) == (1, "no such flavour: pf\n")
