"""The script that points a link at another installation, by each shell, with real processes that run from there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

SERVER = "import signal, sys; jar = open(sys.argv[1]); print(flush=True); signal.pause()"


class Host:
    """Two installations, a link to the first, and a server that is started through the link."""

    def __init__(self, at: Path, shell: list[str]) -> None:
        self.at, self.shell, self.link, self.pid_file = at, shell, at / "kafka", at / "kafka.pid"
        for version in ("3.9.1", "3.9.2", "4.0.0"):
            libs = at / f"kafka-{version}" / "libs"
            libs.mkdir(parents=True)
            (libs / f"kafka-clients-{version}.jar").touch()
        self.link.symlink_to("kafka-3.9.2")
        self.servers: list[subprocess.Popen[bytes]] = []
        self.start()

    def start(self) -> None:
        """As a JVM does, it opens the jar of the version that the link leads to."""
        (jar,) = (self.link / "libs").glob("*.jar")
        argv = [sys.executable, "-c", SERVER, str(jar), "x.properties"]
        self.servers.append(subprocess.Popen(argv, stdout=subprocess.PIPE))
        assert self.servers[-1].stdout is not None
        self.servers[-1].stdout.readline()
        self.pid_file.write_text(str(self.servers[-1].pid))

    def stop(self) -> None:
        """End the server."""
        for server in self.servers:
            server.kill()
            server.communicate()
        self.servers.clear()

    def ask(self, action: str, *words: str, link: Path | None = None) -> subprocess.CompletedProcess[str]:
        """The script, with notes in a place of its own."""
        text = script("version").replace("/var/lib/chaosk", str(self.at / "kept"))
        server = ("script", str(self.pid_file), "/etc/x.properties")
        argv = [*self.shell, "-c", text, "chaosk", action, str(link or self.link), *server, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)

    def to(self, version: str) -> tuple[str, str]:
        """The words for a version."""
        return version, str(self.at / f"kafka-{version}")

    def kept(self) -> list[Path]:
        """The notes of what has still to be put back."""
        return list((self.at / "kept" / "versions").glob("*"))


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def host(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Host]:
    """A host, its scripts read by one shell."""
    found = Host(tmp_path, ["busybox", "sh"] if request.param == "busybox" else [request.param])
    yield found
    found.stop()


def test_there_and_back(host: Host) -> None:
    """The link names the other one, then what it named before, to the letter; twice is as once, both ways."""
    there = host.to("3.9.1")
    fits = host.ask("fits", *there, "release")
    assert "runs 3.9.2 from" in fits.stdout, fits.stderr
    host.stop()
    assert host.ask("point", *there).returncode == host.ask("point", *there).returncode == 0
    host.start()
    assert "kafka-3.9.1/libs/kafka-clients-3.9.1.jar" in host.ask("switched", *there).stdout
    assert "is not put back" in host.ask("returned").stderr
    assert host.ask("away").returncode == 0
    host.stop()
    assert host.ask("back").returncode == host.ask("back").returncode == 0
    assert str(host.link.readlink()) == "kafka-3.9.2"
    assert "does not run" in host.ask("returned").stderr
    host.start()
    assert host.ask("returned").returncode == 0
    assert host.kept() == []


def test_a_link_keeps_its_owner(host: Host) -> None:
    """Whoever deploys must be able to change it afterwards."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.lchown(host.link, 54321, 54322)
    host.stop()
    for words in (("point", *host.to("3.9.1")), ("back",)):
        assert host.ask(*words).returncode == 0
        assert (host.link.lstat().st_uid, host.link.lstat().st_gid) == (54321, 54322)


def test_nothing_is_changed_while_a_process_runs(host: Host) -> None:
    """It would find classes of the other version, or none."""
    assert "still runs" in host.ask("point", *host.to("3.9.1")).stderr
    assert str(host.link.readlink()) == "kafka-3.9.2"
    assert host.kept() == []


def test_what_was_never_switched_has_nothing_to_put_back(host: Host) -> None:
    """The undo of an injection that broke off at once: the server goes on."""
    assert "was not switched" in host.ask("away").stderr
    assert host.ask("back").returncode == 0
    assert host.ask("returned").returncode == 0


