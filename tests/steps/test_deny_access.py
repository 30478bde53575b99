"""deny_access: which ACLs it adds, what it proves, and that it takes away its own and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pydantic import ValidationError
from sample_inventory import secured

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import Deed, Run, Site
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.inventory import Inventory

from .conftest import site, step

WRITE = "deny_access: {topic: orders, operations: [write]}"
ACLS = Entity(kind="acls", resource="topic", name="orders")
RIGHTS = Entity(kind="rights", resource="topic", name="orders")
ALLOW, DENY = "allow all User:*", "deny write User:probes"


def at(inventory: Inventory, former: dict[str, str] | None = None) -> Site:
    """Where those ACLs were there when it fired."""
    return replace(site(secured(inventory)), former={ACLS: former or {}})


def words(deeds: Iterator[Deed]) -> list[str]:
    """Of each command the host, what it does and to which ACL."""
    runs = [deed.command for deed in deeds if isinstance(deed, Run)]
    return [" ".join((one.host, one.argv[4], *one.argv[8:])) for one in runs]


def test_a_topic_without_acls_stays_open_to_everybody_else(inventory: Inventory) -> None:
    """Everybody is allowed it first and loses that last, else all would be shut out in between."""
    where = at(inventory)
    allow, deny = "topic orders allow User:* all", "topic orders deny User:probes write"
    assert words(step(WRITE).inject(where)) == [f"node1 grant {allow}", f"node1 grant {deny}"]
    assert words(step(WRITE).undo(where)) == [f"node1 withdraw {deny}", f"node1 withdraw {allow}"]


def test_where_there_are_acls_nobody_is_allowed_more(inventory: Inventory) -> None:
    """A topic that is closed to all but some is not opened by a fault."""
    where = at(inventory, {"allow read User:ann": "there"})
    assert words(step(WRITE).inject(where)) == ["node1 grant topic orders deny User:probes write"]
    assert words(step(WRITE).undo(where)) == ["node1 withdraw topic orders deny User:probes write"]


def test_an_acl_that_was_there_stays(inventory: Inventory) -> None:
    """The undo grants it once more, which changes nothing, and does not take it away."""
    where = at(inventory, {DENY: "there"})
    assert words(step(WRITE).undo(where)) == ["node1 grant topic orders deny User:probes write"]
    (acls, _) = step(WRITE).healed(where)
    assert acls.query == Settings(of=ACLS, values={DENY: "there"})


def test_it_took_if_every_broker_has_the_acls_and_refuses(inventory: Inventory) -> None:
    """Before it the probes could, after it they cannot, and once it is healed they can again."""
    where = at(inventory)
    there, gone = (Settings(of=RIGHTS, values={"write": value}) for value in ("there", None))
    assert [fact.query for fact in step(WRITE).before(where)][-1] == there
    assert [fact.query for fact in step(WRITE).verify(where)] == [
        Settings(of=ACLS, values={ALLOW: "there", DENY: "there"}),
        gone,
    ]
    assert [fact.query for fact in step(WRITE).healed(where)] == [
        Settings(of=ACLS, values={ALLOW: None, DENY: None}),
        there,
    ]
    assert next(iter(step(WRITE).before(where))).query == "own_topic(orders)"


def test_of_a_transactional_id_describe_alone_is_asked(inventory: Inventory) -> None:
    """Brokers tell no more: what cannot be seen is not claimed."""
    one, where = step("deny_access: {transactional_id: t, operations: [write]}"), at(inventory)
    of = Entity(kind="rights", resource="transactional_id", name="t")
    asked = [fact.query for fact in (*one.before(where), *one.verify(where))]
    assert [query for query in asked if isinstance(query, Settings) and query.of == of] == [
        Settings(of=of, values={"describe": "there"})
    ]


def test_others_than_the_probes_are_denied_by_name(inventory: Inventory) -> None:
    """Whether they are refused is not asked with the login of the probes."""
    one = step("deny_access: {group: readers, operations: [read], principal: 'User:CN=shop,O=acme'}")
    where = at(inventory)
    assert words(one.inject(where))[-1] == "node1 grant group readers deny User:CN=shop,O=acme read"
    assert [fact.query.of.kind for fact in one.verify(where) if isinstance(fact.query, Settings)] == ["acls"]


@pytest.mark.parametrize(
    ("more", "text", "why"),
    [
        ({"probe_client": {}}, WRITE, "probes come in with chaosk's own login.*probe_client"),
        ({"client": {}, "probe_client": {}}, WRITE, "probes come in with chaosk's own login"),
        ({}, WRITE[:-1] + ", principal: 'User:chaosk'}", "User:chaosk is chaosk's own login"),
    ],
)
def test_chaosk_does_not_shut_itself_out(inventory: Inventory, more: dict[str, object], text: str, why: str) -> None:
    """Its audit and its watcher would be denied as well: refused before anything is done."""
    where = site(secured(inventory, **more))
    for asked in (step(text).suits, step(text).before, step(text).inject):
        with pytest.raises(StepError, match=why):
            list(asked(where))


def test_two_on_one_topic_contradict(inventory: Inventory) -> None:
    """Whether everybody has to be allowed it depends on the other one, so they exclude each other."""
    read = step("deny_access: {topic: orders, operations: [read]}")
    group = step("deny_access: {group: orders, operations: [read]}")
    assert list(step(WRITE).holds(at(inventory))) == list(read.holds(at(inventory)))
    assert list(group.holds(at(inventory))) != list(read.holds(at(inventory)))
    assert list(read.harm(at(inventory))) == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ("operations: [write]", "exactly one of topic, group and transactional_id"),
        ("topic: orders, group: readers, operations: [read]", "exactly one of topic, group and transactional_id"),
        ("topic: orders, operations: []", "at least 1 item"),
        ("topic: orders, operations: [write, write]", "the same operation twice"),
        ("topic: orders, operations: [alter]", "Input should be"),
        ("group: readers, operations: [write]", "write means nothing for a group; write describe or read"),
        ("topic: orders, operations: [write], principal: 'User:*'", "should match pattern"),
        ("topic: orders, operations: [write], principal: ann", "should match pattern"),
        ("group: --help, operations: [read]", "should match pattern"),
    ],
)
def test_nonsense_is_refused(fields: str, why: str) -> None:
    """Nothing, or two things at once; what brokers never ask of it; everybody, and what is more than a name."""
    with pytest.raises(ValidationError, match=why):
        step(f"deny_access: {{{fields}}}")
