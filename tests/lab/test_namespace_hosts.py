"""Hosts made of namespaces, without Kafka: quick to make, so every claim about them is tried on real ones."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import health, keeper_plan, namespace, preflight, runner, ssh_files
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.seating import Seat
from chaosk.lab.state import LabState

from .conftest import TAG, remains

pytestmark = pytest.mark.lab

SEATS = (Seat("one", "198.18.0.11"), Seat("two", "198.18.0.12"))


def eventually(question: Callable[[], object], seconds: float = 30) -> None:
    """Wait until ``question`` is answered with yes."""
    deadline = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def create(state: LabState) -> NamespaceHosts:
    """Two hosts with nothing on them but SSH, made and not started."""
    runner.directory(state.directory)
    init = state.directory / "init.py"
    runner.write(init, Path(namespace.__file__).with_name("init.py").read_text(encoding="utf-8"))
    client, key = ssh_files.make_key(), ssh_files.make_key()
    jars = runner.directory(state.root / "jars")
    kind = NamespaceHosts(state)
    kind.check()
    files = {seat.host: ssh_files.files(seat, SEATS, key, client) for seat in SEATS}
    kind.create(SEATS, files, preflight.machine({"3.9.2": jars}, init))
    return kind


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabState]:
    """A place for one lab."""
    place = LabState(tmp_path_factory.mktemp("hosts"), f"{TAG}h")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAOSK_STATE", str(place.root))
        yield place
    NamespaceHosts(place).destroy()


@pytest.fixture(scope="module")
def made(state: LabState) -> NamespaceHosts:
    """The hosts, made once."""
    return create(state)


@pytest.fixture
def hosts(made: NamespaceHosts, state: LabState) -> NamespaceHosts:
    """Both hosts running, whatever the test before did to them."""
    for seat in SEATS:
        if not made.runs(seat.host):
            made.start(seat.host)
    questions = [lambda seat=seat: health.ssh_answers(seat.address) for seat in SEATS]
    eventually(lambda: all(health.in_lab(state.namespace, questions)))
    return made


def end(hosts: NamespaceHosts, state: LabState, host: str) -> None:
    """Kill a host's process 1 from outside, and wait until the keeper has noticed."""
    pid = (state.host(host) / "pid").read_text(encoding="ascii").strip()
    runner.run([*hosts._in_lab(), "kill", "-KILL", pid])
    eventually(lambda: not hosts.runs(host))


def test_commands_run_on_their_host(hosts: NamespaceHosts) -> None:
    """Each host has its own name, address and root's environment; a failure has the command's words."""
    assert [hosts.on_host(seat.host, ["hostname"]) for seat in SEATS] == ["one\n", "two\n"]
    assert "198.18.0.12/24" in hosts.on_host("two", ["ip", "-o", "address", "show", "eth0"])
    with pytest.raises(LabError, match="exit status 2: ls: cannot access '/nowhere'"):
        hosts.on_host("one", ["ls", "/nowhere"])


def test_words_arrive_as_they_are(hosts: NamespaceHosts) -> None:
    """No shell lies between here and the host."""
    word = "$(id); `id` 'x' \"y\" *\n"
    assert hosts.on_host("one", ["printf", "%s", word]) == word


def test_a_time_limit_ends_the_wait(hosts: NamespaceHosts) -> None:
    """A command that hangs is an error after its time."""
    with pytest.raises(LabError, match=r"sleep 60: no end after 0\.3 s"):
        hosts.on_host("one", ["sleep", "60"], timeout=0.3)


def test_hosts_see_each_other_and_can_be_cut(hosts: NamespaceHosts) -> None:
    """A rule on one host stops exactly the traffic it names; without it the bridge carries it again."""
    reach = ["timeout", "3", "bash", "-c", "exec 3<>/dev/tcp/198.18.0.12/22; head -c 7 <&3"]
    rule = ["INPUT", "-s", "198.18.0.11", "-p", "tcp", "--dport", "22", "-j", "DROP"]
    assert hosts.on_host("one", reach) == "SSH-2.0"
    hosts.on_host("two", ["iptables", "-A", *rule])
    try:
        with pytest.raises(LabError, match="exit status 124"):
            hosts.on_host("one", reach)
    finally:
        hosts.on_host("two", ["iptables", "-D", *rule])
    assert hosts.on_host("one", reach) == "SSH-2.0"


