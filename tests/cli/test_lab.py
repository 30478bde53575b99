"""``chaosk lab``'s words: what is wrong is said before anything is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A state directory that must stay empty."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["up", "--hosts", "kvm"], "'kvm' is not one of 'hosts', 'vms'"),
        (["up", "--brokers", "99"], "lab: brokers: "),
        (["up", "--brokers", "x"], "'x' is not a valid integer"),
        (["up", "--name", "Not A Name"], "lab: name: "),
        (["up", "--kafka", "4.1.1", "--mode", "zookeeper"], "kafka: 4.1.1 has no ZooKeeper mode"),
        (["up", "--kafka", "4.1.1", "--zookeepers", "3"], "a cluster in KRaft mode has none; leave them out"),
        (["up", "--controllers", "3"], "for KRaft write mode: kraft"),
        (["up", "--also", "3.9.1", "--also", "3.9.2"], "also: 3.9.2 is installed already"),
        (["up", "--also", "3.9.1", "--hosts", "vms"], "also: virtual machines have one version"),
        (["up", "--mode", "raft"], "'raft' is not one of 'zookeeper', 'kraft'"),
        (["up", "--kafka", "latest"], "'latest' is not a version"),
        (["up", "--file", "/nowhere.yaml"], "/nowhere.yaml"),
        (["logs", "node1", "mailserver"], "'mailserver' is not one of 'broker', 'controller', 'zookeeper'"),
        (["exec"], "Missing argument"),
        (["frob"], "No such command 'frob'"),
    ],
)
def test_bad_usage(words: list[str], message: str, nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each mistake: exit code 64, one message that names it, no traceback, and nothing made."""
    assert main(["lab", *words]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told
    assert not nowhere.exists()


@pytest.mark.parametrize("words", [["shell", "node1"], ["exec", "true"]])
def test_a_lab_that_is_not_up(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What needs a lab says that there is none, and how to get one."""
    assert main(["lab", *words, "--name", "nothing"]) == ExitCode.PREFLIGHT
    assert "chaosk lab up" in capsys.readouterr().err


def test_an_inventory_without_a_lab(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster of one's own is not put up by the lab."""
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nhosts: {a: {address: a}}\n"
        "brokers: {0: {host: a, service: {systemd: kafka.service}, listeners: {P: {address: a, port: 9092}}}}\n",
        encoding="utf-8",
    )
    assert main(["lab", "up", "--file", str(file)]) == ExitCode.USAGE
    assert "there is no `lab:` block in it" in capsys.readouterr().err


def test_the_committed_lab_is_the_default_lab() -> None:
    """inventory/lab.yaml says what happens without it."""
    from chaosk.document import load_inventory
    from chaosk.spec.lab_layout import LabLayout

    file = Path(__file__).parents[2] / "inventory" / "lab.yaml"
    assert load_inventory(file) == LabLayout()


def test_down_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """No lab, nothing to do; with --all not even a word."""
    assert main(["lab", "down", "--all"]) == ExitCode.PASS
    assert capsys.readouterr().out == ""


def test_status_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A lab that is not up is an answer: 1 for scripts, a hint for people, JSON for programs."""
    assert main(["lab", "status", "--name", "nothing"]) == ExitCode.FAIL
    assert capsys.readouterr().out == "lab nothing: is not up; do: chaosk lab up --name nothing\n"
    assert main(["lab", "status", "--name", "nothing", "--json"]) == ExitCode.PASS
    assert '"up":false' in capsys.readouterr().out
