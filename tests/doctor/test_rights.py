"""Whether rights can be withdrawn: what is refused before a run, and what is told."""

from __future__ import annotations

import shipped
import yaml
from fake_live import FakeLive
from fake_servers import mock_cluster, unused_port
from sample_inventory import INVENTORY, on_hosts

from chaosk.core.errors import ClusterError
from chaosk.document import load_scenario
from chaosk.run.preflight.diagnostic import Diagnostic
from chaosk.run.preflight.rights import rights
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory, Listener
from chaosk.spec.scenario import Entry, Scenario

PLAIN = load_scenario(shipped.SCENARIOS[0])
LOGINS = {
    "client": {"security.protocol": "SASL_SSL", "sasl.username": "chaosk"},
    "probe_client": {"sasl.username": "probes"},
    "kafka": INVENTORY.kafka.model_copy(update={"client_config": "/etc/client"}),
}


def scenario(text: str) -> Scenario:
    """One with a single entry."""
    entry = Entry.model_validate({"name": "entry-1", "at": "1s", **yaml.safe_load(text)})
    return PLAIN.model_copy(update={"timeline": (entry,)})


def withdrawn(inventory: Inventory, live: FakeLive) -> Diagnostic:
    """What is found about a topic that nobody may write to."""
    text = "deny_access: {topic: orders, operations: [write]}"
    (found,) = (one for one in rights(live, inventory, scenario(text)) if one.what == "deny_access")
    return found


class NoAuthorizer(FakeLive):
    """Brokers that know of no rights."""

    def settings(self, entity: Entity) -> dict[str, str]:
        """Nobody's."""
        raise ClusterError(f"{entity}: the brokers have no authorizer")


def test_a_cluster_without_an_authorizer_is_refused() -> None:
    """With what to do about it."""
    found = withdrawn(INVENTORY.model_copy(update=LOGINS), NoAuthorizer())
    assert (found.state, found.seen) == ("bad", "acls of topic orders: the brokers have no authorizer")
    assert "secure: true" in found.todo


def test_chaosks_own_login_is_refused() -> None:
    """Before the cluster is asked."""
    found = withdrawn(INVENTORY.model_copy(update={**LOGINS, "probe_client": {}}), FakeLive())
    assert found.state == "bad"
    assert "chaosk's own login" in found.seen


def test_acls_that_there_are_are_told() -> None:
    """Nothing else is asked of a scenario that withdraws none."""
    live = FakeLive(made={"acls of topic orders": {"allow read User:ann": "there"}})
    assert withdrawn(INVENTORY.model_copy(update=LOGINS), live).seen == "acls of topic orders: allow read User:ann"
    assert list(rights(live, INVENTORY, scenario("wait: {duration: 1s}"))) == []
    assert list(rights(live, INVENTORY, None)) == []


def test_probes_that_do_not_get_in_are_refused() -> None:
    """A login that is wrong would show when all is ready; one that is right is told."""
    own = {"probe_client": {"client.id": "probes"}}
    with mock_cluster() as (_, places):
        (place, *_) = places.values()
        one = on_hosts(place.address)
        listener = Listener(address=place.address, port=place.port)
        brokers = {0: one.brokers[0].model_copy(update={"listeners": {"CLIENT": listener}})}
        (good,) = rights(FakeLive(), one.model_copy(update={**own, "brokers": brokers}), None)
    nobody = {"CLIENT": Listener(address="127.0.0.1", port=unused_port())}
    gone = {0: one.brokers[0].model_copy(update={"listeners": nobody})}
    (bad,) = rights(FakeLive(), one.model_copy(update={**own, "brokers": gone}), None)
    assert (good.what, good.state) == ("probes", "ok")
    assert (bad.what, bad.state) == ("probes", "bad")
    assert "probe_client" in bad.todo
