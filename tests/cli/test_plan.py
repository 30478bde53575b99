"""`chaosk plan`: the timeline and its commands, for people and pipes."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from fake_live import inventory
from sample_documents import SCENARIO, VARIED, spoil, written

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    """An inventory file of three brokers."""
    text = inventory().model_dump_json(exclude_none=True, by_alias=True)
    brokers, zookeepers = text.split('"zookeepers"')
    unlike = zookeepers.replace("/run/pid", "/run/zookeeper.pid")
    return str(written(tmp_path, f'{brokers}"zookeepers"{unlike}', "inventory.yaml"))


def test_timeline_is_told_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Name, hypothesis, topics, probes, each entry with trigger, step, targets and duration."""
    assert main(["plan", str(written(tmp_path, SCENARIO))]) == ExitCode.PASS
    shown = capsys.readouterr().out
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    assert lines[0] == "Kill the leader"
    for line in ("kill  at 10s", "on leader(orders, 0)", "lasts 30s", "cut  2s after kill is healed", "lasts 5s"):
        assert line in lines
    assert "then 20s of settling; expects unavailability, recovery, lost_records, rate" in lines
    assert "With --inventory" in shown


def test_rounds_and_a_late_probe_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each round one by one, and who is not there from the beginning."""
    late = spoil(SCENARIO, "commit: sync", "commit: sync, started_by: step")
    document = spoil(late, "wait: {duration: 1s}", "start_probe: {probe: reader}")
    assert main(["plan", str(written(tmp_path, document))]) == ExitCode.PASS
    shown = capsys.readouterr().out
    assert "reader: consume orders, started by a step\n" in shown
    assert shown.index("again-1  when cut is done") < shown.index("start_probe-4.2-1  when again-1 is healed")
    assert shown.index("start_probe-4.2-1  when") < shown.index("again-2  when start_probe-4.2-1 is done")


def test_commands_are_shown_for_an_inventory(tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str) -> None:
    """What would run on which host, and what would undo it; an example where only the cluster knows the target."""
    assert main(["plan", str(written(tmp_path, SCENARIO)), "--inventory", cluster]) == ExitCode.PASS
    shown = capsys.readouterr().out
    assert "does (an example: only the running cluster knows the target)" in shown
    assert "on broker 1 = broker 1 on node2; broker 2 = broker 2 on node3; broker 0 = broker 0 on node1" in shown
    assert "node2$ sudo sh -c" in shown
    assert "--dport 9092" in shown


def test_set_changes_what_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plan is that of the run with the same --set."""
    assert main(["plan", str(written(tmp_path, SCENARIO)), "--set", "hold=90s"]) == ExitCode.PASS
    assert "lasts 90s" in capsys.readouterr().out


def test_lines_are_not_cropped_or_wrapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is to be copied stays on its line, however narrow the terminal, and has no colour codes in a pipe."""
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["plan", str(written(tmp_path, SCENARIO)), "--inventory", cluster]) == ExitCode.PASS
    shown = capsys.readouterr().out
    assert max(len(line) for line in shown.splitlines()) > 100
    assert "\x1b" not in shown


def test_text_of_users_is_not_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets in a name are brackets."""
    document = spoil(SCENARIO, "name: Kill the leader", "name: 'Kill [bold]the[/] leader [/x]'")
    assert main(["plan", str(written(tmp_path, document))]) == ExitCode.PASS
    assert "Kill [bold]the[/] leader [/x]" in capsys.readouterr().out


def test_cluster_of_another_shape(tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str) -> None:
    """Too few or too many brokers is said as the preflight of a run would say it."""
    document = spoil(SCENARIO, "brokers: 3\n", "brokers: {min: 5}\n")
    assert main(["plan", str(written(tmp_path, document)), "--inventory", cluster]) == ExitCode.PREFLIGHT
    assert "at least 5 brokers" in capsys.readouterr().err


