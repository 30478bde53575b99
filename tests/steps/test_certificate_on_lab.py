"""A broker's certificate swapped on a real cluster, by the run's own engine; in both modes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.endpoints import broker_places
from chaosk.cluster.views import metadata_request
from chaosk.cluster.wire import BrokerConnection, NoAnswer
from chaosk.spec.entity import Entity
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

from .lab import Ground, ground, standing

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300), pytest.mark.long]

LAB = "certificate"
SHOWN = Entity(kind="certificate", name="1", listener="CLIENT")
KEYSTORE = Entity(kind="broker", name="1")


@pytest.fixture(scope="module", params=["3.9.2", pytest.param("4.2.0", marks=pytest.mark.long)])
def lab_inventory(request: pytest.FixtureRequest) -> Iterator[Inventory]:
    """A lab of three hosts whose clients come in by TLS: with ZooKeeper, and in KRaft mode."""
    with standing(LabLayout(name=LAB, secure=True, kafka=request.param)) as inventory:
        yield inventory


@pytest.fixture
def lab(lab_inventory: Inventory, tmp_path: Path) -> Iterator[Ground]:
    """The lab's cluster, healed after each test."""
    with ground(lab_inventory, tmp_path) as here:
        yield here


def left(lab: Ground) -> str:
    """What is on the host of what was put there."""
    return lab.said("node2", "ls", "-A", "/var/lib/chaosk-certificates")


def test_who_is_connected_goes_on_and_who_comes_does_not_get_in(lab: Ground) -> None:
    """And gets in once the broker shows its own certificate again, of which nothing else is left."""
    place = broker_places(lab.inventory, client_settings(lab.inventory))[1]
    own = lab.live.settings(SHOWN)
    with BrokerConnection(place, timeout=10.0) as before:
        before.ask(metadata_request(()))
        life = lab.inject("swap_certificate: {target: broker 1}")
        assert lab.live.settings(SHOWN) != own
        before.ask(metadata_request(()))
        with (
            BrokerConnection(place, timeout=10.0) as late,
            pytest.raises(NoAnswer, match="its certificate is not accepted"),
        ):
            late.ask(metadata_request(()))
        lab.end(life)
    assert life.took, life.why
    assert lab.live.settings(SHOWN) == own
    assert lab.live.settings(KEYSTORE) == {}
    assert left(lab) == ""
    with BrokerConnection(place, timeout=10.0) as late:
        late.ask(metadata_request(()))


def test_a_host_shows_its_own_again_by_itself(lab: Ground) -> None:
    """The lease's own undo, as it is when chaosk has died, which asks the broker that it must not trust."""
    own = lab.live.settings(SHOWN)
    life = lab.inject("swap_certificate: {target: broker 1, listener: CLIENT}")
    lab.heal("node2", life)
    assert left(lab) == ""
    lab.end(life)
    assert lab.live.settings(SHOWN) == own