def test_a_broad_kill_reaches_only_its_host(hosts: NamespaceHosts) -> None:
    """Killing every process on one host ends none elsewhere, nor its own process 1."""
    before = hosts.on_host("two", ["ps", "-eo", "pid=,args="])
    hosts.on_host("one", ["sh", "-c", "kill -KILL -1"])
    assert hosts.runs("one")
    sshd = "sshd: /usr/sbin/sshd"
    assert sshd in before
    assert sshd not in hosts.on_host("one", ["ps", "-eo", "pid=,args="])
    assert sshd in hosts.on_host("two", ["ps", "-eo", "pid=,args="])
    hosts.on_host("one", ["/usr/sbin/sshd", "-E", "/var/log/sshd.log"])


def test_a_disk_outlives_its_host(hosts: NamespaceHosts, state: LabState) -> None:
    """What a host wrote is there when it is started again; what it had in memory is not."""
    hosts.on_host("one", ["sh", "-c", "echo kept >/srv/kept; echo gone >/run/gone; echo gone >/tmp/gone"])
    end(hosts, state, "one")
    assert hosts.failure("one") is not None
    hosts.start("one")
    eventually(lambda: health.in_lab(state.namespace, [lambda: health.ssh_answers("198.18.0.11")])[0])
    assert hosts.failure("one") is None
    assert hosts.on_host("one", ["cat", "/srv/kept"]) == "kept\n"
    for path in ("/run/gone", "/tmp/gone"):  # noqa: S108
        with pytest.raises(LabError, match="No such file"):
            hosts.on_host("one", ["cat", path])
    assert hosts.on_host("one", ["id", "-un", "ops"]) == "ops\n"


def test_the_end_of_a_host_is_the_end_of_everything_on_it(hosts: NamespaceHosts, state: LabState) -> None:
    """Processes that ignore signals end as well, and the host's cable is gone from the bridge."""
    hosts.on_host("two", ["sh", "-c", "trap '' TERM INT HUP; setsid sleep 4242 </dev/null >/dev/null 2>&1 &"])
    seen = ["pgrep", "-f", "sleep 4242"]
    assert runner.attempt([*hosts._in_lab(), *seen]).returncode == 0
    end(hosts, state, "two")
    assert runner.attempt([*hosts._in_lab(), *seen]).returncode == 1
    eventually(lambda: "host12" not in runner.run([*hosts._in_lab(), "ip", "-o", "link"]))
    assert "host11" in runner.run([*hosts._in_lab(), "ip", "-o", "link"])


def test_logs_are_read_from_the_disk(hosts: NamespaceHosts, state: LabState) -> None:
    """A log can be read when its host is down: that is when it is wanted."""
    hosts.on_host("two", ["sh", "-c", "seq 100 >/var/log/numbers"])
    end(hosts, state, "two")
    assert hosts.read_log("two", "/var/log/numbers", 2) == "99\n100\n"
    with pytest.raises(LabError, match="No such file"):
        hosts.read_log("two", "/var/log/nothing", 2)
    with pytest.raises(LabError, match="two is not running; do: chaosk lab up"):
        hosts.on_host("two", ["true"])


def test_fetch_moves_a_file_out(hosts: NamespaceHosts, tmp_path: Path) -> None:
    """It is here whole, and no longer there; nothing lies beside it."""
    hosts.on_host("one", ["sh", "-c", "seq 100000 >/srv/numbers"])
    hosts.fetch("one", "/srv/numbers", tmp_path / "numbers")
    assert (tmp_path / "numbers").read_text(encoding="ascii").splitlines()[-1] == "100000"
    assert [path.name for path in tmp_path.iterdir()] == ["numbers"]
    with pytest.raises(LabError, match="No such file"):
        hosts.on_host("one", ["ls", "/srv/numbers"])


def test_a_host_that_cannot_start_says_why(hosts: NamespaceHosts, state: LabState) -> None:
    """The command of its plan that failed is the reason, in one line; repaired, it starts."""
    end(hosts, state, "two")
    file = state.host("two") / "host.json"
    plan = file.read_text(encoding="utf-8")
    broken = json.loads(plan)
    broken["mount"].insert(0, ["mount", "--bind", "/nowhere", "/nowhere-either"])
    file.write_text(json.dumps(broken), encoding="utf-8")
    try:
        hosts.start("two")
        eventually(lambda: hosts.failure("two"))
        reason = hosts.failure("two") or ""
        assert reason.startswith("mount --bind /nowhere /nowhere-either: exit status 32: mount: /nowhere-either:")
        assert "\n" not in reason
    finally:
        file.write_text(plan, encoding="utf-8")
    hosts.start("two")
    eventually(lambda: health.in_lab(state.namespace, [lambda: health.ssh_answers("198.18.0.12")])[0])


