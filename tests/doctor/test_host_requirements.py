"""What a plan needs on the hosts: derived from the commands of its steps, and held against the scripts themselves."""

from __future__ import annotations

import re

import pytest
from sample_inventory import INVENTORY

from chaosk.hosts.scripts import PARTS, script
from chaosk.run.preflight import host_requirements as module
from chaosk.run.preflight.host_requirements import ALWAYS, OPTIONAL, PACKAGES, SCRIPTS, needs, programs
from chaosk.spec.command import Command
from chaosk.spec.scenario import Scenario

ABSENCE_IS_FINE = {
    "systemctl", "systemd-run", "iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save",
    "ip6tables-restore", "nft", "tc", "unshare", "setsid",
}  # fmt: skip
"""Words of scripts that are behind a question whether the program is there, or names of something else."""
NO_PROGRAM = {
    "boot": {"id"},
    "clock": {"id"}, "cut": {"id", "ip", "timeout"}, "discover": {"bash"},
    "examine": {"ip", "timeout"}, "lease": {"cut", "id", "sort"},
    "lock": {"cut", "id"}, "mapper": {"id"}, "oom": {"id"},
    "parent": {"bash", "sleep"}, "service": {"bash", "setpriv"}, "shape": {"id"},
    "state": {"cut", "ip"},
    "wipe": {"mount"},
}  # fmt: skip
"""Variables, English, and what a script asks for first."""


def scenario(*steps: str) -> Scenario:
    """A scenario with these timeline entries."""
    import yaml

    timeline = [{"at": "1s", **yaml.safe_load(step)} for step in steps]
    return Scenario.model_validate(
        {
            "name": "x",
            "hypothesis": "y",
            "topics": {"orders": {}},
            "probes": {"writer": {"produce": {"topic": "orders", "rate": "1/s"}}},
            "timeline": timeline,
        }
    )


def test_a_cut_needs_a_packet_filter_and_a_kill_does_not() -> None:
    """Each of the two asks only for what its own script runs."""
    cut = needs(scenario("cut_network: {between: [broker 0, broker 1]}"), INVENTORY)
    kill = needs(scenario("kill_broker: {target: broker 0}"), INVENTORY)
    assert (cut.cuts, kill.cuts) == (True, False)
    assert "getent" in cut.tools
    assert "getent" not in kill.tools
    assert programs("cut") <= set(cut.tools)
    assert programs("service") <= set(kill.tools)


@pytest.mark.parametrize(
    ("step", "queues"),
    [
        ("delay_network: {between: [host node1, everyone else], delay: 1s}", ("netem",)),
        ("duplicate_packets: {between: [host node1, everyone else], share: 1 %}", ("netem",)),
        ("reorder_packets: {between: [host node1, everyone else], share: 1 %}", ("netem",)),
        ("limit_bandwidth: {between: [host node1, everyone else], rate: 1Mbit/s}", ("htb",)),
        ("lose_packets: {between: [host node1, everyone else], share: 1 %}", ()),
    ],
)
def test_what_the_kernel_must_have_for_a_step(step: str, queues: tuple[str, ...]) -> None:
    """So that it is asked for before anything is broken."""
    found = needs(scenario(step), INVENTORY)
    assert found.queues == queues
    assert ("tc" in found.tools) is bool(queues)


def test_a_clock_that_is_moved_must_be_the_hosts_own() -> None:
    """Asked only where a step moves one."""
    assert needs(scenario("skew_clock: {target: host(broker 0), offset: 1h}"), INVENTORY).clocks
    assert not needs(scenario("kill_broker: {target: broker 0}"), INVENTORY).clocks


def test_packets_that_are_lost_take_a_filter_that_draws_them() -> None:
    """Asked only where a step loses some; a cut drops all."""
    assert needs(scenario("lose_packets: {between: [broker 0, broker 1], share: 1 %}"), INVENTORY).losses
    assert not needs(scenario("cut_network: {between: [broker 0, broker 1]}"), INVENTORY).losses


def test_every_run_needs_what_keeps_a_lease() -> None:
    """Even one whose only step touches no host."""
    idle = needs(scenario("wait: {duration: 1s}"), INVENTORY)
    assert not idle.cuts
    assert {"flock", "setsid", "awk", "timeout", "env", "date"} <= set(idle.tools)


def test_programs_that_a_step_runs_by_itself_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of another package: what it runs must be there, and as root it goes around chaosk's scripts."""
    ours = [Command(host="node1", argv=("ip", "link"), sudo=True), Command(host="node1", argv=("ss", "-t"))]
    monkeypatch.setattr(module, "_commands", lambda *_: iter(ours))
    found = needs(scenario("wait: {duration: 1s}"), INVENTORY)
    assert {"ip", "ss"} <= set(found.tools)
    assert found.beside == ("ip",)


def test_targets_that_only_the_cluster_knows_are_no_obstacle() -> None:
    """A leader is aimed at on an example: what runs on its host is the same."""
    live = needs(scenario('kill_broker: {target: "leader(orders, 0)"}'), INVENTORY)
    assert live == needs(scenario("kill_broker: {target: broker 0}"), INVENTORY)


def test_a_step_that_makes_no_sense_on_the_example_needs_everything() -> None:
    """Better one tool too many than a run that cannot heal."""
    unclear = needs(scenario("kill_broker: {target: zookeeper 1}"), INVENTORY)
    assert unclear == needs(None, INVENTORY)


def test_without_a_scenario_all_scripts_count() -> None:
    """Whatever chaosk can do must be possible."""
    found = needs(None, INVENTORY)
    assert found.cuts
    assert set(found.tools) >= frozenset().union(*(programs(name) for name in SCRIPTS))
    assert set(ALWAYS) <= SCRIPTS.keys()


def test_every_script_for_hosts_is_told_of() -> None:
    """What a script needs is asked for on every host; a power switch is thrown from chaosk's machine."""
    assert SCRIPTS.keys() == PARTS.keys() - {"power"}


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_script_runs_what_it_is_said_to_run_and_no_other_program(name: str) -> None:
    """Read word by word: a program that somebody adds to a script is missed here before it is missed on a host."""
    text = script(name)
    lines = [line.partition(" # ")[0] for line in text.splitlines() if not line.lstrip().startswith("#")]
    words = set(re.findall(r"(?<![\w$/-])[a-z][a-z0-9-]*(?![\w=/])", "\n".join(lines)))
    found = (words & PACKAGES.keys()) - ABSENCE_IS_FINE - NO_PROGRAM.get(name, set())
    assert found <= programs(name)
    assert programs(name) <= words


def test_every_program_has_a_package() -> None:
    """So that every lack can be told with what to install."""
    named = frozenset(OPTIONAL).union(*(programs(name) for name in SCRIPTS))
    assert named <= PACKAGES.keys()
