"""What a host's own facts mean: each lack by itself, with the limit just missed and just kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chaosk.run.preflight.diagnostic import Diagnostic
from chaosk.run.preflight.facts import LEASES, CapabilityTest, DiskSpace, HostFacts
from chaosk.run.preflight.fitness import LEASE_ROOM, SCARCE, fitness
from chaosk.run.preflight.host_requirements import HostRequirements

NEEDS = HostRequirements(tools=("awk", "flock"), cuts=True)
WORKS, FAILS = (
    CapabilityTest(works=True, flavour="nf_tables"),
    CapabilityTest(works=False, why="not found", flavour="none"),
)
WELL = HostFacts(
    uid=0,
    timer="systemd",
    release="6.1",
    tools={"awk": True, "flock": True, "systemctl": True, "systemd-run": True},
    programs={"/opt/start": "root"},
    units={"kafka.service": "loaded"},
    space={LEASES: DiskSpace(10 * LEASE_ROOM, 20 * LEASE_ROOM, writable=True)},
    filters={"nft": WORKS, "iptables": WORKS, "ip6tables": WORKS},
    kernel={"netem": WORKS, "timeouts": WORKS},
)


def wrong(firewall: str = "auto", needs: HostRequirements = NEEDS, **changes: Any) -> list[Diagnostic]:
    """What is not ok on a host that is well but for these facts."""
    return [one for one in fitness("a", replace(WELL, **changes), needs, firewall) if one.state != "ok"]


def test_a_host_that_is_well() -> None:
    """Nothing is wrong, and every kind of thing is told."""
    assert wrong() == []
    told = {one.what for one in fitness("a", WELL, NEEDS)}
    assert told == {"tools", "packet filter", "lease timer", "service", "room for leases", "kernel 6.1"}


def test_all_missing_tools_are_named_at_once_with_their_packages() -> None:
    """A user should not have to come back for the second one."""
    (found,) = wrong(tools={**WELL.tools, "awk": False, "flock": False})
    assert (found.state, found.seen) == ("bad", "there is no awk, flock")
    assert found.todo == "install on Debian: mawk util-linux"


def test_a_tool_that_was_not_answered_for_is_missing() -> None:
    """Silence is no yes."""
    assert wrong(needs=HostRequirements(tools=("ip",), cuts=False))[0].seen == "there is no ip"


@pytest.mark.parametrize(
    ("firewall", "nft", "iptables", "state"),
    [
        ("auto", WORKS, FAILS, None),
        ("auto", FAILS, WORKS, "warning"),
        ("auto", FAILS, FAILS, "bad"),
        ("nft", FAILS, WORKS, "bad"),
        ("nft", WORKS, FAILS, None),
        ("iptables", WORKS, FAILS, "bad"),
        ("iptables", WORKS, WORKS, "warning"),
    ],
)
def test_one_packet_filter_is_enough_if_it_is_the_one_that_is_wanted(
    firewall: str, nft: CapabilityTest, iptables: CapabilityTest, state: str | None
) -> None:
    """The best is nft, iptables alone leaves a gap in what is promised, none of them is none."""
    filters = {"nft": nft, "iptables": iptables, "ip6tables": iptables}
    found = wrong(firewall, filters=filters)
    assert [one.state for one in found] == ([state] if state else [])
    if state == "bad":
        assert "does not work here (not found" in found[0].seen
        assert f"install on Debian: {'iptables' if firewall == 'iptables' else 'nftables'}" in found[0].todo


def test_the_flavour_of_iptables_is_told() -> None:
    """Legacy and nf_tables do not see each other's rules; without IPv6 is worth a word."""
    legacy = {"nft": FAILS, "iptables": CapabilityTest(works=True, flavour="legacy"), "ip6tables": FAILS}
    (found,) = wrong(filters=legacy)
    assert found.seen == "iptables (legacy), without IPv6"


def test_who_cuts_nothing_is_not_asked_for_a_packet_filter() -> None:
    """A scenario that only kills brokers runs on a host without any."""
    assert wrong(needs=HostRequirements(NEEDS.tools, cuts=False), filters={}) == []


def test_systemd_without_systemd_run_has_no_timer() -> None:
    """No lease could be armed."""
    (found,) = wrong(tools={**WELL.tools, "systemd-run": False})
    assert (found.what, found.state) == ("lease timer", "bad")
    assert wrong(timer="setsid", tools={**WELL.tools, "systemd-run": False}) == []


def test_services_that_cannot_be_started_again() -> None:
    """Found before the broker is stopped: the unit and the program by name."""
    units = wrong(units={"kafka.service": "not-found"})
    assert [one.seen for one in units] == ["systemd has not loaded kafka.service (not-found)"]
    programs = wrong(programs={"/opt/start": "no"})
    assert [one.seen for one in programs] == ["there is no program /opt/start"]
    (shared,) = wrong(programs={"/opt/start": "shared"})
    assert "another account can replace it" in shared.seen
    assert wrong(programs={"/opt/start": "kafka"}) == []
    assert all("in the inventory" in one.todo for one in (*units, *programs))


