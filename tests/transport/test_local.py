"""Commands on the machine that chaosk runs on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sample_inventory import INVENTORY

from chaosk.core.errors import StepError
from chaosk.hosts import lease
from chaosk.hosts.lease import Lease
from chaosk.hosts.localhost import HERE, kept, places
from chaosk.hosts.transport.local import Local, RoutingTransport
from chaosk.spec.command import Command, Result


def here(*argv: str, **more: object) -> Command:
    """A command for this machine."""
    return Command.model_validate({"host": HERE, "argv": argv, **more})


def test_its_words_arrive_and_come_back(tmp_path: Path) -> None:
    """Arguments, standard input, both streams, the status; sudo is not asked for, whatever the command says."""
    command = here("sh", "-c", 'printf "%s" "$1"; cat; echo no >&2; exit 3', "sh", "$(id) 'x'", stdin="in", sudo=True)
    done = Local(tmp_path).run(command)
    assert (done.stdout, done.stderr, done.exit_status) == ("$(id) 'x'in", "no\n", 3)
    assert done.sent <= done.received


def test_its_environment_is_the_same_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a switch needs and only this shell has would be missing when a lease runs out: so it is missing at once."""
    monkeypatch.setenv("SECRET", "x")
    said = Local(tmp_path).run(here("env")).stdout.splitlines()
    assert sorted(line.partition("=")[0] for line in said if not line.startswith(("_=", "PWD="))) == [
        "CHAOSK_KEPT", "HOME", "LC_ALL", "PATH",
    ]  # fmt: skip


def test_what_hangs_is_ended(tmp_path: Path) -> None:
    """By its own time."""
    assert Local(tmp_path).run(here("sleep", "60", timeout=0.3)).exit_status == 124


def test_what_cannot_be_run(tmp_path: Path) -> None:
    """A word that no program can be given is an error with its name."""
    with pytest.raises(StepError, match="this machine"):
        Local(tmp_path).run(here("true", "a\0b"))


def test_hosts_are_somebody_elses_matter(tmp_path: Path) -> None:
    """Only what is for this machine stays here."""

    class Hosts:
        asked: tuple[str, ...] = ()

        def run(self, command: Command) -> Result:
            self.asked += (command.host,)
            return Local(tmp_path).run(command)

        def close(self) -> None:
            """Nothing is open."""

    hosts = Hosts()
    for name in (HERE, "node1"):
        assert RoutingTransport(hosts, tmp_path).run(Command(host=name, argv=("true",))).ok
    assert hosts.asked == ("node1",)


def test_a_lease_that_is_kept_here(tmp_path: Path) -> None:
    """Armed, renewed, run out: undone by a process that outlives whoever armed it, and found by whoever heals."""
    local, note = Local(tmp_path / "kept"), tmp_path / "undone"
    one = Lease(
        id="run.entry", run="run", host=HERE, about='{"run": "run"}', undo=f"touch {note}\n", check=f"[ -e {note} ]\n"
    )
    assert local.run(lease.arm(one, 30)).ok
    assert local.run(lease.renew(one, 30)).ok
    assert local.run(lease.under(one, here("true"))).ok
    assert [held.state for held in lease.held(HERE, local.run(lease.listing(HERE)).stdout)] == ["armed"]
    assert local.run(lease.renew(one, 0.2)).ok
    assert local.run(here("sh", "-c", f"until [ -e {note} ]; do sleep 0.1; done", timeout=20)).ok
    assert not local.run(lease.under(one, here("true"))).ok
    assert local.run(here("sh", "-c", f"until [ -e {tmp_path}/kept/leases/run.entry/healed ]; do sleep 0.1; done")).ok
    assert local.run(lease.disarm(HERE, one.id)).ok
    assert lease.held(HERE, local.run(lease.listing(HERE)).stdout) == ()


def test_where_they_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By cluster, where labs have their state; as root in the system's place, else in the account's own."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    assert kept("staging") == tmp_path / "clusters/staging"
    monkeypatch.delenv("CHAOSK_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", "/home/me/state")
    expected = "/var/lib/chaosk" if os.geteuid() == 0 else "/home/me/state/chaosk"
    assert kept("staging") == Path(expected, "clusters/staging")
    assert HERE not in places(INVENTORY)
