"""Services under systemd: the unit's text, and an inventory that names it."""

from __future__ import annotations

from chaosk.inventory import LabLayout, SystemdService
from chaosk.lab import launchers, unit
from chaosk.lab.seating import seats
from chaosk.lab.zookeeper_mode import ZooKeeperMode

MODE = ZooKeeperMode()


def test_a_unit_starts_what_the_script_starts() -> None:
    """The same class, configuration, heap and log as ``kafka-start`` has, as the same user."""
    start, _stop, made, _log = launchers.control("kafka", "Main", "c.properties", "1m", "/var/log/x.log")
    assert (start.only, made.only) == ("hosts", "vms")
    assert made.path == "/etc/systemd/system/kafka.service"
    for words in ("kafka-run-class.sh Main /opt/kafka/config/c.properties", "-Xmx1m", "config/kafka-log4j.properties"):
        assert words in start.text, words
        assert words in made.text, words
    assert "User=kafka\n" in made.text


def test_every_service_has_its_unit() -> None:
    """What a service is started by, and what the inventory names, is a unit among the files of its host."""
    layout = LabLayout(hosts="vms")
    everyone = seats(layout)
    found = unit.inventory(MODE.inventory(everyone, layout, "chaosk-x"))
    processes = [*found.brokers.values(), *found.zookeepers.values()]
    for seat in everyone:
        paths = {file.path for file in MODE.files(seat, everyone, layout) if file.only != "hosts"}
        for service in map(unit.controlled, MODE.services(everyone)):
            if service.host == seat.host:
                assert f"{unit.DIRECTORY}/{service.start[-1]}" in paths
                assert service.stop[-1] == service.start[-1]
    assert {one.service for one in processes} == {
        SystemdService(systemd="kafka.service"),
        SystemdService(systemd="zookeeper.service"),
    }
    assert unit.inventory(found) == found
