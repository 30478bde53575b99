"""Which Kafka versions the lab runs."""

from __future__ import annotations

import pytest

from chaosk.errors import UsageError
from chaosk.inventory import LabLayout
from chaosk.lab.mode import mode_of
from chaosk.lab.zookeeper_mode import ZooKeeperMode


@pytest.mark.parametrize("version", ["3.9.2", "3.9.1", "3.7.0"])
def test_three_has_zookeeper(version: str) -> None:
    """Every 3.x runs in ZooKeeper mode."""
    assert isinstance(mode_of(LabLayout(kafka=version)), ZooKeeperMode)


@pytest.mark.parametrize("version", ["4.0.0", "4.1.1", "2.8.2"])
def test_other_majors_are_refused(version: str) -> None:
    """A version that no mode runs is refused before anything is downloaded."""
    with pytest.raises(UsageError, match=f"kafka: {version} has no ZooKeeper mode"):
        mode_of(LabLayout(kafka=version))


@pytest.mark.parametrize("version", ["", "3.9", "latest", "3.9.2-rc1", "3.9.2.1", "../../x", "3.9.²"])
def test_what_is_no_version(version: str) -> None:
    """The version becomes a directory name and a Maven coordinate: only numbers get through."""
    with pytest.raises(UsageError, match="is not a version"):
        mode_of(LabLayout(kafka=version))
