"""What a plan tells about each entry, before anything is done and with no network."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import NoReturn

import pytest
import shipped
from fake_live import FakeLive, inventory, kraft_inventory
from sample_documents import SCENARIO, written

from chaosk.cli._reference import page
from chaosk.core.errors import UsageError
from chaosk.document import load_scenario, load_variants
from chaosk.planning.preview import PreviewRow, describe
from chaosk.spec.inventory import Inventory, Power
from chaosk.spec.scenario import Scenario, steps

HEAD = """\
name: x
hypothesis: y
topics: {orders: {partitions: 3}}
probes: {writer: {produce: {topic: orders}}}
timeline:
"""


def scenario(tmp_path: Path, timeline: str) -> Scenario:
    """A scenario with that timeline."""
    return load_scenario(written(tmp_path, HEAD + timeline))


def rows(tmp_path: Path, timeline: str) -> tuple[PreviewRow, ...]:
    """The rows of a timeline on the three brokers of the fake inventory."""
    return describe(scenario(tmp_path, timeline), inventory())


def test_triggers_in_words(tmp_path: Path) -> None:
    """A time, another entry with and without delay, a condition, and the entry above; each round one by one."""
    starts = [row.starts for row in describe(load_scenario(written(tmp_path, SCENARIO)))]
    assert starts == [
        "at 10s",
        "when kill is done, once isr_full(orders) (within 1m)",
        "2s after kill is healed",
        "when cut is done, once not(broker_up(9)) (within 1m)",
        "when again-1 is healed",
        "when wait-4.2-1 is done, once not(broker_up(9)) (within 1m)",
        "when again-2 is healed",
    ]
    first = "- wait: {duration: 1s}\n- {after: wait-1, wait: {duration: 1s}}\n"
    assert [row.starts for row in rows(tmp_path, first)] == ["at 0s", "when wait-1 is done"]


def test_how_long_in_words(tmp_path: Path) -> None:
    """A duration, the rest of the timeline, or nothing that lasts."""
    timeline = (
        "- {kill_broker: {target: broker 1}, for: 90s}\n- kill_broker: {target: broker 1}\n- wait: {duration: 1s}\n"
    )
    assert [row.lasts for row in rows(tmp_path, timeline)] == [
        "90s",
        "until the timeline ends",
        "leaves nothing to undo",
    ]


def test_targets_that_the_inventory_tells_are_resolved(tmp_path: Path) -> None:
    """A broker, all brokers: the nodes stand beside the words, and the commands are the real ones."""
    (row,) = rows(tmp_path, "- kill_broker: {target: broker 1}\n")
    assert row.targets == ("broker 1 = broker 1 on node2",)
    assert not row.example
    assert row.does[0].startswith("node2$ sudo ")
    assert " hold script " in row.does[0]
    assert " kill script " in row.does[1]
    assert "/start" in row.undoes[1]


@pytest.mark.parametrize(
    "target", ["leader(orders, 0)", "controller", "coordinator(readers)", "random(1)", "minority", "isr(orders, 1)",
               "transaction_coordinator(billing)", "zookeepers_on(leader(orders, 0))", "zookeeper leader"],
)  # fmt: skip
def test_roles_stay_symbolic_and_their_commands_are_an_example(tmp_path: Path, target: str) -> None:
    """Only the running cluster knows a role: the words stay, the commands say that they are one possibility."""
    step = "kill_zookeeper" if target.startswith("zookeeper") else "kill_broker"
    (row,) = rows(tmp_path, f'- {step}: {{target: "{target}"}}\n')
    assert row.targets == (target,)
    assert row.example
    assert row.does
    assert row.undoes


def test_roles_that_would_overlap_in_the_example(tmp_path: Path) -> None:
    """In the example one broker has every role; a cut between two roles is right all the same."""
    (row,) = rows(tmp_path, '- cut_network: {between: ["leader(orders, 0)", controller]}\n')
    assert row.targets == ("leader(orders, 0)", "controller")
    assert row.does == ()


def test_a_cut_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    """Where the inventory alone tells that two groups overlap, the plan says so."""
    with pytest.raises(UsageError, match=r"cut_network-1"):
        rows(tmp_path, "- cut_network: {between: [broker 1, brokers]}\n")


def test_a_target_that_the_cluster_has_not(tmp_path: Path) -> None:
    """A broker id that the inventory lacks is found here, before a run."""
    with pytest.raises(UsageError, match="broker 7"):
        rows(tmp_path, "- kill_broker: {target: broker 7}\n")


def test_other_deeds_in_words(tmp_path: Path) -> None:
    """Elections, signals to probes and pauses are no commands on hosts, but said as plainly."""
    timeline = (
        "- elect_leader: {topic: orders, partitions: [0, 2]}\n- {kill_probe: {probe: writer}, for: 3s}\n"
        "- wait: {duration: 5s}\n- restart_broker: {target: broker 0}\n"
    )
    elect, kill, wait, restart = rows(tmp_path, timeline)
    assert elect.does == ("ask the controller for a preferred election of partitions 0, 2 of orders",)
    assert kill.does == ("kill the probe writer",)
    assert kill.undoes == ("start the probe writer",)
    assert wait.does == ("wait 5s",)
    assert any(line.startswith("wait until broker 0 on node1 is gone") for line in restart.does)


def test_without_an_inventory_there_are_no_commands(tmp_path: Path) -> None:
    """The timeline alone: steps in words, targets as written."""
    (row, *_) = describe(scenario(tmp_path, "- kill_broker: {target: broker 7}\n"))
    assert (row.does, row.undoes, row.targets) == ((), (), ("broker 7",))
    assert row.says.startswith("Kill the process of a broker with SIGKILL")


def test_no_socket_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning contacts nobody: not even a socket is made."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    assert rows(tmp_path, '- cut_network: {between: ["host(leader(orders, 0))", everyone else]}\n')[0].does


def switched(plain: Inventory) -> Inventory:
    """The same, its hosts with power switches."""
    switch = Power(switch_off=("off",), switch_on=("on",), state=("state",))
    hosts = {name: host.model_copy(update={"power": switch}) for name, host in plain.hosts.items()}
    return plain.model_copy(update={"hosts": hosts})


def with_disks(plain: Inventory, count: int) -> Inventory:
    """The same, its brokers with that many data directories."""
    data = tuple(f"/var/lib/kafka-{number}" for number in range(1, count + 1))
    brokers = {number: broker.model_copy(update={"data": data}) for number, broker in plain.brokers.items()}
    return plain.model_copy(update={"brokers": brokers}) if count > 1 else plain


def with_logins(plain: Inventory) -> Inventory:
    """The same, whose clients come in by TLS, and probes as somebody else than chaosk."""
    client: dict[str, str | int | bool] = {"security.protocol": "SASL_SSL", "sasl.username": "chaosk"}
    kafka = plain.kafka.model_copy(update={"client_config": "/etc/kafka/client.properties"})
    return plain.model_copy(update={"client": client, "probe_client": {"sasl.username": "probes"}, "kafka": kafka})


@pytest.mark.parametrize("name", steps())
def test_every_step_can_be_told(tmp_path: Path, name: str) -> None:
    """The example of each step has a row with words and deeds, and an undo if it lasts."""
    entry = "".join(f"    {line}\n" for line in page("steps", name).example.splitlines())
    kind = steps()[name]
    fitting = kraft_inventory() if kind.needs is not None and kind.needs.mode == "kraft" else switched(inventory())
    fitting = with_logins(fitting)
    head = HEAD.replace("{writer:", "{reader: {consume: {topic: orders, group: readers}}, writer:")
    (row,) = describe(load_scenario(written(tmp_path, f"{head}  -\n{entry}")), fitting)
    assert row.step == name
    assert row.says
    assert row.does
    assert bool(row.undoes) or not kind.lasting


def test_shipped_scenarios_can_be_told() -> None:
    """Each of them, on the brokers and disks that it asks for: no target that an inventory of that shape lacks."""
    for file, loaded in [(path, each) for path in shipped.SCENARIOS for each in load_variants(path).values()]:
        plain = kraft_inventory() if loaded.cluster.mode == "kraft" else inventory(brokers=loaded.cluster.brokers.min)
        plain = with_logins(plain) if loaded.cluster.secure else plain
        rows = describe(loaded, switched(with_disks(plain, loaded.cluster.data_dirs)))
        assert len(rows) == len(loaded.timeline)
        assert all(row.does for row in rows), file


def test_targets_as_they_stand_now(tmp_path: Path) -> None:
    """With a live cluster its leader is named and the commands are those for it; a draw by lot stays symbolic."""
    timeline = (
        "- kill_broker: {target: 'leader(orders, 1)'}\n- pause_broker: {target: 'random(1, brokers)'}\n"
        "- stop_broker: {target: coordinator(readers)}\n"
    )  # fmt: skip
    found = describe(scenario(tmp_path, timeline), inventory(), FakeLive())
    assert found[0].targets == ("leader(orders, 1) = broker 1 on node2",)
    assert (found[0].example, found[0].lease) == (False, "30s on node2, renewed while the run lives")
    assert all(line.startswith("node2$") for line in found[0].does)
    assert (found[1].targets, found[1].example) == (("random(1, brokers)",), True)
    assert found[2].targets == ("coordinator(readers) = nothing at the moment",)


def test_a_cluster_that_does_not_answer(tmp_path: Path) -> None:
    """Its targets stay as they are written."""
    (found,) = describe(scenario(tmp_path, "- kill_broker: {target: controller}\n"), inventory(), FakeLive(silent=True))
    assert (found.targets, found.example) == (("controller",), True)


def test_what_the_controller_is_asked_to_change(tmp_path: Path) -> None:
    """In words, what undoes it as well: no plan knows what will be set when the step fires."""
    timeline = "- {set_topic_config: {topic: orders, config: {retention.ms: 1, segment.ms: 2}}, for: 1s}\n"
    (one, two) = rows(tmp_path, timeline + "- create_partitions: {topic: orders, count: 4}\n")
    assert one.does == ("ask the controller to set retention.ms=1, segment.ms=2 of topic orders",)
    assert one.undoes == ("ask the controller to put back retention.ms, segment.ms of topic orders as it was",)
    assert (two.does, two.undoes) == (("ask the controller to give orders 4 partitions",), ())
    set_before = FakeLive(made={"broker 1": {"num.io.threads": "9"}})
    changed = scenario(tmp_path, "- {set_broker_config: {target: broker 1, config: {num.io.threads: 4}}, for: 1s}\n")
    for live, undone in (
        (None, "num.io.threads"),
        (set_before, "num.io.threads=9"),
        (FakeLive(silent=True), "num.io.threads"),
    ):
        (row,) = describe(changed, inventory(), live)
        assert [line.split()[-1] for line in (*row.does, *row.undoes)] == ["num.io.threads=4", undone]
    (again,) = rows(tmp_path, "- recreate_topic: {topic: orders}\n")
    assert again.does[0] == "ask the controller to delete orders, and wait until no broker knows it"
    assert again.does[2] == "ask the controller to make orders as it was, and wait until every leader serves it"
    assert again.undoes[0].startswith("ask the controller to make orders as it was unless it is there")
    assert again.lease == "30s on node1, renewed while the run lives"
    (look,) = rows(tmp_path, "- observe: {}\n")
    assert (look.does, look.lasts) == (("record the state of the cluster",), "leaves nothing to undo")
    (quota,) = rows(tmp_path, "- {set_quota: {probe: writer, producer_byte_rate: 1B}, for: 1s}\n")
    assert quota.lease == "31s on node1, renewed while the run lives"
