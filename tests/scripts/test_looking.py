"""How a host looks at a fault by itself: the lease's script on this machine, with real processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaosk.hosts import lease
from chaosk.hosts.lease import HostObservation, Lease
from chaosk.hosts.localhost import HERE
from chaosk.hosts.transport.local import Local
from chaosk.spec.command import Command, Result


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    """The way to this machine; afterwards it keeps no lease."""
    transport = Local(tmp_path / "kept")
    yield transport
    assert transport.run(lease.disarm(HERE, "run.entry")).ok


def watched(*scripts: str) -> Lease:
    """A lease whose host asks these."""
    look = "".join(f"told {number} timeout 30 sh -c '{each}'\n" for number, each in enumerate(scripts))
    return Lease(id="run.entry", run="run", host=HERE, about="{}", undo="true\n", check="true\n", look=look)


def done(local: Local, command: Command) -> Result:
    """Run what must succeed."""
    result = local.run(command)
    assert result.ok, result
    return result


def until(holds: Callable[[], object], within: float = 30.0) -> None:
    """Wait for it."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def told(local: Local, one: Lease, after: int = 0) -> tuple[HostObservation, ...]:
    """What the host says that it saw."""
    return lease.seen(done(local, lease.looks(one, after)))


def alive(pid: str) -> bool:
    """Whether a process is there."""
    return Path("/proc", pid.strip(), "stat").exists()


def test_a_renewal_tells_what_was_seen_since_the_last_one(local: Local) -> None:
    """A yes with its marks, a no, and what is neither; again if the answer was lost, and forgotten once it was not."""
    one = watched("echo there; echo mark table 7", "echo away; exit 1", "exit 3")
    began = time.monotonic_ns()
    done(local, lease.arm(one, 60))
    until(lambda: len(told(local, one)) >= 3)
    renewal = done(local, lease.renew(one, 60))
    first, slack = lease.seen(renewal)[:3], 2e7 + renewal.received - renewal.sent
    assert [(each.fact, each.status, each.text) for each in first] == [
        (0, 0, "there\nmark table 7"), (1, 1, "away"), (2, 3, ""),
    ]  # fmt: skip
    assert all(began - slack < each.earliest <= each.latest < renewal.received + 2e7 for each in first)
    again = lease.seen(done(local, lease.renew(one, 60)))
    assert [each.number for each in again[:3]] == [each.number for each in first]
    assert not {each.number for each in first} & {each.number for each in told(local, one, first[-1].number)}
    until(lambda: len(told(local, one, first[-1].number)) >= 3)


def test_a_no_is_asked_once_more(local: Local, tmp_path: Path) -> None:
    """A host that cannot start one program too many for a moment says no; one no is no hole."""
    one = watched(f"[ -e {tmp_path}/asked ] || {{ touch {tmp_path}/asked; exit 1; }}")
    done(local, lease.arm(one, 60))
    until(lambda: told(local, one))
    assert told(local, one)[0].status == 0


def test_no_renewal_waits_for_a_question_that_hangs(local: Local, tmp_path: Path) -> None:
    """What cannot be asked delays nothing; once the lease is disarmed nobody looks any more."""
    one = watched("sleep 25")
    done(local, lease.arm(one, 60))
    looker = tmp_path / "kept/leases/run.entry/looker"
    until(looker.exists)
    pid = looker.read_text("utf-8")
    began = time.monotonic()
    assert lease.seen(done(local, lease.renew(one, 60))) == ()
    assert time.monotonic() - began < 10
    done(local, lease.disarm(HERE, one.id))
    until(lambda: not alive(pid))


def test_a_question_that_hangs_keeps_no_lease_from_running_out(local: Local, tmp_path: Path) -> None:
    """The timer heals on time, and then nobody looks any more."""
    one = watched("sleep 25").model_copy(update={"undo": f"touch {tmp_path}/undone\n"})
    done(local, lease.arm(one, 2))
    until((tmp_path / "undone").exists, 20)


def test_two_never_look_at_once(local: Local, tmp_path: Path) -> None:
    """A timer that was started again finds that its former self's looker goes on."""
    one = watched("true")
    done(local, lease.arm(one, 60))
    folder = tmp_path / "kept/leases/run.entry"
    until((folder / "looker").exists)
    pid = (folder / "looker").read_text("utf-8")
    done(local, Command(host=HERE, argv=("sh", str(folder / "lease"), "look", "run.entry", "-"), timeout=9))
    assert (folder / "looker").read_text("utf-8") == pid
    assert alive(pid)


def test_whoever_was_not_told_what_to_look_at_does_not_look(local: Local, tmp_path: Path) -> None:
    """A fault that its host cannot see costs it nothing."""
    done(local, lease.arm(watched(), 60))
    time.sleep(1.0)
    assert not (tmp_path / "kept/leases/run.entry/looker").exists()
    assert told(local, watched()) == ()


def test_a_host_that_was_healed_says_by_whom(local: Local) -> None:
    """Whether its lease ran out or somebody had it healed is what a reader asks first."""
    one = watched()
    done(local, lease.arm(one, 60))
    done(local, lease.heal(HERE, one.id))
    assert "somebody had this host healed (chaosk heal)" in local.run(lease.renew(one, 60)).stderr