def test_half_a_switch_is_put_back(host: Host) -> None:
    """As if it had been killed on its way: the note is there first, the new link beside the old one."""
    host.stop()
    host.ask("point", *host.to("3.9.1"))
    host.link.unlink()
    host.link.symlink_to("kafka-3.9.2")
    (host.at / "kafka.chaosk").symlink_to("kafka-3.9.1")
    assert host.ask("back").returncode == 0
    assert not (host.at / "kafka.chaosk").is_symlink()
    assert host.kept() == []


def test_it_waits_for_the_end_of_what_runs_from_there(host: Host) -> None:
    """A broker that was asked to stop hands its leaderships over first."""
    host.stop()
    host.ask("point", *host.to("3.9.1"))
    host.start()
    began = time.monotonic()
    with subprocess.Popen(["sh", "-c", f"sleep 1.5; kill -9 {host.servers[0].pid}"]):
        done = host.ask("back")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began > 1.4
    assert str(host.link.readlink()) == "kafka-3.9.2"


def test_a_link_that_somebody_else_has_pointed_elsewhere_is_left_alone(host: Host) -> None:
    """It is said, and the note stays until somebody has decided."""
    host.stop()
    host.ask("point", *host.to("3.9.1"))
    host.link.unlink()
    host.link.symlink_to("kafka-4.0.0")
    done = host.ask("back")
    assert "somebody has pointed" in done.stderr
    assert "point it to kafka-3.9.2" in done.stderr
    assert str(host.link.readlink()) == "kafka-4.0.0"
    assert len(host.kept()) == 1


@pytest.mark.parametrize(
    ("version", "folder", "span", "why"),
    [
        ("3.9.2", "kafka-3.9.2", "release", "names .*kafka-3.9.2 already: 3.9.2 is the version in use"),
        ("3.9.1", "kafka-3.9.0", "release", "there is no directory"),
        ("3.9.1", "kafka-4.0.0", "any", "Kafka 3.9.1 is not installed there: no kafka-clients-3.9.1.jar is in"),
        ("4.0.0", "kafka-4.0.0", "release", "3.9.2 and 4.0.0 are different releases.*`across_releases: true`"),
    ],
)
def test_what_cannot_be_switched_to(host: Host, version: str, folder: str, span: str, why: str) -> None:
    """Each with its reason, before anything is done."""
    done = host.ask("fits", version, str(host.at / folder), span)
    assert done.returncode == 1
    assert re.search(why, done.stderr)


def test_another_release_if_it_is_meant(host: Host) -> None:
    """Its data can be read by both, says the scenario."""
    assert host.ask("fits", *host.to("4.0.0"), "any").returncode == 0


def test_what_is_no_link_cannot_be_pointed(host: Host) -> None:
    """A folder is left alone."""
    done = host.ask("fits", *host.to("3.9.1"), "release", link=host.at / "kafka-3.9.2")
    assert "is no symbolic link" in done.stderr


def test_what_is_switched_cannot_be_switched_again(host: Host) -> None:
    """What the link named first would be forgotten."""
    host.stop()
    host.ask("point", *host.to("3.9.1"))
    host.start()
    assert "is switched already" in host.ask("fits", *host.to("3.9.2"), "release").stderr


def test_a_process_that_was_not_restarted_is_noticed(host: Host) -> None:
    """The link alone says nothing: neither before, nor after."""
    host.stop()
    host.ask("point", *host.to("3.9.1"))
    host.start()
    host.link.unlink()
    host.link.symlink_to("kafka-3.9.2")
    assert "names kafka-3.9.2" in host.ask("switched", *host.to("3.9.1")).stderr
    shutil.rmtree(host.at / "kept")
    assert "and " in host.ask("returned").stderr
    assert "leads to" in host.ask("fits", *host.to("4.0.0"), "any").stderr


def test_a_server_without_such_a_jar_tells_nothing(host: Host) -> None:
    """Unknown is not yes."""
    host.stop()
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()", "x.properties"]) as other:
        host.pid_file.write_text(str(other.pid))
        time.sleep(0.2)
        said = host.ask("fits", *host.to("3.9.1"), "release").stderr
        other.kill()
    assert "nobody can tell what it runs" in said
