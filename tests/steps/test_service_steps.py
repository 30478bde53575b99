"""Stop, kill, start, restart and pause of brokers and ZooKeeper nodes: what each yields."""

from __future__ import annotations

from typing import Any

import pytest
from fake_live import kraft_inventory

from chaosk.core.errors import StepError
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Fact, PreparedFault, Run, Site
from chaosk.spec.contracts.target import Node
from chaosk.spec.inventory import Inventory, SystemdService

from .conftest import BROKERS, HOSTS, ZOOKEEPERS, site, step, told

ROLES = {"broker": BROKERS, "zookeeper": ZOOKEEPERS}
TAKE_DOWN = [(f"{verb}_{role}", role) for verb in ("stop", "kill") for role in ROLES]
EVERY = [*TAKE_DOWN, *((f"{verb}_{role}", role) for verb in ("start", "restart") for role in ROLES)]
EVERY += [(f"pause_{role}", role) for role in ROLES]


def one(inventory: Inventory, role: str) -> Site:
    """A site whose target names the first of a role."""
    return site(inventory, it=ROLES[role][:1])


@pytest.mark.parametrize(("kind", "role"), TAKE_DOWN)
def test_what_is_taken_down_ran_is_gone_and_comes_back(inventory: Inventory, kind: str, role: str) -> None:
    """The whole life: it runs, it is gone, it is started, it serves; whoever would start it is held for a kill."""
    down, here = step(f"{kind}: {{target: it}}"), one(inventory, role)
    up = f"{role}_up({ROLES[role][0].id})"
    kills = kind.startswith("kill")
    assert told(down.before(here)) == ["node1: runs", "node1: is", *(["node1: fits"] if kills else [])]
    assert told(down.inject(here)) == (["node1: hold", "node1: kill"] if kills else ["node1: stop"])
    assert told(down.verify(here)) == ["node1: gone", f"not({up})", *(["node1: held"] if kills else [])]
    assert told(down.undo(here)) == [*(["node1: release"] if kills else []), "node1: start"]
    assert told(down.healed(here)) == [*(["node1: released"] if kills else []), "node1: awake", up]
    assert down.lasting


@pytest.fixture
def by_systemd(inventory: Inventory) -> Inventory:
    """The same, its brokers run by systemd."""
    unit = SystemdService(systemd="kafka.service")
    brokers = {number: broker.model_copy(update={"service": unit}) for number, broker in inventory.brokers.items()}
    return inventory.model_copy(update={"brokers": brokers})


def test_systemd_is_held_while_a_kill_lasts(by_systemd: Inventory) -> None:
    """Before the signal it is kept from starting the broker again, and let again before anything else is undone."""
    kill, here = step("kill_broker: {target: it}"), one(by_systemd, "broker")
    assert told(kill.before(here)) == ["node1: runs", "node1: is", "node1: fits"]
    assert told(kill.inject(here)) == ["node1: hold", "node1: kill"]
    assert told(kill.verify(here)) == ["node1: gone", "not(broker_up(0))", "node1: held"]
    assert told(kill.watch(here)) == told(kill.verify(here))
    assert told(kill.undo(here)) == ["node1: release", "node1: start"]
    assert told(kill.healed(here)) == ["node1: released", "node1: awake", "broker_up(0)"]


@pytest.mark.parametrize("who", ["by_systemd", "inventory"])
def test_a_supervised_kill_is_left_to_whoever_starts_it_again(who: str, request: pytest.FixtureRequest) -> None:
    """Nobody is held; the process that was killed is gone, and at the end of the fault another one runs."""
    kill, here = step("kill_broker: {target: it, restart: supervised}"), one(request.getfixturevalue(who), "broker")
    assert told(kill.before(here)) == ["node1: runs", "node1: is"]
    assert told(kill.inject(here)) == [*(["node1: note"] if who == "inventory" else []), "node1: kill"]
    assert told(kill.verify(here)) == ["node1: ended", "node1: returned"]
    assert [fact.last for fact in kill.verify(here)] == [False, True]
    assert told(kill.watch(here)) == []
    assert told(kill.undo(here)) == ["node1: start"]


@pytest.mark.parametrize(("role", "ports"), [("broker", ("9092", "9093")), ("zookeeper", ("2181",))])
def test_gone_also_means_that_nobody_listens_in_its_place(
    inventory: Inventory, role: str, ports: tuple[str, ...]
) -> None:
    """A replacement that no pid file names is found by the ports."""
    fact = next(iter(step(f"kill_{role}: {{target: it}}").verify(one(inventory, role))))
    assert isinstance(fact.query, Command)
    assert fact.query.argv[8:] == ports


