"""One host: each lack is one finding that says what to do about it, and nothing on the host is changed by asking."""

from __future__ import annotations

import subprocess

import pytest

from chaosk.core.errors import ChaoskError, ConnectionLost, HostError, NoRootError, StepError
from chaosk.hosts.transport import wrap
from chaosk.run.preflight.diagnostic import Diagnostic
from chaosk.run.preflight.host import host
from chaosk.run.preflight.host_requirements import HostRequirements
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Inventory

SCRIPTS = {"start": ["/opt/kafka/bin/kafka-start"], "stop": ["/opt/kafka/bin/kafka-stop"], "pid_file": "/run/kafka.pid"}
NEEDS = HostRequirements(tools=("awk",), cuts=False)
SAID = "uid 0\ntimer setsid\nrelease 6.1\ntool awk yes\nspace /var/lib/chaosk 90000 100000 yes\n"


def inventory(service: dict[str, object] | None = None, *, sudo: bool = True) -> Inventory:
    """One broker on one host."""
    listeners = {"CLIENT": {"address": "198.18.0.11", "port": 9092}}
    broker = {"host": "node1", "service": service or SCRIPTS, "listeners": listeners}
    hosts = {"node1": {"address": "198.18.0.11", "sudo": sudo}}
    return Inventory.model_validate({"name": "one", "hosts": hosts, "brokers": {0: broker}})


@pytest.mark.parametrize(("login_shell", "fits"), [("sh", True), ("bash", True), ("tcsh", False)])
def test_a_login_shell_that_would_run_lines_of_scripts_gives_no_answer(login_shell: str, *, fits: bool) -> None:
    """Found by the first exchange with a host, which has what steps send, and does nothing."""
    answers = Answers()
    tuple(host(answers, inventory(), "node1", NEEDS, thorough=False))
    line = wrap.line(answers.asked[0], "0123456789abcdef", sudo=True)
    done = subprocess.run([login_shell, "-c", line], capture_output=True, check=False)
    assert (wrap.unwrap(done.stdout, done.stderr, "0123456789abcdef") is not None) == fits


class Answers:
    """A transport that answers by a command's first word, and remembers what was asked."""

    def __init__(self, **answers: tuple[int, str, str] | ChaoskError) -> None:
        """By first word: status, standard output, standard error; or what goes wrong."""
        self.answers = {"sh": (0, SAID, ""), **answers}
        self.asked: list[Command] = []

    def run(self, command: Command) -> Result:
        """The answer prepared, or success."""
        self.asked.append(command)
        found = self.answers.get(command.argv[0], (0, "", ""))
        if isinstance(found, ChaoskError):
            raise found
        status, out, err = found
        stamps = dict.fromkeys(("sent", "received", "host_started", "host_ended"), 0)
        return Result(command=command, exit_status=status, stdout=out, stderr=err, **stamps)

    def close(self) -> None:
        """Nothing to close."""


def wrong(answers: Answers, *, sudo: bool = True, thorough: bool = False) -> list[Diagnostic]:
    """What is found that is not ok."""
    found = host(answers, inventory(sudo=sudo), "node1", NEEDS, thorough=thorough)
    return [one for one in found if one.state != "ok"]


def test_a_fit_host_has_nothing_wrong_and_nothing_on_it_changes() -> None:
    """Two round trips for a run, both of which may be repeated; clock and shell only for the doctor."""
    answers = Answers()
    assert wrong(answers) == []
    assert [command.argv[0] for command in answers.asked] == ["true", "sh"]
    assert all(command.repeatable for command in answers.asked)
    found = [one.what for one in host(answers, inventory(), "node1", NEEDS, thorough=True)]
    assert found[:4] == ["login", "clock", "shell", "root"]


@pytest.mark.parametrize(
    ("error", "what", "seen", "todo"),
    [
        (HostError("node1", "cannot be reached at a port 22: refused; check it"), "login", "cannot be", "check it"),
        (
            HostError("node1", "its host key X is not in F; check it, then: scan"),
            "host key",
            "is not in F",
            "then: scan",
        ),
        (HostError("node1", "cannot read the known_hosts file F: no; write it"), "host key", "known_hosts", "write it"),
        (StepError("node1: `true` gave no answer"), "connection", "gave no answer", "see that it answers"),
    ],
)
def test_a_host_that_does_not_let_us_in(error: ChaoskError, what: str, seen: str, todo: str) -> None:
    """The transport's message, its remedy apart; nothing else is asked of such a host."""
    answers = Answers(true=error)
    (found,) = wrong(answers)
    assert (found.where, found.what, found.state) == ("node1", what, "bad")
    assert seen in found.seen
    assert "node1" not in found.seen
    assert todo in found.todo
    assert len(answers.asked) == 1


@pytest.mark.parametrize(
    "said", [(1, "", "sudo: a password is required\n"), (0, "uid 1000\n", ""), (127, "", "sudo: not found\n")]
)
def test_a_user_who_cannot_become_root(said: tuple[int, str, str]) -> None:
    """Why, and both ways to allow it; what could not be looked at is unknown, not well."""
    root, rest = wrong(Answers(sh=said))
    assert (root.what, root.state) == ("root", "bad")
    assert "ops cannot become root there without a password" in root.seen
    assert "chaosk sudoers" in root.todo
    assert "ssh.sudo_password" in root.todo
    assert rest.state == "unknown"


def test_a_gate_and_a_step_that_goes_around_it() -> None:
    """Told before the run, not when the fault is to be injected; without a gate it is no matter."""
    needs = HostRequirements(tools=("awk",), cuts=False, beside=("ip",))
    plain = inventory()
    gated = {"node1": plain.hosts["node1"].model_copy(update={"gate": "/usr/local/sbin/chaosk-gate"})}
    with_gate = plain.model_copy(update={"hosts": gated})
    (found,) = [one for one in host(Answers(), with_gate, "node1", needs, thorough=False) if one.state != "ok"]
    assert (found.what, found.state) == ("gate", "bad")
    assert found.seen.startswith("steps run ip as root")
    assert all(one.state == "ok" for one in host(Answers(), plain, "node1", needs, thorough=False))
    assert all(one.state == "ok" for one in host(Answers(), with_gate, "node1", NEEDS, thorough=False))


def test_a_login_that_is_said_to_be_root_and_is_not() -> None:
    """`sudo: false` with an ordinary user is a mistake of the inventory."""
    root, _ = wrong(Answers(sh=(0, "uid 1000\n", "")), sudo=False)
    assert root.seen == "ops is not root there"
    assert root.todo == "write `sudo: true` in the inventory"


def test_a_password_that_sudo_refuses() -> None:
    """It is no matter of the connection; the remedy stands apart."""
    error = NoRootError("node1", "the sudo password of ops (the file x) was refused; correct it")
    (found,) = wrong(Answers(sh=error))
    assert (found.what, found.seen) == ("root", "the sudo password of ops (the file x) was refused")
    assert found.todo == "correct it"


@pytest.mark.parametrize("error", [ConnectionLost("node1: lost"), StepError("node1: no answer")])
def test_a_connection_that_breaks_half_way_is_a_finding(error: ChaoskError) -> None:
    """The examination of the other hosts goes on."""
    (found,) = wrong(Answers(sh=error))
    assert (found.what, found.state) == ("connection", "bad")


def test_a_damaged_answer_is_a_finding() -> None:
    """Not a crash, and not taken for a fit host."""
    (found,) = wrong(Answers(sh=(0, "uid 0\nspace / a b c\n", "")))
    assert "cannot parse the facts of this host" in found.seen
