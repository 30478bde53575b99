"""The leases of a run: armed everywhere or nowhere, renewed, disarmed, over a transport that notes what it carries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from chaosk.core.errors import ConnectionLost, StepError
from chaosk.run.lasting import FactCheck
from chaosk.run.leases import Leases
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import Fact, PreparedFault, Run
from chaosk.spec.scenario import Entry

Refuse = Callable[[str, str], bool]


class Wire:
    """A transport on which every command succeeds but those that a test refuses, by host and action."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []
        self.commands: list[Command] = []
        self.refuse: Refuse = lambda host, action: False
        self.lose: Refuse = lambda host, action: False
        self.says: dict[str, str] = {}
        """What a host says to an action."""
        self._lock = threading.Lock()

    def run(self, command: Command) -> Result:
        """Note it, and answer."""
        action = command.argv[4]
        with self._lock:
            self.notes.append((command.host, action))
            self.commands.append(command)
        if self.lose(command.host, action):
            raise ConnectionLost(f"{command.host}: reset")
        status = 1 if self.refuse(command.host, action) else 0
        return Result(
            command=command, exit_status=status, stdout=self.says.get(action, ""),
            stderr="no space" if status else "", sent=0, received=0, host_started=0, host_ended=0,
        )  # fmt: skip

    def close(self) -> None:
        """Nothing to close."""

    def count(self, action: str) -> int:
        """How often an action was asked for, on any host."""
        return sum(noted == action for _, noted in self.notes)


def fault(*hosts: str) -> PreparedFault:
    """A fault whose undo touches these hosts."""
    undo = tuple(Run(command=Command(host=host, argv=("undo",), sudo=True)) for host in hosts)
    return PreparedFault(name="a", step="kill", targets=(), before=(), inject=(), verify=(), undo=undo, healed=())


def entry(lasts: str | None) -> Entry:
    """A timeline entry of that duration."""
    document = {"name": "a", "kill_broker": {"target": "broker 1"}, "for": lasts}
    return Entry.model_validate({key: value for key, value in document.items() if value is not None})


@pytest.fixture
def wire() -> Wire:
    """The transport."""
    return Wire()


def test_armed_on_every_host_that_the_undo_touches(wire: Wire) -> None:
    """Each host can heal its own part."""
    leases = Leases(wire, "run-1", "me", 60.0)
    leases.arm(fault("node1", "node3"), entry("5s"))
    assert sorted(wire.notes) == [("node1", "arm"), ("node3", "arm")]
    assert leases.disarm(fault("node1", "node3")) is None
    assert sorted(wire.notes[2:]) == [("node1", "disarm"), ("node3", "disarm")]


def test_armed_nowhere_if_not_everywhere(wire: Wire) -> None:
    """A host with a full disk: the others' leases are taken back, and the fault is not injected."""
    wire.refuse = lambda host, action: (host, action) == ("node3", "arm")
    leases = Leases(wire, "run-1", "me", 60.0)
    with pytest.raises(StepError, match="a: not injected, no lease can be armed: node3: no space"):
        leases.arm(fault("node1", "node3"), entry("5s"))
    assert sorted(wire.notes[2:]) == [("node1", "disarm"), ("node3", "disarm")]


@pytest.mark.parametrize(
    ("lasts", "longest", "seconds"), [("10s", 60.0, "40.00"), ("10m", 60.0, "60.00"), (None, 60.0, "30.00")]
)
def test_lasts_as_long_as_the_fault_and_a_margin_but_never_longer_than_allowed(
    wire: Wire, lasts: str | None, longest: float, seconds: str
) -> None:
    """The inventory bounds how long a host may stay harmed once nobody renews."""
    leases = Leases(wire, "run-1", "me", longest)
    leases.arm(fault("node1"), entry(lasts))
    assert wire.commands[0].argv[5:] == ("run-1.a", seconds)
    leases.disarm(fault("node1"))


def test_commands_run_under_the_lease_and_undos_beside_the_timer(wire: Wire) -> None:
    """What is injected is refused once the lease has run out; what undoes is not."""
    leases = Leases(wire, "run-1", "me", 60.0)
    one = fault("node1")
    deed = one.undo[0]
    leases.arm(one, entry("5s"))
    assert isinstance(guarded := leases.guarded(one, deed), Run)
    assert guarded.command.argv[4:] == ("under", "run-1.a", "run-1", "undo")
    assert isinstance(exclusive := leases.exclusive(one, deed), Run)
    assert exclusive.command.argv[4:] == ("undoing", "run-1.a", "undo")
    leases.disarm(one)
    assert leases.exclusive(one, deed) == deed


