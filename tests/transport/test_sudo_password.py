"""A real sudo that asks for a password, behind a real sshd: it gets the password, and nothing else does."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from sample_inventory import INVENTORY

from chaosk.core.errors import HostError
from chaosk.hosts import lease, lock, sudo_gate
from chaosk.hosts.lease import Lease
from chaosk.hosts.transport.ssh import Ssh
from chaosk.hosts.transport.ssh.passwords import NoPasswordError, password
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host, SecretRef

from .accounts import PASSWORD, USER, account, as_root, failures, ran, refused, serving_account, typing
from .conftest import Sshd

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server where sudo asks the account for its password, and would keep a ticket for all of its processes."""
    rules = "Defaults timestamp_type=global\n{user} ALL = (ALL) ALL"
    with serving_account(tmp_path_factory.mktemp("sudo"), rules) as server:
        yield server


@pytest.fixture
def known(tmp_path: Path) -> dict[str, object]:
    """The password by reference, as an inventory has it."""
    (tmp_path / "secret").write_text(f"{PASSWORD}\n", "utf-8")
    return {"sudo_password": {"file": str(tmp_path / "secret")}}


@pytest.fixture
def wrong(tmp_path: Path) -> dict[str, object]:
    """A wrong one; a refusal is remembered by reference, so each test has its own."""
    (tmp_path / "wrong").write_text("wrong zebra\n", "utf-8")
    return {"sudo_password": {"file": str(tmp_path / "wrong")}}


def test_every_kind_of_command(asking: Sshd, known: dict[str, object]) -> None:
    """In a kept shell and alone, with and without input; streams and status are the command's own."""
    script = as_root("sh", "-c", "id -u; echo err >&2; exit 3")
    kept = script.model_copy(update={"repeatable": True})
    done = ran(account(asking, ssh=known), script, kept, kept, as_root("cat", stdin="one\ntwo"), as_root("cat"))
    assert [(one.exit_status, one.stdout, one.stderr) for one in done[:3]] == [(3, "0\n", "err\n")] * 3
    assert [one.stdout for one in done[3:]] == ["one\ntwo", ""]
    assert failures(asking) == 0


def test_no_ticket_is_left_and_none_is_used(asking: Sshd, known: dict[str, object]) -> None:
    """Another process of the account cannot become root after chaosk, though this sudo keeps tickets for it."""
    after = Command(host="node1", argv=("sudo", "-n", "id", "-u"), timeout=60.0)
    first, ticket = ran(account(asking, ssh=known), as_root("id", "-u"), after)
    assert (first.stdout, ticket.exit_status, ticket.stderr) == ("0\n", 1, "sudo: a password is required\n")


def test_a_sudo_that_does_not_ask(tmp_path: Path, known: dict[str, object]) -> None:
    """The password is not sent: a command's input is its own, also the first line of a kept shell's."""
    with serving_account(tmp_path, "{user} ALL = (ALL) NOPASSWD: ALL") as server:
        kept = as_root("cat", repeatable=True)
        done = ran(account(server, ssh=known), as_root("cat", stdin="mine"), as_root("cat"), kept, kept)
        assert [(one.stdout, one.stderr) for one in done] == [("mine", ""), ("", ""), ("", ""), ("", "")]


def test_a_wrong_password_is_tried_once(asking: Sshd, wrong: dict[str, object]) -> None:
    """One failure is counted for two commands on two hosts, and each says where it was refused and what to do."""
    before = failures(asking)
    host = account(asking, ssh=wrong)
    transport = Ssh({"node1": host, "node2": host})
    told = []
    for name in ("node1", "node1", "node2"):
        with pytest.raises(HostError) as caught:
            transport.run(as_root("true").model_copy(update={"host": name}))
        told.append(str(caught.value))
    transport.close()
    assert failures(asking) == before + 1
    assert told[0] == told[1]
    assert told[0].startswith(f"node1: the sudo password of {USER} (the file ")
    assert "was refused; correct it before you try again" in told[0]
    assert "was refused by node1, so it was not tried here" in told[2]
    assert "zebra" not in "".join(told)


def test_without_a_terminal_and_without_a_reference(asking: Sshd) -> None:
    """The words of sudo are the answer, as for any sudo that chaosk cannot satisfy."""
    (done,) = ran(account(asking), as_root("id"))
    assert (done.exit_status, done.stderr) == (1, "sudo: a password is required\n")


def test_it_is_asked_for_once_at_the_terminal(asking: Sshd) -> None:
    """For two connections to two hosts, without an echo."""
    said = typing(account(asking), PASSWORD, after="sudo password of")
    assert (said.count("sudo password of"), said.count("uid=0"), said.count(PASSWORD)) == (1, 4, 0), said


def test_several_lines_are_refused_before_they_are_sent(tmp_path: Path) -> None:
    """A rest of them would be read by what comes next; nothing is said of what they are."""
    (tmp_path / "lines").write_text(f"{PASSWORD}\nurl: x\n", "utf-8")
    with (
        pytest.raises(NoPasswordError, match="is more than one line") as caught,
        password("sudo password", "pia", SecretRef(file=str(tmp_path / "lines"))).offered("node1"),
    ):
        pass
    assert PASSWORD not in str(caught.value)


