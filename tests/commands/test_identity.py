"""Whether a process is the server that the inventory calls so: on real processes of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaosk.hosts.commands import looks
from chaosk.spec.inventory import Broker, Listener, ScriptService

SERVER = """
import pathlib, signal, socket, sys
_, config, folder, port, ready = sys.argv
lock = open(f"{folder}/.lock", "w")
server = socket.socket()
server.bind(("127.0.0.1", int(port)))
server.listen()
pathlib.Path(ready).touch()
signal.pause()
"""


@dataclass
class Served:
    """A server that listens on a port and has the lock of its data directory, as broker 3 in its files."""

    root: Path
    port: int

    @property
    def config(self) -> Path:
        """Its configuration."""
        return self.root / "server.properties"

    @property
    def folder(self) -> Path:
        """Its data directory."""
        return self.root / "data"

    def broker(self, port: int | None = None) -> Broker:
        """As an inventory has it."""
        service = ScriptService(start=("true",), stop=("true",), pid_file=str(self.root / "pid"))
        listeners = {"CLIENT": Listener(address="127.0.0.1", port=port or self.port)}
        return Broker(host="node1", service=service, config=str(self.config), listeners=listeners)

    def asked(self, number: int = 3, *folders: str, port: int | None = None) -> subprocess.CompletedProcess[str]:
        """What the script says of it."""
        argv = looks.is_server(self.broker(port), number, *folders).argv
        return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """One that is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found = Served(tmp_path, free.getsockname()[1])
    found.folder.mkdir()
    found.config.write_text("# of the third\nnode.id = 3\nnode.id.other=9\n")
    (found.folder / "meta.properties").write_text("cluster.id=x\nversion=1\nnode.id=3\n")
    words = (str(found.config), str(found.folder), str(found.port), str(tmp_path / "ready"))
    java = shutil.copy(Path(sys.executable).resolve(), tmp_path / "java")
    with subprocess.Popen((java, "-c", SERVER, *words), env={**os.environ, "PYTHONHOME": sys.base_prefix}) as process:
        (tmp_path / "pid").write_text(f"{process.pid}\n")
        end = time.monotonic() + 30
        while not (tmp_path / "ready").exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        yield found
        process.kill()


def test_a_server_that_is_the_one(served: Served) -> None:
    """It has its port, its number in both files, and the lock; a port that is mapped to others has no listener here."""
    pid = (served.root / "pid").read_text().strip()
    done = served.asked(3, str(served.folder))
    assert (done.returncode, done.stdout) == (0, f"process {pid}\n"), done.stderr
    assert served.asked(3, port=1).returncode == 0


def test_a_server_of_another_number(served: Served) -> None:
    """Its configuration says so, or what it wrote into its data directory; both numbers are told."""
    done = served.asked(0)
    assert done.returncode == 1
    assert f"{served.config} is of node 3, and the inventory calls this one 0" in done.stderr
    (served.folder / "meta.properties").write_text("broker.id=1\n")
    done = served.asked(3, str(served.folder))
    assert done.returncode == 1
    assert f"{served.folder}/meta.properties is of node 1, and the inventory calls this one 3" in done.stderr


def test_somebody_else_has_its_port(served: Served) -> None:
    """This very test listens where the inventory says that the server does."""
    with socket.socket() as mine:
        mine.bind(("127.0.0.1", 0))
        mine.listen()
        done = served.asked(3, port=mine.getsockname()[1])
    assert done.returncode == 1
    assert f"process {os.getpid()} (" in done.stderr


def test_a_folder_that_is_not_its_own(served: Served) -> None:
    """One without a lock, as of logs, and one whose lock another has, or nobody."""
    logs, others = served.root / "logs", served.root / "others"
    for each in (logs, others):
        each.mkdir()
    (others / ".lock").touch()
    assert "has no .lock" in served.asked(3, str(logs)).stderr
    assert "has no lock on" in served.asked(3, str(others)).stderr


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("broker.id=0\nbroker.id=3\n", "3"),
        ("broker.id=03\n", "3"),
        ("broker.id=\\\n  3\n", "3"),
        ("log.dirs=/a,\\\nbroker.id=7\nbroker.id=3\n", "3"),
        ("broker.id=${env:KAFKA_BROKER_ID}\n", None),
        ("broker.id=-1\n", None),
        ("# broker.id=7\n", None),
        ("broker.id=7 \r\n", "7"),
    ],
)
def test_properties_are_read_as_java_reads_them(served: Served, text: str, number: str | None) -> None:
    """The last one counts, lines are joined, and what a variable gives, or the broker draws, nobody knows."""
    served.config.write_text(text)
    assert (served.asked(3).returncode == 0) == (number in {None, "3"})
    assert (served.asked(5).returncode == 0) == (number is None)


def test_a_java_that_was_upgraded_under_it_is_one(served: Served) -> None:
    """The package has replaced the program; the process is what it was."""
    (served.root / "java").unlink()
    assert served.asked(3, str(served.folder)).returncode == 0


def test_what_is_no_java_is_no_server(served: Served) -> None:
    """As a container's client, whose Java is below another process, and whose ports nobody listens on here."""
    with subprocess.Popen((sys.executable, "-c", "import time; time.sleep(60)", str(served.config))) as client:
        (served.root / "pid").write_text(f"{client.pid}\n")
        done = served.asked(3, port=1)
        client.kill()
    assert done.returncode == 1
    assert f"is process {client.pid}, which is {Path(sys.executable).resolve().name} and no Java" in done.stderr