def test_mistakes_are_those_of_validate(tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str) -> None:
    """A wrong scenario, or a broker that the inventory lacks: bad input."""
    assert main(["plan", str(written(tmp_path, spoil(SCENARIO, "settle: 20s", "setle: 20s")))]) == ExitCode.USAGE
    assert "did you mean 'settle'?" in capsys.readouterr().err
    document = spoil(SCENARIO, "[broker 1, [broker 2, broker 0]]", "[broker 1, broker 7]")
    assert main(["plan", str(written(tmp_path, document)), "--inventory", cluster]) == ExitCode.USAGE
    assert "broker 7" in capsys.readouterr().err


def test_what_one_variant_cannot_do(tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str) -> None:
    """No variant is shown where one of them would be refused, as none would be run."""
    document = spoil(VARIED, "[broker 1,", "['broker ${who}',").replace("  count: 6\n", "  count: 6\n  who: 1\n", 1)
    assert main(["plan", str(written(tmp_path, document)), "--inventory", cluster]) == ExitCode.PASS
    assert capsys.readouterr().out.count("Kill the leader (") == 3
    document = spoil(document, "{count: 9,", "{who: 7, count: 9,")
    assert main(["plan", str(written(tmp_path, document)), "--inventory", cluster]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert "broker 7" in shown.err
    assert shown.out == ""


def test_a_lab_file_tells_no_hosts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lab's hosts exist once it is up: the plan says where commands would come from."""
    lab = str(written(tmp_path, "lab: {}\n", "lab.yaml"))
    assert main(["plan", str(written(tmp_path, SCENARIO)), "--inventory", lab]) == ExitCode.PASS
    assert "With --inventory and the hosts of a cluster" in capsys.readouterr().out


def test_the_lease_and_what_is_allowed_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    """How long which hosts keep the undo once chaosk is gone: the fault's time and a margin, as long as is allowed."""
    document = spoil(SCENARIO, "settle: 20s", "settle: 20s\nallow: {all_brokers: to see it}")
    document = spoil(document, "between: [broker 1, [broker 2, broker 0]]", "between: [broker 1, broker 2]")
    assert main(["plan", str(written(tmp_path, document)), "--inventory", cluster]) == ExitCode.PASS
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "lease 35s on node2, renewed while the run lives" in lines
    assert "lease 1m on node1, renewed while the run lives" in lines
    assert "allows    all_brokers: to see it" in lines


def test_what_is_not_safe_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str) -> None:
    """As a run would refuse it: exit 69, with the entry, why, and what to write."""
    document = spoil(
        SCENARIO, "cut_network: {between: [broker 1, [broker 2, broker 0]]}",
        "kill_zookeeper: {target: zookeeper 1}\n    at: 1s\n  - at: 2s\n    stop_zookeeper: {target: zookeeper 2}",
    )  # fmt: skip
    document = spoil(document, "    after: {entry: kill, is: healed, delay: 2s}\n", "")
    assert main(["plan", str(written(tmp_path, document)), "--inventory", cluster]) == ExitCode.PREFLIGHT
    told = capsys.readouterr().err
    assert "stop_zookeeper-4: with cut in place, it would leave no majority of the 3 ZooKeeper nodes" in told
    assert "allow: {zookeeper_majority: WHY}" in told


def test_nothing_is_contacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    """With an inventory or without: no socket is opened, no name resolved. Only --live asks, and needs to know whom."""

    def forbid(*args: object, **more: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", forbid)
    monkeypatch.setattr(socket, "getaddrinfo", forbid)
    scenario = str(written(tmp_path, SCENARIO))
    assert main(["plan", scenario]) == ExitCode.PASS
    assert main(["plan", scenario, "--inventory", cluster]) == ExitCode.PASS
    assert main(["plan", scenario, "--live"]) == ExitCode.USAGE
    assert "--live asks a cluster; name it with --inventory" in capsys.readouterr().err
