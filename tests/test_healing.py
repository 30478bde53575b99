"""The order in which faults are healed that several runs, or one, have left on several hosts."""

from __future__ import annotations

import json
import threading

from chaosk.core.errors import HostError
from chaosk.hosts import heal
from chaosk.spec.command import Command, Result


class Hosts:
    """Hosts that keep leases, by name those that were armed there and when; and what was asked of them, in order."""

    def __init__(self, armed: dict[str, dict[str, int]], deaf: str = "") -> None:
        """``deaf`` answers when it is asked for its list, and never again."""
        self.armed, self.deaf = armed, deaf
        self.healed: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    def run(self, command: Command) -> Result:
        """Answer as lease.sh does."""
        words = command.argv[command.argv.index("chaosk") + 1 :]
        if words[0] == "list":
            return self._answer(command, "".join(map(self._line, self.armed[command.host].items())))
        if command.host == self.deaf:
            raise HostError(command.host, "does not answer")
        if words[0] == "heal":
            with self._lock:
                self.healed.append((command.host, words[1]))
        return self._answer(command, "")

    def close(self) -> None:
        """Nothing is open."""

    def _line(self, one: tuple[str, int]) -> str:
        about = {"run": "r", "entry": one[0], "step": "s", "targets": "t", "armed": str(one[1])}
        return f"{one[0]} armed 12.00 {json.dumps(about)}\n"

    def _answer(self, command: Command, out: str) -> Result:
        return Result(
            command=command, exit_status=0, stdout=out, stderr="", sent=0, received=0, host_started=0, host_ended=0
        )


def test_what_was_begun_last_is_undone_first_on_every_host_and_across_them() -> None:
    """Not by name, and not host by host: the cut came before the kill on another host, which came before the fill."""
    hosts = Hosts({"node1": {"a-cut": 1, "z-fill": 3}, "node2": {"kill": 2}, "node3": {}})
    outcomes = heal.heal(hosts, ["node1", "node2", "node3"])
    assert hosts.healed == [("node1", "z-fill"), ("node2", "kill"), ("node1", "a-cut")]
    assert [(each.host, each.state) for each in outcomes] == [
        ("node1", "healed"), ("node2", "healed"), ("node3", "whole"),
    ]  # fmt: skip


def test_a_host_that_falls_silent_keeps_no_other_from_being_healed() -> None:
    """It is unknown; what was begun before elsewhere is undone all the same."""
    hosts = Hosts({"node1": {"cut": 1}, "node2": {"kill": 2}}, deaf="node2")
    outcomes = heal.heal(hosts, ["node1", "node2"])
    assert hosts.healed == [("node1", "cut")]
    assert [(each.host, each.state, each.what) for each in outcomes][1] == ("node2", "unknown", "does not answer")


def test_halt_undoes_on_each_host_what_was_begun_last_first() -> None:
    """Where nobody waits for another host."""
    hosts = Hosts({"node1": {"a-cut": 1, "b-kill": 2, "c-of-somebody": 0}})
    heal.halt(hosts, ["node1"], "r")
    assert hosts.healed == [("node1", "b-kill"), ("node1", "a-cut"), ("node1", "c-of-somebody")]
