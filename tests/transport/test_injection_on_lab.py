"""On real hosts, over SSH: every payload arrives as a word, and nothing is obeyed. No canary anywhere."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from payloads import CANARY, HARMLESS_IN_A_FILE

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.hosts import lease, lock
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab.namespace import inside
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import PreparedFault, Run
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400), pytest.mark.long]
LAB = "injection"
HOST = "node1"


@pytest.fixture(scope="module")
def hosts() -> Iterator[Inventory]:
    """One host of a lab, with a broker and a ZooKeeper node."""
    lines: list[str] = []
    found = load_inventory(lab.up(LabLayout(name=LAB, brokers=1, zookeepers=1), lines.append))
    assert isinstance(found, Inventory)
    yield found
    lab.down(LAB, lines.append)


@pytest.fixture
def over_ssh(hosts: Inventory) -> Callable[[tuple[Command, ...]], tuple[Result, ...]]:
    """Runs commands on the host as chaosk does."""

    def run(commands: tuple[Command, ...]) -> tuple[Result, ...]:
        def work() -> tuple[Result, ...]:
            transport = Ssh(hosts.hosts)
            try:
                return tuple(transport.run(command) for command in commands)
            finally:
                transport.close()

        found: tuple[Result, ...] = inside(str(hosts.network_namespace), work)
        return found

    return run


def on_host(*argv: str, stdin: str | None = None, sudo: bool = True) -> Command:
    """A command on the host."""
    return Command(host=HOST, argv=argv, stdin=stdin, sudo=sudo, timeout=30.0)


@pytest.fixture
def no_canary(over_ssh: Callable[[tuple[Command, ...]], tuple[Result, ...]]) -> Iterator[None]:
    """None on the host, and none here, before and after; that one would be found is shown first."""
    marker = f"/tmp/marker-{secrets.token_hex(4)}"  # noqa: S108 - on the host
    plant = on_host("sh", "-c", f"touch {marker}; sleep 0.02; touch {CANARY} && pwd", sudo=False)
    (home,) = over_ssh((plant,))
    places = (home.stdout.strip(), "/", "/tmp", "/root", "/var/lib/chaosk")  # noqa: S108 - on the host
    tests = ("-maxdepth", "3", "-path", "/proc", "-prune", "-o", "-name", f"{CANARY}*", "-newer", marker, "-print")
    look = on_host("find", *places, *tests)
    seen, _ = over_ssh((look, on_host("rm", f"{places[0]}/{CANARY}")))
    assert CANARY in seen.stdout, "one that is there must be found, or this proves nothing"
    yield
    (after,) = over_ssh((look,))
    assert after.stdout == ""
    assert over_ssh((on_host("rm", marker),))[0].ok
    assert not Path(CANARY).exists()


@pytest.mark.usefixtures("no_canary")
@pytest.mark.parametrize("sudo", [True, False])
def test_every_payload_is_a_word(over_ssh: Callable[..., tuple[Result, ...]], *, sudo: bool) -> None:
    """As argument and as input, as root and as the user who logs in: what arrives is what was sent."""
    argv = ("sh", "-c", 'printf "%s\\0" "$@"; cat', "sh")
    sent = tuple(on_host(*argv, payload, "end", stdin=payload, sudo=sudo) for payload in HARMLESS_IN_A_FILE)
    for payload, result in zip(HARMLESS_IN_A_FILE, over_ssh(sent), strict=True):
        assert result.ok, result.stderr
        assert result.stdout == f"{payload}\0end\0{payload}"


@pytest.mark.usefixtures("no_canary")
def test_every_payload_can_be_in_an_undo(over_ssh: Callable[..., tuple[Result, ...]]) -> None:
    """Kept on the host by a lease with the payload in its undo, its input and its description, carried out there."""
    run = f"injection-{secrets.token_hex(4)}"
    kept = f"/tmp/{run}"  # noqa: S108 - on the host
    undos = tuple(
        Run(command=on_host("sh", "-c", f'printf "%s\\0" "$1" >>{kept}; cat >>{kept}', "sh", text, stdin=text))
        for text in HARMLESS_IN_A_FILE
    )
    fault = PreparedFault(name="every", step="x", targets=(), before=(), inject=(), verify=(), undo=undos, healed=())
    (one,) = lease.leases(fault, run, "".join(HARMLESS_IN_A_FILE))
    armed, listed, healed, said, gone = over_ssh(
        (lease.arm(one, 60), lease.listing(HOST), lease.heal(HOST, one.id), on_host("cat", kept),
         lease.disarm(HOST, one.id))
    )  # fmt: skip
    assert all(result.ok for result in (armed, listed, healed, gone)), (armed.stderr, healed.stderr)
    (held,) = (each for each in lease.held(HOST, listed.stdout) if each.id == one.id)
    assert held.about["by"] == "".join(HARMLESS_IN_A_FILE)
    assert said.stdout == "".join(f"{text}\0{text}" for text in HARMLESS_IN_A_FILE)
    assert over_ssh((on_host("rm", kept),))[0].ok


@pytest.mark.usefixtures("no_canary")
def test_every_payload_can_be_the_owner_of_the_lock(over_ssh: Callable[..., tuple[Result, ...]]) -> None:
    """One line, letter by letter, unless it holds a line end itself: the account's name is the user's own."""
    run = f"injection-{secrets.token_hex(4)}"
    for owner in (text for text in HARMLESS_IN_A_FILE[::5] if "\n" not in text):
        taken, shown, left = over_ssh((lock.take(HOST, run, owner), lock.show(HOST), lock.leave(HOST, run)))
        assert taken.ok
        assert left.ok
        assert shown.stdout.endswith(f"the run {run} of {owner}\n")