@pytest.mark.parametrize("role", ROLES)
def test_a_start_needs_something_that_is_down(inventory: Inventory, role: str) -> None:
    """It ends the kill or stop that took it down, and leaves nothing to undo."""
    start, here = step(f"start_{role}: {{target: it}}"), one(inventory, role)
    assert told(start.before(here)) == ["node1: gone"]
    assert told(start.inject(here)) == ["node1: start"]
    assert told(start.verify(here)) == ["node1: awake", f"{role}_up({ROLES[role][0].id})"]
    assert told(start.undo(here)) == []
    assert {"stop", "kill", f"stop_{role}", f"kill_{role}"} <= set(start.ends)
    assert not start.lasting


@pytest.mark.parametrize("role", ROLES)
def test_a_rolling_restart_waits_for_each(inventory: Inventory, role: str) -> None:
    """The second is stopped when the first serves again and the pause is over; no pause after the last."""
    here = site(inventory, all=ROLES[role])
    restart = step(f"restart_{role}: {{target: all, pause: 5s}}")
    a, b, c = (f"{role}_up({node.id})" for node in ROLES[role])
    assert told(restart.inject(here)) == [
        "node1: stop", "node1: gone", "node1: start", "node1: awake", a, "pause 5.0",
        "node2: stop", "node2: gone", "node2: start", "node2: awake", b, "pause 5.0",
        "node3: stop", "node3: gone", "node3: start", "node3: awake", c,
    ]  # fmt: skip
    assert told(restart.verify(here)) == ["node1: awake", a, "node2: awake", b, "node3: awake", c]


@pytest.mark.parametrize("role", ROLES)
def test_a_restart_that_breaks_off_is_put_back(inventory: Inventory, role: str) -> None:
    """Half-way through, something is down: the undo starts it."""
    here = site(inventory, all=ROLES[role])
    assert told(step(f"restart_{role}: {{target: all}}").undo(here)) == ["node1: start", "node2: start", "node3: start"]


def test_without_a_pause_there_is_none(inventory: Inventory) -> None:
    """The next one follows at once."""
    deeds = told(step("restart_broker: {target: all}").inject(site(inventory, all=BROKERS)))
    assert not [deed for deed in deeds if deed.startswith("pause")]


@pytest.mark.parametrize("role", ROLES)
def test_a_pause_freezes_and_wakes(inventory: Inventory, role: str) -> None:
    """SIGSTOP, seen as state T, and SIGCONT; what died meanwhile is started as well."""
    pause, here = step(f"pause_{role}: {{target: it}}"), one(inventory, role)
    assert told(pause.before(here)) == ["node1: awake", "node1: is"]
    assert told(pause.inject(here)) == ["node1: signal"]
    assert [deed.command.argv[-1] for deed in pause.inject(here) if isinstance(deed, Run)] == ["STOP"]
    assert told(pause.verify(here)) == ["node1: frozen"]
    assert told(pause.watch(here)) == ["node1: frozen", f"not({role}_up({ROLES[role][0].id}))"]
    assert told(pause.undo(here)) == ["node1: signal-if-running", "node1: start"]
    assert told(pause.healed(here)) == ["node1: awake", f"{role}_up({ROLES[role][0].id})"]
    assert pause.lasting


@pytest.mark.parametrize(("kind", "role"), EVERY)
def test_a_set_hits_all_of_them(inventory: Inventory, kind: str, role: str) -> None:
    """Every node that the target names gets the same, on its own host."""
    here = site(inventory, all=ROLES[role])
    hosts = {deed.split(":")[0] for deed in told(step(f"{kind}: {{target: all}}").inject(here)) if deed[:4] == "node"}
    assert hosts == {"node1", "node2", "node3"}


@pytest.mark.parametrize(("kind", "role"), EVERY)
def test_a_target_of_another_kind_is_refused(inventory: Inventory, kind: str, role: str) -> None:
    """A broker step on a ZooKeeper node or a host says what to name instead."""
    for wrong in (HOSTS[0], ZOOKEEPERS[0] if role == "broker" else BROKERS[0]):
        with pytest.raises(StepError, match=r"entry: the target 'it' names .*; name (brokers|ZooKeeper nodes), like"):
            list(step(f"{kind}: {{target: it}}").inject(site(inventory, it=[wrong])))