def test_through_a_gate_that_takes_a_password(tmp_path: Path, known: dict[str, object]) -> None:
    """Its rule is what `chaosk sudoers` writes for such an account; input reaches the gate, and nothing but it runs."""
    place, folder = tmp_path / "gate", tmp_path / "server"
    folder.mkdir()
    text = sudo_gate.program(INVENTORY, str(place))
    place.write_text(text, "utf-8")
    place.chmod(0o755)
    rules = sudo_gate.sudoers([USER], text, str(place), [USER]).replace(USER, "{user}")
    assert "PASSWD" in rules
    assert "NOPASSWD" not in rules
    with serving_account(folder, rules) as server:
        host = account(server, ssh=known, gate=str(place))
        armed = lease.arm(_lease("failed=", ""), 60.0)
        done = ran(host, *(_slow(one) for one in (armed, lease.listing("node1"), lock.show("node1"))))
        assert [(one.exit_status, one.stderr) for one in done] == [(0, "")] * 3
        assert "r1.cut" in done[1].stdout
        assert failures(server) == 0
        beside = ran(account(server, ssh=known), as_root("id"))[0]
        assert "is not allowed to execute" in beside.stderr


def test_leases_need_no_password(asking: Sshd, known: dict[str, object], tmp_path: Path) -> None:
    """A host undoes what expires though nobody logs in, and `heal` and `halt` of other processes find the rest."""
    undone = tmp_path / "undone"
    expiring, held = _lease(f"touch {undone}", f"[ -e {undone} ]\n"), _lease("true", "", "r1.held")
    host = account(asking, ssh=known)
    armed = ran(host, _slow(lease.arm(expiring, 3.0)), _slow(lease.arm(held, 900.0)))
    assert [(one.exit_status, one.stderr) for one in armed] == [(0, "")] * 2
    until = time.monotonic() + 120
    while not undone.exists() and time.monotonic() < until:
        time.sleep(0.2)
    assert undone.exists()
    inventory = tmp_path / "inventory.yaml"
    inventory.write_text(_inventory(host), "utf-8")
    healed = _chaosk("heal", inventory)
    assert "r1.held (cut x) of r1: undone now" in healed
    assert "r1.cut (cut x) of r1: already undone by the host" in healed
    ran(host, _slow(lease.arm(_lease("true", "", "r1.more"), 900.0)))
    assert "r1.more (cut x) of r1: undone now\nhalted: r1\n" in _chaosk("halt", inventory)


def test_the_password_is_nowhere_to_be_seen(
    asking: Sshd, known: dict[str, object], wrong: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    """No argument and no variable of any process has it while commands run, and neither has a log."""
    caplog.set_level(logging.DEBUG)
    with watched([PASSWORD, "wrong zebra"]) as found:
        nap = as_root("sleep", "1")
        ran(account(asking, ssh=known), nap, nap.model_copy(update={"repeatable": True}), as_root("cat", stdin="x"))
        refused(account(asking, ssh=wrong))
    assert found == set()
    logs = asking.log.read_text() + caplog.text
    assert PASSWORD not in logs
    assert "wrong zebra" not in logs
    assert "Authentication" in caplog.text


@contextmanager
def watched(secrets: list[str]) -> Iterator[set[str]]:
    """Look at all processes all the time; yields the files of /proc that have one of these."""
    found: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.01):
            for file in (one / name for one in Path("/proc").glob("[0-9]*") for name in ("cmdline", "environ")):
                try:
                    text = file.read_bytes()
                except OSError:
                    continue
                found.update(str(file) for secret in secrets if secret.encode() in text)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        over.set()
        looking.join()


def _lease(undo: str, check: str, name: str = "r1.cut") -> Lease:
    about = f'{{"run": "r1", "entry": "{name}", "step": "cut", "targets": "x", "by": "me", "armed": "1"}}'
    return Lease(id=name, run="r1", host="node1", about=about, undo=f"{undo}\n", check=check)


def _inventory(host: Host) -> str:
    """A cluster of this host alone, whose broker does not run."""
    listeners = {"C": {"address": "127.0.0.1", "port": 1}, "Q": {"address": "127.0.0.1", "port": 2, "clients": False}}
    broker = {
        "host": "node1",
        "service": {"systemd": "kafka.service"},
        "listeners": listeners,
        "controller_listener": "Q",
    }
    hosts = {"node1": host.model_dump(mode="json", exclude_defaults=True)}
    return yaml.safe_dump({"name": "one", "hosts": hosts, "brokers": {0: broker}})


def _chaosk(command: str, inventory: Path) -> str:
    words = [sys.executable, "-m", "chaosk", command, "--inventory", str(inventory)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _slow(command: Command) -> Command:
    """The same command with time for a machine that is busy."""
    return command.model_copy(update={"timeout": 60.0})
