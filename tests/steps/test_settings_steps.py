"""The steps that change settings of topics and brokers, and quotas of clients."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from chaosk.core.errors import StepError
from chaosk.hosts.commands import brokertool
from chaosk.spec.contracts.step import Configure, Fact, Run, Site, Step
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, HOSTS, site, step

ORDERS = Entity(kind="topic", name="orders")
SECOND = Entity(kind="broker", name="1")
WRITER = Entity(kind="clients", client="writer")
TOPIC = "set_topic_config: {topic: orders, config: {retention.bytes: 1000, unclean.leader.election.enable: true}}"
BROKER = "set_broker_config: {target: it, config: {num.io.threads: 4}}"
QUOTA = "set_quota: {probe: writer, producer_byte_rate: 10KiB, request_percentage: 12.5}"


def at(inventory: Inventory, former: dict[Entity, dict[str, str]]) -> Site:
    """Where the target ``it`` is broker 1, and something had been set before."""
    return replace(site(inventory, it=BROKERS[1:2]), former=former)


def words(one: Step, where: Site) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Of each command that does and undoes it the host, whose settings it changes, and the settings."""
    done, undone = (
        [(deed.command.host, *deed.command.argv[8:]) for deed in deeds if isinstance(deed, Run)]
        for deeds in (one.inject(where), one.undo(where))
    )
    return done, undone


def test_a_topic_gets_back_what_was_set_on_it(inventory: Inventory) -> None:
    """One request does it, one undoes it: what was set there before is set again, what was not is removed."""
    one, where = step(TOPIC), at(inventory, {ORDERS: {"retention.bytes": "5", "segment.bytes": "7"}})
    new = Settings(of=ORDERS, values={"retention.bytes": "1000", "unclean.leader.election.enable": "true"})
    old = Settings(of=ORDERS, values={"retention.bytes": "5", "unclean.leader.election.enable": None})
    assert list(one.inject(where)) == [Configure(settings=new)]
    assert list(one.undo(where)) == [Configure(settings=old, back=True)]
    assert [fact.query for fact in one.verify(where)] == [new]
    assert [fact.query for fact in one.healed(where)] == [old]


def test_only_a_topic_that_chaosk_made(inventory: Inventory) -> None:
    """Asked before anything is done."""
    for text in (TOPIC, "create_partitions: {topic: orders, count: 4}"):
        assert [fact.query for fact in step(text).before(at(inventory, {}))] == ["own_topic(orders)"]


def test_a_broker_is_changed_on_its_own_host(inventory: Inventory) -> None:
    """By commands, so that the host can undo it by itself: with the value of before, or by removing it."""
    one = step(BROKER)
    assert words(one, at(inventory, {})) == (
        [("node2", "1", "", "", "num.io.threads=4")],
        [("node2", "1", "", "", "num.io.threads")],
    )
    _, undone = words(one, at(inventory, {SECOND: {"num.io.threads": "8"}}))
    assert undone == [("node2", "1", "", "", "num.io.threads=8")]
    assert [fact.query for fact in one.verify(at(inventory, {}))] == [
        Settings(of=SECOND, values={"num.io.threads": "4"})
    ]


def test_a_quota_is_kept_on_the_first_brokers_host(inventory: Inventory) -> None:
    """That of a probe is that of its client.id."""
    done, undone = words(step(QUOTA), at(inventory, {WRITER: {"producer_byte_rate": "5"}}))
    assert done == [("node1", "", "", "writer", "producer_byte_rate=10240", "request_percentage=12.5")]
    assert undone == [("node1", "", "", "writer", "producer_byte_rate=5", "request_percentage")]


@pytest.mark.parametrize(
    ("whose", "entity"),
    [
        ("client: shop", Entity(kind="clients", client="shop")),
        ("user: ann", Entity(kind="clients", user="ann")),
        ("user: ann, probe: writer", Entity(kind="clients", user="ann", client="writer")),
    ],
)
def test_others_have_a_quota_only_by_name(inventory: Inventory, whose: str, entity: Entity) -> None:
    """A client.id, a user, or both together."""
    (settings,) = step(f"set_quota: {{{whose}, consumer_byte_rate: 1B}}").changes(site(inventory))
    assert settings == Settings(of=entity, values={"consumer_byte_rate": "1"})


