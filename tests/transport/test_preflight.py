"""Whether a host can be used: each lack is one message that says what to do about it."""

from __future__ import annotations

import pytest

from chaosk.errors import HostError
from chaosk.inventory import Inventory
from chaosk.transport.command import Command, Result
from chaosk.transport.preflight import check

SCRIPTS = {"start": ["/opt/kafka/bin/kafka-start"], "stop": ["/opt/kafka/bin/kafka-stop"], "pid_file": "/run/kafka.pid"}


def inventory(service: dict[str, object] | None = None, *, sudo: bool = True) -> Inventory:
    """One broker on one host."""
    listeners = {"CLIENT": {"address": "198.18.0.11", "port": 9092}}
    broker = {"host": "node1", "service": service or SCRIPTS, "listeners": listeners}
    hosts = {"node1": {"address": "198.18.0.11", "sudo": sudo}}
    return Inventory.model_validate({"name": "one", "hosts": hosts, "brokers": {0: broker}})


class Answers:
    """A transport that answers by a command's first word, and remembers what was asked."""

    def __init__(self, **answers: tuple[int, str, str]) -> None:
        """By first word: status, standard output, standard error."""
        self.answers = {"id": (0, "0\n", ""), **answers}
        self.asked: list[Command] = []

    def run(self, command: Command) -> Result:
        """The answer prepared, or success."""
        self.asked.append(command)
        status, out, err = self.answers.get(command.argv[0], (0, "", ""))
        stamps = dict.fromkeys(("sent", "received", "host_started", "host_ended"), 0)
        return Result(command=command, exit_status=status, stdout=out, stderr=err, **stamps)

    def close(self) -> None:
        """Nothing to close."""


def test_a_fit_host_passes_and_nothing_on_it_changes() -> None:
    """All is there: no error, and only programs that look were run."""
    answers = Answers()
    check(answers, inventory(), "node1")
    assert {command.argv[0] for command in answers.asked} == {"true", "id", "sh"}
    assert all(command.repeatable for command in answers.asked)


def test_tools_and_the_inventorys_own_programs_are_looked_for() -> None:
    """Also the scripts that the inventory names must be there before a fault needs them to heal."""
    answers = Answers()
    check(answers, inventory(), "node1")
    looked_for = next(command.argv for command in answers.asked if command.argv[0] == "sh")
    assert {"iptables-restore", "timeout", "/opt/kafka/bin/kafka-start", "/opt/kafka/bin/kafka-stop"} <= set(looked_for)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("sh", (0, "iptables\n", "")), "no iptables; install it there (iptables on Debian)"),
        (("sh", (0, "/opt/kafka/bin/kafka-stop\n", "")), "no program /opt/kafka/bin/kafka-stop; correct the service"),
        (("id", (1, "", "sudo: a password is required\n")), "cannot become root there without a password"),
        (("id", (0, "1000\n", "")), "cannot become root"),
    ],
)
def test_each_lack_is_told_with_what_to_do(said: tuple[str, tuple[int, str, str]], expected: str) -> None:
    """One HostError that names the host and the remedy."""
    with pytest.raises(HostError) as caught:
        check(Answers(**dict([said])), inventory(), "node1")
    assert str(caught.value).startswith("node1: ")
    assert expected in str(caught.value)


def test_all_missing_tools_are_named_at_once() -> None:
    """A user should not have to come back for the second one."""
    with pytest.raises(HostError, match=r"no awk; .*mawk.*no timeout; .*coreutils"):
        check(Answers(sh=(0, "awk\ntimeout\n", "")), inventory(), "node1")


def test_no_sudo_says_what_to_write_where() -> None:
    """The line for sudoers is in the message."""
    with pytest.raises(HostError, match=r"`ops ALL=\(ALL\) NOPASSWD: ALL` in /etc/sudoers.d/chaosk"):
        check(Answers(id=(1, "", "sudo: a password is required\n")), inventory(), "node1")


def test_a_login_that_is_said_to_be_root_and_is_not() -> None:
    """`sudo: false` with an ordinary user is a mistake of the inventory."""
    with pytest.raises(HostError, match="is not root there; write `sudo: true`"):
        check(Answers(id=(0, "1000\n", "")), inventory(sudo=False), "node1")


def test_a_unit_that_systemd_does_not_know() -> None:
    """A misspelt unit is found before the broker is killed and cannot be started again."""
    kafka = inventory({"systemd": "kafka.service"})
    check(Answers(systemctl=(0, "loaded\n", "")), kafka, "node1")
    with pytest.raises(HostError, match=r"has not loaded kafka.service \(not-found\)"):
        check(Answers(systemctl=(0, "not-found\n", "")), kafka, "node1")
