"""What a lease does on a real host, with nothing of chaosk there but its script: undoes, tells, forgets."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest
from bare_hosts import Bare, bare
from on_lab import until

from chaosk.hosts import heal, lease
from chaosk.hosts.commands import service
from chaosk.hosts.lease import Lease, ReportedLease
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.command import Command, Result
from chaosk.spec.contracts.step import Fact, PreparedFault, Run
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import ScriptService, ServerProcess

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

HOST = "node1"


@pytest.fixture(scope="module")
def hosts() -> Iterator[Bare]:
    """One host."""
    with bare("leases", count=1) as here:
        yield here


@pytest.fixture
def ssh(hosts: Bare) -> Iterator[Ssh]:
    """The way to it; afterwards it keeps no lease."""
    hosts.on(HOST, "rm -rf /tmp/t && mkdir -m 777 /tmp/t")
    transport = Ssh(hosts.inventory.hosts)
    yield transport
    for each in transport_leases(transport):
        transport.run(lease.disarm(HOST, each.id))
    transport.close()


def transport_leases(ssh: Ssh) -> tuple[ReportedLease, ...]:
    """The leases that the host tells of."""
    return lease.held(HOST, ssh.run(lease.listing(HOST)).stdout)


def kept(undo: str, check: str = "true") -> Lease:
    """A lease with this undo and this check."""
    about = '{"run": "run-1", "entry": "e", "step": "s", "targets": "t", "by": "me"}\n'
    return Lease(id="run-1.e", run="run-1", host=HOST, about=about.strip(), undo=f"{undo}\n", check=f"{check}\n")


def shell(script: str) -> Command:
    """A line of shell as a command on the host."""
    return Command(host=HOST, argv=("sh", "-c", script), sudo=True)


def done(ssh: Ssh, command: Command) -> Result:
    """Run a command that must succeed."""
    result = ssh.run(command)
    assert result.ok, result
    return result


def test_tried_again_until_the_check_holds(hosts: Bare, ssh: Ssh) -> None:
    """An undo that fails at first, and one whose effect is not seen at first: the timer goes on."""
    undo = "echo >>/tmp/t/tries; [ $(wc -l </tmp/t/tries) -ge 2 ]"
    done(ssh, lease.arm(kept(undo, "[ $(wc -l </tmp/t/tries) -ge 3 ]"), 2.0))
    until(lambda: [one.state for one in transport_leases(ssh)] == ["healed"], 10.0)
    assert hosts.on(HOST, "wc -l </tmp/t/tries").strip() == "3"


def test_what_the_undo_starts_is_an_ordinary_process(hosts: Bare, ssh: Ssh) -> None:
    """A broker that the timer starts can be stopped by SIGTERM, can be killed for memory, and keeps no lock."""
    start = "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $! >/tmp/t/pid"
    done(ssh, lease.arm(kept(start), 2.0))
    until(lambda: [one.state for one in transport_leases(ssh)] == ["healed"], 10.0)
    assert hosts.on(HOST, "cat /proc/$(cat /tmp/t/pid)/oom_score_adj").strip() == "0"
    ignored = int(hosts.on(HOST, "grep SigIgn /proc/$(cat /tmp/t/pid)/status").split()[1], 16)
    assert not ignored & (1 << signal.SIGTERM - 1 | 1 << signal.SIGHUP - 1)
    began = time.monotonic()
    done(ssh, lease.disarm(HOST, "run-1.e"))
    assert time.monotonic() - began < 15.0
    assert hosts.on(HOST, "kill -TERM $(cat /tmp/t/pid) && echo gone").strip() == "gone"


def test_never_two_undos_at_once(hosts: Bare, ssh: Ssh) -> None:
    """The run's own undo waits until the host's is over: two of them could start a broker twice."""
    slow = "echo begin >>/tmp/t/log; sleep 2; echo end >>/tmp/t/log"
    done(ssh, lease.arm(kept(slow), 2.0))
    until(lambda: "begin" in hosts.on(HOST, "cat /tmp/t/log 2>/dev/null || true"), 5.0)
    done(ssh, lease.undoing(kept(slow), shell("echo mine >>/tmp/t/log")))
    assert hosts.on(HOST, "cat /tmp/t/log").split() == ["begin", "end", "mine"]


def test_an_injection_keeps_the_timer_waiting(hosts: Bare, ssh: Ssh) -> None:
    """A lease that runs out in the middle of an injection undoes what that has done, not half of it."""
    one = kept("echo undone >>/tmp/t/log")
    done(ssh, lease.arm(one, 2.5))
    done(ssh, lease.under(one, shell("sleep 3; echo injected >>/tmp/t/log")))
    until(lambda: [each.state for each in transport_leases(ssh)] == ["healed"], 5.0)
    assert hosts.on(HOST, "cat /tmp/t/log").split() == ["injected", "undone"]


def test_a_lease_that_runs_out_in_a_slow_shutdown(hosts: Bare, ssh: Ssh) -> None:
    """A broker that moves its leaderships still serves, and is gone soon: the host waits for that, and starts it."""
    process = slow_server()
    done(ssh, service.start(process))
    first = hosts.on(HOST, "cat /tmp/t/pid")
    (one,) = lease.leases(stopping(process), "run-1", "me")
    done(ssh, lease.arm(one, 2.0))
    done(ssh, lease.under(one, service.stop(process)))
    until(lambda: [each.state for each in transport_leases(ssh)] == ["healed"], 20.0)
    assert hosts.on(HOST, "cat /tmp/t/pid") != first
    assert ssh.run(service.is_running(process)).ok
    hosts.on(HOST, "kill -s KILL $(cat /tmp/t/pid)")


def slow_server() -> ServerProcess:
    """A service whose process takes six seconds to end once it is asked to."""
    loop = 'trap "sleep 6; exit" TERM; while :; do sleep 0.1; done'
    begin = 'setsid sh -c "$1" /tmp/t/config </dev/null >/dev/null 2>&1 & echo $! >/tmp/t/pid'
    start, stop = ("sh", "-c", begin, "sh", loop), ("sh", "-c", "kill $(cat /tmp/t/pid)")
    scripts = ScriptService(start=start, stop=stop, pid_file="/tmp/t/pid")  # noqa: S108 - the host's
    return ServerProcess(host=HOST, service=scripts, config="/tmp/t/config")  # noqa: S108 - the host's


def stopping(process: ServerProcess) -> PreparedFault:
    """The fault that stops it."""
    node = Node(kind="broker", id="0", host=HOST)
    running = Fact(says="it runs", query=service.is_awake(process), within=0.0)
    undo = (Run(command=service.start(process)),)
    return PreparedFault(
        name="stop", step="stop_broker", targets=(node,), before=(), inject=(), verify=(), undo=undo, healed=(running,)
    )


def test_too_late_is_refused(hosts: Bare, ssh: Ssh) -> None:
    """A run that was stopped for longer than its lease injects nothing when it goes on."""
    one = kept("true")
    done(ssh, lease.arm(one, 2.0))
    until(lambda: [each.state for each in transport_leases(ssh)] == ["healed"], 5.0)
    for command in (lease.under(one, shell("touch /tmp/t/injected")), lease.renew(one, 60.0)):
        result = ssh.run(command)
        assert not result.ok
        assert "healed itself" in result.stderr
    assert hosts.on(HOST, "ls /tmp/t").strip() == ""


def test_a_lease_is_told_of_as_it_is(hosts: Bare, ssh: Ssh) -> None:
    """Armed with the seconds left; dead when its timer was killed; booted when the host was."""
    done(ssh, lease.arm(kept("true"), 30.0))
    (one,) = transport_leases(ssh)
    assert one.state == "armed"
    assert 20.0 < one.left <= 30.0
    assert one.about["by"] == "me"
    assert hosts.kill_timers(HOST) == 1
    assert [each.state for each in transport_leases(ssh)] == ["dead"]
    hosts.on(HOST, "echo another >/var/lib/chaosk/leases/run-1.e/boot")
    assert [each.state for each in transport_leases(ssh)] == ["booted"]


@pytest.mark.parametrize("state", ["dead", "booted"])
def test_heal_needs_no_timer(hosts: Bare, ssh: Ssh, state: str) -> None:
    """After a reboot, or when somebody killed the timer: what has to be undone is still there, and `heal` does it."""
    done(ssh, lease.arm(kept("rm /tmp/t/harm", "[ ! -e /tmp/t/harm ]"), 30.0))
    done(ssh, lease.under(kept(""), shell("touch /tmp/t/harm")))
    hosts.kill_timers(HOST)
    if state == "booted":
        hosts.on(HOST, "echo another >/var/lib/chaosk/leases/run-1.e/boot")
    (told,) = heal.heal(ssh, [HOST])
    assert told.state == "healed"
    assert {"dead": "timer was gone", "booted": "was booted"}[state] in told.what
    assert hosts.on(HOST, "ls /tmp/t").strip() == ""
    assert hosts.leases(HOST) == []


def test_what_cannot_be_undone_is_told_of_and_kept(hosts: Bare, ssh: Ssh) -> None:
    """`heal` fails and says why; the undo stays there for the next one."""
    done(ssh, lease.arm(kept("echo no way >&2; false"), 30.0))
    (told,) = heal.heal(ssh, [HOST])
    assert told.state == "failed"
    assert "no way" in told.what
    assert hosts.leases(HOST) == ["run-1.e"]


@pytest.mark.parametrize("left", [0.0, 0.001, 0.5, 0.999, -20, -1])
def test_a_bundle_that_is_cut_short_arms_nothing(hosts: Bare, ssh: Ssh, left: float) -> None:
    """The connection broke while the undo was on its way, wherever: no half of it is kept, and no timer runs."""
    whole = lease.arm(kept("true"), 30.0)
    text = whole.stdin or ""
    result = ssh.run(whole.model_copy(update={"stdin": text[: int(left if left < 0 else left * len(text))]}))
    assert not result.ok
    assert "cut short" in result.stderr
    assert hosts.leases(HOST) == []


def test_the_undo_arrives_as_it_was_sent(hosts: Bare, ssh: Ssh) -> None:
    """Blanks, backslashes, empty lines, another alphabet, and far more of it than a pipe holds."""
    undo = "cat >/tmp/t/log <<'END'\n" + "  blanks \\n\\ and ünïcode\n\n\t$HOME `id`\n" * 5_000 + "END\n"
    done(ssh, lease.arm(Lease(id="run-1.e", run="run-1", host=HOST, about="{}", undo=undo, check=""), 30.0))
    assert heal.heal(ssh, [HOST])[0].state == "healed"
    assert hosts.on(HOST, "cat /tmp/t/log") == undo.partition("\n")[2].removesuffix("END\n")


def test_armed_once(hosts: Bare, ssh: Ssh) -> None:
    """A second lease of the same name is refused, and the first stays as it is."""
    done(ssh, lease.arm(kept("echo first >/tmp/t/log"), 30.0))
    assert not ssh.run(lease.arm(kept("echo second >/tmp/t/log"), 30.0)).ok
    assert heal.heal(ssh, [HOST])[0].state == "healed"
    assert hosts.on(HOST, "cat /tmp/t/log").strip() == "first"


def test_forgetting_twice_is_as_once(ssh: Ssh) -> None:
    """A run that does not know whether it was heard may say it again."""
    done(ssh, lease.arm(kept("true"), 30.0))
    done(ssh, lease.disarm(HOST, "run-1.e"))
    done(ssh, lease.disarm(HOST, "run-1.e"))
    assert transport_leases(ssh) == ()