@pytest.mark.parametrize("text", [BROKER, QUOTA])
def test_the_tool_is_asked_for_before_the_run(inventory: Inventory, text: str) -> None:
    """On each host that is to do it, and again when the step fires."""
    one, where = step(text), at(inventory, {})
    host = words(one, where)[0][0][0]
    for facts in (list(one.suits(where)), list(one.before(where))):
        assert [fact.query for fact in facts] == [brokertool.fits(inventory, host)]


@pytest.mark.parametrize("text", [TOPIC, BROKER, QUOTA])
def test_two_that_change_the_same_contradict(inventory: Inventory, text: str) -> None:
    """Each holds its settings, and takes no server away."""
    where = at(inventory, {})
    held = list(step(text).holds(where))
    assert len(held) == sum(len(one.values) for one in step(text).changes(where))
    assert all(" of " in one for one in held)
    assert list(step(text).harm(where)) == []
    other = step(BROKER.replace("num.io.threads", "background.threads"))
    assert not set(held) & set(other.holds(where))


@pytest.mark.parametrize("text", [BROKER, QUOTA])
def test_where_clients_log_in_the_tool_needs_a_file(inventory: Inventory, text: str) -> None:
    """Refused with what to write; with it, the tool is told of the file."""
    secure = inventory.model_copy(update={"client": {"security.protocol": "SASL_SSL"}})
    with pytest.raises(StepError, match=r"clients of lab use SASL_SSL.*write `client_config` below `kafka`"):
        list(step(text).inject(at(secure, {})))
    kafka = secure.kafka.model_copy(update={"client_config": "/etc/kafka/client.properties"})
    (deed,) = step(text).inject(at(secure.model_copy(update={"kafka": kafka}), {}))
    assert isinstance(deed, Run)
    assert deed.command.argv[5:7] == ("/opt/kafka", "/etc/kafka/client.properties")


def test_only_brokers_have_such_settings(inventory: Inventory) -> None:
    """A host has none."""
    with pytest.raises(StepError, match="host node1 is no broker"):
        list(step(BROKER).inject(site(inventory, it=HOSTS[:1])))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("set_topic_config: {topic: o, config: {}}", "at least 1 item"),
        ("set_topic_config: {topic: o, config: {cleanup.policy: compact}}", "write cleanup.policy to the topic's own"),
        ("set_topic_config: {topic: o, config: {'a=b,c': 1}}", "should match pattern"),
        ("set_broker_config: {target: brokers, config: {log.retention.ms: 1}}", "Input should be"),
        ("set_broker_config: {target: brokers, config: {num.io.threads: '4,x=1'}}", "valid integer"),
        ("set_quota: {producer_byte_rate: 1B}", "whose quota"),
        ("set_quota: {probe: writer, client: other, producer_byte_rate: 1B}", "keep one of them"),
        ("set_quota: {probe: writer}", "no limit"),
        ("set_quota: {client: --help, producer_byte_rate: 1B}", "should match pattern"),
        ("create_partitions: {topic: o, count: 1}", "greater than or equal to 2"),
    ],
)
def test_nonsense_is_refused(wrong: str, why: str) -> None:
    """Nothing to set, what may not be changed, nobody's quota, names that are more than a name."""
    with pytest.raises(ValidationError, match=why):
        step(wrong)


def test_partitions_are_added_by_one_request(inventory: Inventory) -> None:
    """It leaves nothing to undo; believed once all are there and whole."""
    one = step("create_partitions: {topic: orders, count: 4}")
    (deed,) = one.inject(site(inventory))
    assert deed.model_dump() == {"do": "add_partitions", "topic": "orders", "count": 4}
    assert [fact.query for fact in one.verify(site(inventory))] == ["partition_count(orders, 4)"]
    assert (one.lasting, list(one.undo(site(inventory))), list(one.harm(site(inventory)))) == (False, [], [])
    move = step("cancel_reassignment: {topic: orders}")
    assert list(one.holds(site(inventory))) == list(move.holds(site(inventory)))


def test_settings_in_words() -> None:
    """For messages: what is set, and on what."""
    quota = Entity(kind="clients", user="ann", client="writer")
    told = Settings(of=quota, values={"producer_byte_rate": "5", "request_percentage": None})
    assert str(told) == "producer_byte_rate=5, no request_percentage for clients with user ann and client.id writer"
    assert str(Fact(says="x", query=Settings(of=SECOND, values={"a": "1"})).query) == "a=1 for broker 1"
