"""What brokers tell of their own configuration, and a scenario that needs another one."""

from __future__ import annotations

from typing import Any

import pytest

from chaosk.cluster.configs import broker_config
from chaosk.core.errors import ClusterError
from chaosk.run.preflight.configured import configured

pytestmark = [pytest.mark.lab, pytest.mark.long]


def test_each_broker_tells_its_own(cluster: Any) -> None:
    """The id is its own, and nothing is told that was not asked."""
    for broker in cluster.inventory.brokers:
        found = broker_config(cluster.brokers, broker, ["broker.id", "auto.leader.rebalance.enable"])
        assert found.values["broker.id"] == str(broker)
        assert set(found.values) == {"broker.id", "auto.leader.rebalance.enable"}


def test_a_broker_that_is_not_there_tells_nothing(cluster: Any) -> None:
    """It is an error, not an empty configuration."""
    with pytest.raises(ClusterError, match="no such broker"):
        broker_config(cluster.brokers, 99, ["broker.id"])


def test_brokers_that_are_as_a_scenario_needs_them(cluster: Any) -> None:
    """One finding each, with what it is; no question, no finding."""
    every = tuple(cluster.inventory.brokers)
    (value,) = {broker_config(cluster.brokers, one, ["num.io.threads"]).values["num.io.threads"] for one in every}
    found = list(configured(cluster.brokers, every, {"num.io.threads": int(value)}))
    assert [(one.where, one.state) for one in found] == [(f"broker {one}", "ok") for one in every]
    assert list(configured(cluster.brokers, every, {})) == []


def test_brokers_that_are_otherwise_are_named_with_what_they_have(cluster: Any) -> None:
    """Another value, or a setting that brokers do not know: no run starts."""
    found = list(configured(cluster.brokers, (0, 99), {"num.io.threads": 77, "no.such.setting": True}))
    assert [one.state for one in found] == ["bad", "bad"]
    assert "no.such.setting is unknown to it; num.io.threads is '" in found[0].seen
    assert found[0].seen.endswith("the scenario needs no.such.setting: true, num.io.threads: 77")
    assert "no such broker" in found[1].seen
