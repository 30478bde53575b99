"""Which faults can be aimed at what: as steps and targets themselves say it."""

from __future__ import annotations

import pytest

from chaosk.campaign.history.applicable_roles import roles_of
from chaosk.campaign.history.roles import CLUSTER, EXAMPLES
from chaosk.spec.scenario import steps


@pytest.mark.parametrize("kind", sorted(steps()))
def test_every_step_can_be_aimed_at_something(kind: str) -> None:
    """On the cluster on paper, which has all that any step asks of an inventory."""
    assert roles_of(kind)


@pytest.mark.parametrize(
    ("kind", "can", "cannot"),
    [
        ("kill_broker", "coordinator", "zookeeper leader"),
        ("kill_broker", "random broker", "probe"),
        ("kill_zookeeper", "zookeeper follower", "leader"),
        ("kill_controller", "controller follower", "leader"),
        ("power_off", "zookeeper leader", "probe"),
        ("cut_network", "probe", CLUSTER),
        ("pause_probe", "probe", "leader"),
        ("elect_leader", CLUSTER, "leader"),
    ],
)
def test_what_makes_sense_and_what_does_not(kind: str, can: str, cannot: str) -> None:
    """What is told as never tried can be tried."""
    assert can in roles_of(kind)
    assert cannot not in roles_of(kind)


def test_every_role_is_one_that_something_fits() -> None:
    """No column could only ever be empty."""
    assert set(EXAMPLES) <= {role for kind in steps() for role in roles_of(kind)}