def test_the_machine_does_not_see_the_mounts(hosts: NamespaceHosts, state: LabState) -> None:
    """Disks and roots are mounted where only the lab looks."""
    assert hosts.alive()
    shown = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    assert str(state.directory) not in shown
    assert list((state.host("one") / "disk").iterdir()) == []


def test_a_second_keeper_is_refused(hosts: NamespaceHosts, state: LabState) -> None:
    """Two keepers of one lab would be two labs under one name."""
    init = state.directory / "init.py"
    with pytest.raises(LabError, match=f"a keeper runs already; do: chaosk lab down --name {state.name}"):
        hosts._launch_keeper(preflight.machine({"3.9.2": state.root / "jars"}, init))


def test_a_keeper_that_cannot_start_says_why(tmp_path: Path) -> None:
    """Its last words are in the message, and nothing of it is left."""
    place = LabState(tmp_path, f"{TAG}v")
    broken = NamespaceHosts(place)
    runner.directory(place.directory)
    os.mkfifo(place.control)
    runner.write(place.keeper("json"), "{}\n")
    namespace.make(place.namespace_file)
    init = Path(namespace.__file__).with_name("init.py")
    with pytest.raises(LabError, match="the lab's keeper did not start: KeyError: 'control'"):
        broken._launch_keeper(preflight.machine({"3.9.2": tmp_path}, init))
    broken.destroy()
    (tmp_path / "labs" / place.name).joinpath("alive").unlink()
    assert [line for line in remains(tmp_path, place.name) if not line.startswith("/")] == []
    assert not place.namespace_file.exists()


def test_without_a_keeper(tmp_path: Path) -> None:
    """A lab that is not there: not alive, nothing runs, starting says what to do, destroying is fine."""
    nothing = NamespaceHosts(LabState(tmp_path, "nothing"))
    assert not nothing.alive()
    assert not nothing.runs("one")
    with pytest.raises(LabError, match="one: cannot be started, the lab's keeper is gone; do: chaosk lab up"):
        nothing.start("one")
    nothing.destroy()


def test_destroy_takes_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while hosts are starting, processes ignore signals, and files are open: nothing is left, at once."""
    place = LabState(tmp_path, f"{TAG}y")
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    kind = create(place)
    kind.start("one")
    eventually(lambda: kind.runs("one"))
    kind.start("two")
    kind.on_host("one", ["sh", "-c", "trap '' TERM; setsid tail -f /dev/null </dev/null >/dev/null 2>&1 &"])
    started = time.monotonic()
    kind.destroy()
    assert time.monotonic() - started < 10
    assert [line for line in remains(tmp_path, place.name) if line != str(place.directory)] == []
    assert not place.namespace_file.exists()


@pytest.mark.parametrize("missing", ["overlay", "cgroup"])
def test_a_kernel_that_lacks_something(missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the kernel cannot do is named before anything is made."""
    real = Path.exists, Path.read_text

    def exists(path: Path) -> bool:
        return not str(path).endswith((f"ns/{missing}", "modprobe")) and real[0](path)

    def read_text(path: Path, encoding: str | None = None) -> str:
        return real[1](path, encoding).replace(missing, "")

    monkeypatch.setattr(Path, "exists", exists)
    monkeypatch.setattr(Path, "read_text", read_text)
    with pytest.raises(LabError, match=f"this kernel has no {missing}(fs| namespaces), which .*lab hosts are made of"):
        NamespaceHosts(LabState(tmp_path, "x")).check()


def test_the_disk_has_its_size(hosts: NamespaceHosts) -> None:
    """Root on a host is as large as the lab says: that is what fills up."""
    assert keeper_plan.DISK_SIZE == "2g"
    size = hosts.on_host("one", ["stat", "-f", "-c", "%b %S", "/"]).split()
    assert int(size[0]) * int(size[1]) == 2 * 2**30


def test_process_one_needs_little(hosts: NamespaceHosts) -> None:
    """A host costs less than 20 MB before anything runs on it."""
    found = hosts.on_host("one", ["grep", "VmRSS", "/proc/1/status"]).split()
    assert int(found[1]) < 20_000
