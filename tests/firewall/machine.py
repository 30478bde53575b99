"""A machine of its own for the script that cuts: a namespace, a packet filter of some kind, and foreign rules."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.commands import Cut
from chaosk.hosts.firewall.party import SELF
from chaosk.hosts.firewall.rules import Action, Rule
from chaosk.spec.command import Command

KINDS = ("iptables-nft", "iptables-legacy", "nft")
"""Two kinds of iptables, and nft beside the first of them."""

RULES = (
    Rule("I", peer="198.18.0.12"),
    Rule("O", peer="198.18.0.12"),
    Rule("I", peer=SELF, port=("own", 9092)),
    Rule("I", loopback=True, stop=False),
    Rule("I", port=("own", 2181)),
)
FOREIGN = """*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
:ufw-before - [0:0]
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A INPUT -p tcp -m tcp --dport 22 -m comment --comment "let ops in, \\"always\\"" -j ACCEPT
-A INPUT -j ufw-before
-A OUTPUT -d 203.0.113.0/24 -j REJECT --reject-with icmp-port-unreachable
-A ufw-before -s 192.0.2.1/32 -p udp -m udp --dport 53 -j ACCEPT
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
-A POSTROUTING -s 10.0.0.0/8 -j MASQUERADE
COMMIT
"""
FOREIGN_NFT = """table inet ops {
    set blocked { type ipv4_addr; flags timeout; elements = { 192.0.2.66 timeout 1d } }
    chain input {
        type filter hook input priority filter; policy accept;
        ct state established accept
        ip saddr @blocked counter drop
    }
}
"""


class Machine:
    """A network namespace with a packet filter of one kind, and a session that comes from somewhere."""

    def __init__(self, namespace: Path, kind: str, tools: Path) -> None:
        """``kind``: one of KINDS; ``tools`` is a folder for the commands that are found first."""
        self.by = "nft" if kind == "nft" else "iptables"
        self.enter = ["nsenter", f"--net={namespace}"]
        for tool in ("iptables", "iptables-save", "iptables-restore"):
            for family in ("", "6"):
                command = tool.replace("ip", f"ip{family}", 1)
                (tools / command).symlink_to(f"/usr/sbin/xtables-{'legacy' if 'legacy' in kind else 'nft'}-multi")
        self.path = f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin"

    def sh(self, script: str, *, stdin: str = "", client: str = "198.18.0.1") -> subprocess.CompletedProcess[str]:
        """Run a line on the machine."""
        return self.run("sh", "-c", script, stdin=stdin, client=client)

    def run(self, *argv: str, stdin: str = "", client: str = "198.18.0.1") -> subprocess.CompletedProcess[str]:
        """Run a program on the machine, as sshd on port 2222 would."""
        env = {"PATH": self.path, "LC_ALL": "C", "SSH_CONNECTION": f"{client} 40000 198.18.0.11 2222"}
        return subprocess.run([*self.enter, *argv], input=stdin, env=env, capture_output=True, text=True, check=False)

    @contextmanager
    def serving(self, port: int) -> Iterator[None]:
        """An HTTP server on the loopback interface, which answers before this begins and has ended after it."""
        words = [*self.enter, sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                ready = f"timeout 60 bash -c 'until echo >/dev/tcp/127.0.0.1/{port}; do sleep 0.1; done' 2>/dev/null"
                assert self.sh(ready).returncode == 0
                yield
            finally:
                server.terminate()

    def here(self, command: Command) -> tuple[str, ...]:
        """The command's words if this machine's inventory named its kind of packet filter."""
        return (*command.argv[:-1], self.by)

    def do(self, command: Command, *, client: str = "198.18.0.1") -> str:
        """Run a command that must succeed; what it said."""
        done = self.run(*self.here(command), stdin=command.stdin or "", client=client)
        assert done.returncode == 0, done
        return done.stdout

    def refuse(self, command: Command, *, client: str = "198.18.0.1") -> str:
        """Run a command that must fail; why."""
        done = self.run(*self.here(command), stdin=command.stdin or "", client=client)
        assert done.returncode == 1, done
        return done.stderr

    def saved(self) -> str:
        """Every rule there is, without the comments and counters that change by themselves."""
        tables = "nft list tables | sort | while read -r table; do nft --stateless list $table; done"
        text = self.sh(f"iptables-save; ip6tables-save; {tables}").stdout
        return re.sub(r"^#.*\n|\[\d+:\d+\]", "", text, flags=re.MULTILINE)


CUT = commands.cut("2026-11-21T10-00-00.000000Z-lab", "cut")
OTHER = commands.cut("2026-11-21T10-00-00.000000Z-lab", "other-cut")


def install(cut: Cut = CUT, rules: tuple[Rule, ...] = RULES, action: Action = "drop") -> Command:
    """Put the cut in place."""
    return commands.install("node1", cut, rules, action)


def standing(cut: Cut = CUT, rules: tuple[Rule, ...] = RULES, action: Action = "drop") -> Command:
    """Whether it is in place."""
    return commands.standing("node1", cut, rules, action)


def remove(cut: Cut = CUT) -> Command:
    """Take it away."""
    return commands.remove("node1", cut)


def gone(cut: Cut = CUT) -> Command:
    """Whether it is away."""
    return commands.gone("node1", cut)
