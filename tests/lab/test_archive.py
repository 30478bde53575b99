"""The archive of Kafka's classes: made once, used by every process, missed by none."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import archive, launchers
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.state import LabState

pytestmark = pytest.mark.long

Ssh = Callable[..., "subprocess.CompletedProcess[str]"]
OnHost = Callable[..., str]


@pytest.fixture
def java(tmp_path: Path) -> Path:
    """A Java home, as far as its age is concerned."""
    (tmp_path / "java" / "lib").mkdir(parents=True)
    (tmp_path / "java" / "lib" / "modules").touch()
    return tmp_path / "java"


def aged(path: Path, seconds: int) -> Path:
    """``path``, last written at ``seconds``."""
    path.touch()
    os.utime(path, (seconds, seconds))
    return path


def test_an_archive_older_than_java_is_made_anew(tmp_path: Path, java: Path) -> None:
    """A Java that was replaced cannot use it: what counts is which of the two is newer."""
    assert not archive.is_current(tmp_path / "classes.jsa", java)
    aged(java / "lib" / "modules", 1000)
    assert archive.is_current(aged(tmp_path / "classes.jsa", 2000), java)
    aged(java / "lib" / "modules", 3000)
    assert not archive.is_current(tmp_path / "classes.jsa", java)


class Hosts(NamespaceHosts):
    """Hosts that answer without being there: for what happens around the making."""

    def __init__(self, directory: Path, failure: str = "") -> None:
        super().__init__(LabState(directory, "x"))
        self.reason = failure
        self.asked: list[tuple[str, ...]] = []

    def on_host(self, host: str, argv: Sequence[str], *, timeout: float = 60.0) -> str:
        """Note what was asked."""
        self.asked.append((host, *argv))
        assert timeout >= 60
        if self.reason:
            raise LabError(self.reason)
        return ""

    def fetch(self, host: str, path: str, to: Path) -> None:
        """Note what was asked, and leave a file."""
        self.asked.append((host, path))
        to.touch()


def test_it_is_made_once(tmp_path: Path, java: Path) -> None:
    """The second lab finds it and asks for nothing."""
    hosts = Hosts(tmp_path)
    said: list[str] = []
    for _ in range(2):
        archive.ensure(hosts, "node1", tmp_path, java, said.append)
    assert hosts.asked == [("node1", launchers.MAKE_ARCHIVE), ("node1", launchers.ARCHIVE)]
    assert len(said) == 1


def test_a_failure_costs_only_speed(tmp_path: Path, java: Path) -> None:
    """The lab goes on without it, and says why."""
    said: list[str] = []
    archive.ensure(Hosts(tmp_path, "disk full"), "node1", tmp_path, java, said.append)
    assert said[-1] == "no archive, Kafka starts slower: disk full"
    assert not (tmp_path / launchers.CLASSES).exists()


@pytest.mark.lab
def test_it_is_used(ssh: Ssh) -> None:
    """Broker, ZooKeeper node and tools run on it: their memory maps say so."""
    for service in ("kafka", "zookeeper"):
        found = ssh(f"sudo -n grep -c {launchers.CLASSES} /proc/$(cat /run/kafka/{service}.pid)/maps")
        assert int(found.stdout) > 0, service
    logged = ssh("KAFKA_OPTS=-Xlog:class+load=info:stderr /opt/kafka/bin/kafka-topics.sh --version 2>&1")
    shared = [line for line in logged.stdout.splitlines() if "TopicCommand" in line]
    assert shared
    assert "shared objects file" in shared[0]


@pytest.mark.lab
def test_tools_say_nothing_else(ssh: Ssh) -> None:
    """Programs read what tools print: neither a good archive nor a broken one adds a line."""
    version = ssh("/opt/kafka/bin/kafka-topics.sh --version")
    assert (version.returncode, version.stdout.split()[0], version.stderr) == (0, "3.9.2", "")
    broken = (
        "echo garbage >/tmp/broken.jsa; "
        "sed 's#^archive=.*#archive=/tmp/broken.jsa#' /opt/kafka/bin/kafka-run-class.sh >/tmp/run; "
        f"sh /tmp/run {launchers.TOOLS['kafka-topics.sh']} --version"
    )
    found = ssh(broken)
    assert (found.returncode, found.stdout) == (0, version.stdout)


def around(on_host: OnHost) -> tuple[str, str, str]:
    """The broker's pid, the number of Java processes, and what lies about, Java's own performance data aside."""
    pid = on_host("cat", "/run/kafka/kafka.pid")
    return pid, on_host("pgrep", "-c", "java"), on_host("ls", "--ignore=hsperfdata_*", "/tmp")  # noqa: S108


@pytest.mark.lab
def test_making_it_disturbs_nothing(on_host: OnHost) -> None:
    """It works beside a running broker, which stays as it is, and leaves nothing but the archive."""
    before = around(on_host)
    try:
        on_host("timeout", "150", launchers.MAKE_ARCHIVE)
        assert int(on_host("stat", "-c", "%s", launchers.ARCHIVE)) > 10_000_000
    finally:
        on_host("rm", "-f", launchers.ARCHIVE)
    assert around(on_host) == before
