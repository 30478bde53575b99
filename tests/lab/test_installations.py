"""Several versions of Kafka on each host of a lab."""

from __future__ import annotations

import pytest
from sample_inventory import INVENTORY

from chaosk.core.errors import UsageError
from chaosk.lab import installations, lab, state
from chaosk.spec.lab_layout import LabLayout


def layout(*also: str, **more: str) -> LabLayout:
    """A lab of 3.9.2 with other versions."""
    return LabLayout.model_validate({"kafka": "3.9.2", "also": also, **more})


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (layout("3.9.1", hosts="vms"), "virtual machines have one version"),
        (layout("3.9.2"), "3.9.2 is installed already"),
        (layout("3.9.1", "3.9.1"), "3.9.1 is installed already"),
        (layout("4.2.0", mode="kraft"), "logs and is started in another way"),
        (layout("3.9"), "is not a version"),
        (layout("3.2.0", mode="kraft"), "no KRaft mode"),
    ],
)
def test_what_cannot_be_beside_each_other(wanted: LabLayout, why: str) -> None:
    """Said before anything is made."""
    with pytest.raises(UsageError, match=why):
        lab.describe(wanted, state.of("x"))


def test_a_lab_says_what_it_has() -> None:
    """Where labs are told apart, too."""
    assert lab.describe(layout("3.9.1", "3.9.0"), state.of("x")).title.endswith("Kafka 3.9.2 (and 3.9.1, 3.9.0)")


def test_the_inventory_names_link_and_folders() -> None:
    """Of brokers and controllers, for switch_version."""
    found = installations.inventory(INVENTORY, layout("3.9.1")).brokers[0].installation
    assert found is not None
    assert found.link == "/opt/kafka"
    assert dict(found.versions) == {"3.9.2": "/opt/kafka-3.9.2", "3.9.1": "/opt/kafka-3.9.1"}


def test_one_version_needs_no_command() -> None:
    """The folder is as it was unpacked."""
    assert installations.commands("/root", (("3.9.2", "/jars"),)) == []