def test_a_lost_lease_is_known(wire: Wire) -> None:
    """Refused by the host at its first renewal."""
    leases = Leases(wire, "run-1", "me", 0.06)
    wire.refuse = lambda host, action: action == "renew"
    one = fault("node1")
    leases.arm(one, entry(None))
    threading.Event().wait(0.01)
    end = threading.Event()
    for _ in range(500):
        if leases.lost(one):
            break
        end.wait(0.01)
    assert leases.lost(one) == "node1: no space"
    leases.disarm(one)


def test_a_lease_that_cannot_be_disarmed_is_told_of_after_three_tries(wire: Wire) -> None:
    """It would undo again, whenever it runs out."""
    leases = Leases(wire, "run-1", "me", 60.0)
    one = fault("node1")
    leases.arm(one, entry("5s"))
    wire.lose = lambda host, action: action == "disarm"
    assert leases.disarm(one) == "a lease is still armed: node1: reset"
    assert wire.count("disarm") == 3


def test_what_could_not_be_taken_back_is_disarmed_later(wire: Wire) -> None:
    """The host was away when the lease was armed, so nobody knew: once it answers, its lease is disarmed."""
    leases = Leases(wire, "run-1", "me", 60.0)
    one = fault("node1", "node3")
    wire.lose = lambda host, _: host == "node3"
    with pytest.raises(StepError, match="node3: reset"):
        leases.arm(one, entry("5s"))
    assert leases.disarm(one) == "a lease is still armed: node3: reset"
    wire.lose = lambda host, action: False
    assert leases.disarm(one) is None
    sent = len(wire.commands)
    assert leases.disarm(one) is None
    assert len(wire.commands) == sent


def watched() -> PreparedFault:
    """A fault on node1 at which its host looks."""
    fact = Fact(says="it is gone", query=Command(host="node1", argv=("gone",), sudo=True), remedy="mask the unit")
    return fault("node1").model_copy(update={"verify": (fact,), "watch": (fact,)})


def test_a_renewal_brings_what_its_host_has_seen(wire: Wire) -> None:
    """In the same answer: no other question is sent for it. The next renewal says up to where it has been told."""
    wire.says["renew"] = "now 1000\nlook 7 900 950 0 1 process 12\tmark start 3\nlook 8 960 990 0 124 \nnonsense\n"
    leases = Leases(wire, "run-1", "me", 0.06)
    looks: list[FactCheck] = []
    leases.arm(watched(), entry(None), looks.append)
    until(lambda: wire.count("renew") >= 3)
    assert leases.keepers(watched()) == ("node1",)
    leases.disarm(watched())
    assert [(look.says, look.holds, look.told, look.by_host, look.remedy) for look in looks] == [
        ("it is gone", False, "process 12", True, "mask the unit"),
        ("it is gone", None, "status 124", True, "mask the unit"),
    ]  # fmt: skip
    assert all(look.earliest <= look.latest for look in looks)
    renewals = [command.argv[-1] for command in wire.commands if command.argv[4] == "renew"]
    assert (renewals[0], set(renewals[1:])) == ("0", {"8"})
    assert {action for _, action in wire.notes} == {"arm", "renew", "disarm"}


def test_what_cannot_be_told_ends_no_renewal(wire: Wire) -> None:
    """Whatever a host says, and whoever is told of it breaks: its lease is kept alive."""
    wire.says["renew"] = "now 1000\nlook 7 900 950 0 1 away\n"

    def breaks(_: FactCheck) -> None:
        raise ValueError("no")

    leases = Leases(wire, "run-1", "me", 0.06)
    leases.arm(watched(), entry(None), breaks)
    until(lambda: wire.count("renew") >= 4)
    assert leases.lost(watched()) is None
    leases.disarm(watched())


def test_what_was_seen_last_is_asked_for_once_more(wire: Wire) -> None:
    """Before the lease is forgotten; a host that does not answer has told enough, and nothing is raised."""
    wire.says["looks"] = "now 1000\nlook 9 900 950 0 0 gone\n"
    leases = Leases(wire, "run-1", "me", 60.0)
    looks: list[FactCheck] = []
    leases.arm(watched(), entry("5s"), looks.append)
    leases.looked(watched())
    assert [look.seen for look in looks] == ["gone"]
    wire.lose = lambda host, action: action == "looks"
    leases.looked(watched())
    leases.disarm(watched())
    leases.looked(watched())
    assert wire.count("looks") == 2


def until(holds: Callable[[], bool]) -> None:
    """Wait for it, ten seconds at most."""
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
