"""Which Kafka versions the lab runs."""

from __future__ import annotations

import pytest

from chaosk.core.errors import UsageError
from chaosk.lab.kraft_mode import KRaftMode
from chaosk.lab.mode import mode_of
from chaosk.lab.zookeeper_mode import ZooKeeperMode
from chaosk.spec.lab_layout import LabLayout


@pytest.mark.parametrize("version", ["3.9.2", "3.9.1", "3.7.0"])
def test_three_has_zookeeper(version: str) -> None:
    """Every 3.x runs in ZooKeeper mode."""
    assert isinstance(mode_of(LabLayout(kafka=version)), ZooKeeperMode)


@pytest.mark.parametrize("version", ["4.0.0", "4.1.1", "4.2.0", "5.0.0"])
def test_four_has_kraft(version: str) -> None:
    """From 4.0 on nobody has to name the mode: there is only one."""
    assert isinstance(mode_of(LabLayout(kafka=version)), KRaftMode)


@pytest.mark.parametrize("version", ["3.3.0", "3.9.2"])
def test_three_has_kraft_if_it_is_asked_for(version: str) -> None:
    """The mode wins over the version's default."""
    assert isinstance(mode_of(LabLayout(kafka=version, mode="kraft")), KRaftMode)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (LabLayout(kafka="4.0.0", mode="zookeeper"), "kafka: 4.0.0 has no ZooKeeper mode; write mode: kraft, or a 3.x"),
        (LabLayout(kafka="3.2.3", mode="kraft"), "kafka: 3.2.3 has no KRaft mode that is ready for use; 3.3 is the"),
        (LabLayout(kafka="2.8.2"), "kafka: 2.8.2 is too old; this lab runs 3.x and 4.x"),
        (LabLayout(kafka="2.8.2", mode="kraft"), "kafka: 2.8.2 is too old"),
    ],
)
def test_a_mode_that_a_version_lacks_is_refused(layout: LabLayout, message: str) -> None:
    """Before anything is downloaded, and with what to write instead."""
    with pytest.raises(UsageError, match=message):
        mode_of(layout)


@pytest.mark.parametrize("version", ["", "3.9", "latest", "3.9.2-rc1", "3.9.2.1", "../../x", "3.9.²"])
def test_what_is_no_version(version: str) -> None:
    """The version becomes a directory name and a Maven coordinate: only numbers get through."""
    with pytest.raises(UsageError, match="is not a version"):
        mode_of(LabLayout(kafka=version))