@pytest.mark.parametrize(("kind", "role"), EVERY)
def test_a_fault_is_data(inventory: Inventory, kind: str, role: str) -> None:
    """All of it can be written down and read back the same, so whoever heals needs no step."""
    it, here = step(f"{kind}: {{target: it}}"), one(inventory, role)
    names = ("before", "inject", "verify", "undo", "healed")
    parts: dict[str, Any] = {name: tuple(getattr(it, name)(here)) for name in names}
    fault = PreparedFault(name="entry", step=kind, targets=here.nodes("it"), **parts)
    assert PreparedFault.model_validate_json(fault.model_dump_json()) == fault


@pytest.mark.parametrize(("kind", "role"), EVERY)
def test_facts_that_need_time_have_it(inventory: Inventory, kind: str, role: str) -> None:
    """What must be seen after a deed is waited for; what must hold before is asked once."""
    it, here = step(f"{kind}: {{target: it}}"), one(inventory, role)
    assert all(fact.within == 0 for fact in it.before(here))
    waited = [*it.verify(here), *it.healed(here), *(deed for deed in it.inject(here) if isinstance(deed, Fact))]
    assert all(fact.within >= 20 for fact in waited)


KRAFT = kraft_inventory(combined=1)
ALONE = Node(kind="controller", id="102", host="node2")
COMBINED = Node(kind="broker", id="0", host="node1")


@pytest.mark.parametrize("verb", ["stop", "kill"])
def test_a_controller_is_taken_down_and_comes_back(verb: str) -> None:
    """By its own service and port, until it takes part in the quorum."""
    down, here = step(f"{verb}_controller: {{target: it}}"), site(KRAFT, it=(ALONE,))
    assert told(down.before(here))[:2] == ["node2: runs", "node2: is"]
    assert told(down.undo(here))[-1:] == ["node2: start"]
    assert told(down.healed(here))[-2:] == ["node2: awake", "controller_up(102)"]
    gone = next(iter(down.verify(here)))
    assert isinstance(gone.query, Command)
    assert gone.query.argv[6:9] == ("/run/pid", "/controller.properties", "9094")


@pytest.mark.parametrize("kind", ["kill_controller", "kill_broker"])
def test_a_process_with_two_roles_comes_back_in_both(kind: str) -> None:
    """Whichever of them it was killed as."""
    down, here = step(f"{kind}: {{target: it}}"), site(KRAFT, it=(COMBINED,))
    assert told(down.healed(here)) == ["node1: released", "node1: awake", "broker_up(0)", "controller_up(0)"]
    assert list(down.holds(here)) == ["the process of broker 0 on node1"]


def test_only_controllers_are_controllers() -> None:
    """A broker that is none, and a controller that is no broker, are refused with what to name."""
    other = Node(kind="broker", id="2", host="node3")
    with pytest.raises(StepError, match="names broker 2 on node3; name controllers of a KRaft quorum"):
        list(step("kill_controller: {target: it}").inject(site(KRAFT, it=(other,))))
    with pytest.raises(StepError, match="names controller 102 on node2; name brokers"):
        list(step("kill_broker: {target: it}").inject(site(KRAFT, it=(ALONE,))))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("verb", ["stop", "kill", "start", "restart", "pause"])
def test_the_target_of_a_verb_names_the_role(inventory: Inventory, verb: str, role: str) -> None:
    """The verb does what its form for the role does, and is recorded under the form's name."""
    here = one(inventory, role)
    general, narrow = (step(f"{name}: {{target: it}}") for name in (verb, f"{verb}_{role}"))
    for part in ("before", "inject", "verify", "watch", "undo", "healed", "harm", "holds"):
        assert list(getattr(general, part)(here)) == list(getattr(narrow, part)(here))
    assert general.recorded(here) == narrow.recorded(here) == f"{verb}_{role}"


def test_servers_of_several_kinds_are_recorded_under_no_role(inventory: Inventory) -> None:
    """Nothing says that a broker and a ZooKeeper node were controllers."""
    mixed = site(inventory, it=(BROKERS[0], ZOOKEEPERS[0]))
    assert step("kill: {target: it}").recorded(mixed) == "kill"
    assert step("kill_controller: {target: it}").recorded(mixed) == "kill_controller"


def test_a_verb_is_not_done_to_a_host(inventory: Inventory) -> None:
    """A target without a server is refused, with what to write instead."""
    with pytest.raises(StepError, match=r"names host node1; name brokers, .*, or controllers .*, or ZooKeeper nodes"):
        list(step("kill: {target: it}").before(site(inventory, it=HOSTS[:1])))