def test_units_that_are_started_again_are_told_with_what_kills_do() -> None:
    """How and how soon; of one that stays down there is nothing to say."""
    units = {"kafka.service": "loaded", "zookeeper.service": "loaded"}
    facts = replace(WELL, units=units, restarts={"kafka.service": "on-failure 5s", "zookeeper.service": "no 100ms"})
    seen = [one.seen for one in fitness("a", facts, NEEDS) if one.what == "service"]
    assert seen[0].startswith("kafka.service is loaded; Restart=on-failure, RestartSec=5s: kill_ steps")
    assert seen[1] == "zookeeper.service is loaded"


@pytest.mark.parametrize(
    ("space", "bad"),
    [
        (DiskSpace(LEASE_ROOM, 10**6, writable=True), False),
        (DiskSpace(LEASE_ROOM - 1, 10**6, writable=True), True),
        (DiskSpace(10**6, 10**6, writable=False), True),
        (DiskSpace(0, 0, writable=True), True),
    ],
)
def test_room_for_leases(space: DiskSpace, bad: bool) -> None:  # noqa: FBT001 - a parameter of the table above
    """The limit is exact; what cannot be written has no room."""
    found = wrong(space={LEASES: space})
    assert [one.state for one in found] == (["bad"] if bad else [])
    assert all(one.what == "room for leases" and LEASES in one.seen for one in found)


@pytest.mark.parametrize(
    ("free", "state"), [(0, "bad"), (int(SCARCE * 10**8) - 1, "warning"), (int(SCARCE * 10**8), None)]
)
def test_room_for_data(free: int, state: str | None) -> None:
    """A full data directory ends a broker; a nearly full one is worth a word."""
    found = wrong(space={"/data": DiskSpace(free, 10**8, writable=True)})
    assert [one.state for one in found] == ([state] if state else [])


def test_what_the_kernel_cannot_do_is_told_and_holds_up_nobody() -> None:
    """What no step needs is for information; of what could not be tried it is said that it is unknown."""
    told = [one for one in fitness("a", replace(WELL, kernel={"netem": FAILS}), NEEDS) if "kernel" in one.what]
    assert [(one.state, one.seen) for one in told] == [
        ("ok", "no tc netem (so no delay_network, duplicate_packets, reorder_packets): not found")
    ]
    (found,) = wrong(kernel={"netem": CapabilityTest(None, "no namespaces")})
    assert (found.state, found.seen) == ("unknown", "tc netem: no namespaces")


@pytest.mark.parametrize("name", ["netem", "htb"])
def test_a_kernel_without_what_a_step_needs(name: str) -> None:
    """Bad before anything is broken, with the module by name; another of the two is no matter."""
    needs = HostRequirements(NEEDS.tools, cuts=False, queues=("netem",))
    found = wrong(needs=needs, kernel={name: CapabilityTest(works=False, why="Specified qdisc kind is unknown.")})
    if name == "htb":
        assert found == []
        return
    (one,) = found
    assert (one.state, one.what) == ("bad", "kernel 6.1")
    assert one.seen == "no tc netem, which a step of the scenario needs: Specified qdisc kind is unknown."
    assert "modprobe sch_netem" in one.todo


@pytest.mark.parametrize(
    ("firewall", "without", "lacks", "todo"),
    [
        ("auto", "numgen", "nft numgen", "modprobe nft_numgen"),
        ("nft", "numgen", "nft numgen", "modprobe nft_numgen"),
        ("iptables", "statistic", "iptables -m statistic", "modprobe xt_statistic"),
        ("auto", "statistic", None, None),
        ("iptables", "numgen", None, None),
    ],
)
def test_a_filter_that_cannot_draw(firewall: str, without: str, lacks: str | None, todo: str | None) -> None:
    """Bad where lose_packets would go by it, else for information; what the other filter can do is no matter."""
    kernel = {"numgen": WORKS, "statistic": WORKS, without: CapabilityTest(works=False, why="No such file")}
    lossy = HostRequirements(NEEDS.tools, cuts=True, losses=True)
    found = [one for one in wrong(firewall, lossy, kernel=kernel) if one.what == "kernel 6.1"]
    assert [one for one in wrong(firewall, kernel=kernel) if one.what == "kernel 6.1"] == []
    if lacks is None:
        assert found == []
        return
    (one,) = found
    assert (one.state, one.seen) == ("bad", f"no {lacks}, which a step of the scenario needs: No such file")
    assert todo is not None
    assert todo in one.todo


def test_where_no_trial_can_be_made_it_is_unknown() -> None:
    """Nobody is held up by it: the step itself looks whether its rules stand."""
    lossy = HostRequirements(NEEDS.tools, cuts=True, losses=True)
    (one,) = wrong(needs=lossy, kernel={"numgen": CapabilityTest(None, "no namespaces")})
    assert (one.state, one.seen) == ("unknown", "nft numgen: no namespaces")
