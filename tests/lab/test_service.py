"""Services and files of hosts, as values."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.lab.seating import seats
from chaosk.lab.service import HostFile
from chaosk.lab.zookeeper_mode import ZooKeeperMode
from chaosk.spec.lab_layout import LabLayout


@given(
    st.lists(
        st.from_regex(r"[a-z0-9_.-]{1,8}", fullmatch=True).filter(lambda part: part not in {".", ".."}), min_size=1
    )
)
def test_a_file_lies_below_the_root(parts: list[str]) -> None:
    """An absolute path of a host becomes the same path below any directory."""
    file = HostFile("/" + "/".join(parts), "")
    assert file.relative == PurePosixPath(*parts)
    assert not file.relative.is_absolute()


def test_a_relative_path_is_no_place_on_a_host() -> None:
    """A mistake in the program shows at once."""
    with pytest.raises(ValueError, match="etc/hosts"):
        _ = HostFile("etc/hosts", "").relative


def test_services_of_one_host_do_not_share_places() -> None:
    """Broker and ZooKeeper node of a host have their own scripts, pid files, configuration, data, logs and ports."""
    layout = LabLayout(brokers=1, zookeepers=1)
    zookeeper, broker = ZooKeeperMode().services(seats(layout))
    assert (zookeeper.host, broker.host) == ("node1", "node1")
    for place in ("start", "stop", "pid_file", "config", "data", "log", "port"):
        assert getattr(zookeeper, place) != getattr(broker, place), place


def test_what_the_inventory_names_is_what_the_files_make() -> None:
    """Every script and configuration that a service is handled by is among the files of its host."""
    layout = LabLayout()
    for seat in seats(layout):
        paths = {file.path for file in ZooKeeperMode().files(seat, seats(layout), layout)}
        for service in ZooKeeperMode().services(seats(layout)):
            if service.host == seat.host:
                assert {*service.start, *service.stop, service.config} <= paths


def test_every_file_of_a_host_has_one_origin() -> None:
    """No two parts of the lab write the same file: the later would win in silence."""
    layout = LabLayout()
    for seat in seats(layout):
        paths = [file.path for file in ZooKeeperMode().files(seat, seats(layout), layout)]
        assert len(paths) == len(set(paths))
