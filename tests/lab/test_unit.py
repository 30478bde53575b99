"""Services under systemd: the unit's text, and an inventory that names it."""

from __future__ import annotations

import pytest

from chaosk.lab import unit
from chaosk.lab.kraft_mode import KRaftMode
from chaosk.lab.launchers import Control
from chaosk.lab.logfiles import logging_of
from chaosk.lab.mode import Mode
from chaosk.lab.zookeeper_mode import ZooKeeperMode
from chaosk.spec.inventory import SystemdService
from chaosk.spec.lab_layout import LabLayout


def test_a_unit_starts_what_the_script_starts() -> None:
    """The same class, configuration, heap and log as ``kafka-start`` has, as the same user."""
    control = Control("kafka", "Main", "c.properties", "1m", "/var/log/x.log", logging_of("3.9.2"))
    start, _stop, made, _log = control.files()
    assert (start.only, made.only) == ("hosts", "vms")
    assert made.path == "/etc/systemd/system/kafka.service"
    for words in ("kafka-run-class.sh Main /opt/kafka/config/c.properties", "-Xmx1m", "config/kafka-log4j.properties"):
        assert words in start.text, words
        assert words in made.text, words
    assert "User=kafka\n" in made.text


def test_a_unit_formats_the_storage_first() -> None:
    """In KRaft nothing runs on storage that is not formatted; root does it, as its mark lies beside the storage."""
    control = Control("kafka", "Main", "c.properties", "1m", "/var/log/x.log", logging_of("4.2.0"), "AAAA")
    start, _stop, made, prepare, _log = control.files()
    assert (prepare.only, prepare.mode) == ("vms", 0o755)
    assert f"ExecStartPre=+{prepare.path}\n" in made.text
    assert "config/kafka-log4j2.properties" in made.text
    for words in ("kafka.tools.StorageTool format", "--cluster-id AAAA"):
        assert words in prepare.text, words
        assert words in start.text, words


@pytest.mark.parametrize(
    ("layout", "mode", "units"),
    [
        (LabLayout(hosts="vms"), ZooKeeperMode(), {"kafka.service", "zookeeper.service"}),
        (
            LabLayout(hosts="vms", kafka="4.2.0", controllers=3),
            KRaftMode(),
            {"kafka.service", "kafka-controller.service"},
        ),
    ],
    ids=["zookeeper", "kraft"],
)
def test_every_service_has_its_unit(layout: LabLayout, mode: Mode, units: set[str]) -> None:
    """What a service is started by, and what the inventory names, is a unit among the files of its host."""
    everyone = mode.seats(layout)
    found = unit.inventory(mode.inventory(everyone, layout, "chaosk-x"))
    for seat in everyone:
        paths = {file.path for file in mode.files(seat, everyone, layout) if file.only != "hosts"}
        for service in map(unit.controlled, mode.services(everyone)):
            if service.host == seat.host:
                assert f"{unit.DIRECTORY}/{service.start[-1]}" in paths
                assert service.stop[-1] == service.start[-1]
    assert {one.service for one in found.every_process()} == {SystemdService(systemd=name) for name in units}
    assert unit.inventory(found) == found
