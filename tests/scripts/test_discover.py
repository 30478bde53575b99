"""What a host says about its servers: without secrets, and with the units whose main processes they are."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from account import AS_ACCOUNT, GROUP, KAFKA, reached_by_all
from bystander import lives
from on_lab import until

from chaosk.discovery.host_description import ProcessDescription, read
from chaosk.hosts.scripts import script

pytestmark = pytest.mark.lab
MADE = "for at in /run /usr/local/sbin; do mount -t tmpfs -o mode=755 tmpfs $at; done; mkdir -p /run/systemd/system"
SYSTEMCTL = "#!/bin/sh\ncat /run/main-pid\n"
"""What stands for systemd: it answers with the main process of any unit."""
GROUPS = Path("/sys/fs/cgroup/systemd")
"""The hierarchy in which systemd keeps units."""
CONFIG = """\
node.id = 7
listeners=CLIENT://b1:9092,\\
    INTERNAL://b1:9093
ssl.keystore.password=hunter2
listener.name.client.scram-sha-512.sasl.jaas.config=x required password="hunter2";
log.dirs=/nowhere
"""


class Yard:
    """A host of namespaces with a server of an account that is not root."""

    def __init__(self, root: Path, pid: int) -> None:
        self.root, self.inside = root, ("nsenter", f"--target={pid}", "--mount")
        self.config = root / "conf" / "server.properties"
        self.config.parent.mkdir()
        self.config.write_text(CONFIG, "utf-8")
        shutil.copy("/bin/dash", root / "java")
        self.sh(MADE)
        self.sh("cat >/usr/local/sbin/systemctl; chmod 755 /usr/local/sbin/systemctl", SYSTEMCTL)
        for path in (root, *root.rglob("*")):
            os.lchown(path, KAFKA, GROUP)

    def sh(self, text: str, stdin: str = "") -> None:
        """Run a line of shell on the host, as root."""
        subprocess.run([*self.inside, "sh", "-c", text], input=stdin, text=True, check=True)

    @contextmanager
    def serves(self, *words: str, config: str = "conf/server.properties", folder: Path | None = None) -> Iterator[int]:
        """A server runs with these words after its configuration; its process id.

        ``folder``: where it runs, with a file ``.lock`` there open.
        """
        wait = 'echo $$ >"$3/up"; cd "$4"; exec 9>.lock; while :; do sleep 0.1; done'
        argv = (
            str(self.root / "java"),
            "-c",
            wait,
            "-Dx.password=hunter2",
            "kafka.Kafka",
            config,
            str(self.root),
            str(folder or self.root),
            *words,
        )
        up = self.root / "up"
        up.unlink(missing_ok=True)
        process = subprocess.Popen([*self.inside, *AS_ACCOUNT, *argv])
        try:
            until(lambda: up.exists() and up.read_text("utf-8").strip().isdigit(), 10)
            yield int(up.read_text("utf-8"))
        finally:
            process.kill()
            process.wait()

    def describes(self) -> tuple[str, ProcessDescription]:
        """What the script prints, and the only server of this account's in it."""
        done = subprocess.run(
            [*self.inside, "sh", "-c", script("discover"), "chaosk"], capture_output=True, text=True, check=True
        )
        (server,) = [one for one in read("h", done.stdout).servers if str(self.root) in str(one.config)]
        return done.stdout, server


@pytest.fixture
def yard() -> Iterator[Yard]:
    """A host without a server."""
    with reached_by_all() as root, lives("unshare", "--mount", "--propagation", "private") as pid:
        yield Yard(root, pid)


@contextmanager
def unit(name: str) -> Iterator[Path]:
    """The control group of a unit; a process is put into it by its id. It has to have ended at the end."""
    group = GROUPS / f"chaosk-{os.getpid()}.slice" / name
    group.mkdir(parents=True)
    try:
        yield group / "cgroup.procs"
    finally:
        until(lambda: not (group / "cgroup.procs").read_text("utf-8"), 10)
        group.rmdir()
        group.parent.rmdir()


def test_settings_and_no_secrets(yard: Yard) -> None:
    """The path of the configuration is made absolute; passwords of the file and of the command line stay there."""
    with yard.serves("--override", "broker.rack=a", "--override", "ssl.key.password=hunter2"):
        said, server = yard.describes()
    assert "hunter2" not in said
    assert server.config == str(yard.config)
    assert server.settings == {
        "node.id": "7",
        "listeners": "CLIENT://b1:9092,INTERNAL://b1:9093",
        "log.dirs": "/nowhere",
        "broker.rack": "a",
    }


def test_a_name_of_several_lines_is_not_several_facts(yard: Yard) -> None:
    """An account cannot make up a unit or a data directory by where its process runs, and what it has open."""
    folder = yard.root / f"a\nunit sshd.service\nlock /etc\n{yard.root}"
    folder.mkdir(parents=True)
    for path in (folder, *folder.parents):
        if path.is_relative_to(yard.root):
            os.lchown(path, KAFKA, GROUP)
    with yard.serves(folder=folder):
        said, server = yard.describes()
    assert server.unit is None
    assert server.locks == []
    assert "sshd" not in said
    assert "/etc" not in said


def test_a_link_to_a_file_of_roots_is_not_read(yard: Yard) -> None:
    """The server's account opens its configuration, and so reads only what it may read anyway."""
    secret = yard.root.parent / f"{yard.root.name}.roots"
    secret.write_text("node.id=99\n", "utf-8")
    secret.chmod(0o600)
    yard.config.unlink()
    yard.config.symlink_to(secret)
    try:
        with yard.serves():
            assert yard.describes()[1].settings == {}
    finally:
        secret.unlink()


@pytest.mark.skipif(not GROUPS.is_dir(), reason="systemd's hierarchy of control groups is not mounted")
def test_a_unit_counts_if_its_main_process_is_the_server(yard: Yard) -> None:
    """A server that cron or a login has started is in the unit of that, which a step must never stop."""
    with unit("kafka.service") as group, yard.serves() as pid:
        group.write_text(f"{pid}\n", "utf-8")
        yard.sh("cat >/run/main-pid", f"{pid}\n")
        assert yard.describes()[1].unit == "kafka.service"
        yard.sh("cat >/run/main-pid", "1\n")
        assert yard.describes()[1].unit is None


def test_a_pid_file_and_the_programs_that_name_it(yard: Yard) -> None:
    """The program to stop is found beside the one to start; another server's pid file is none of its own."""
    with yard.serves() as pid:
        yard.sh(f"mkdir /run/kafka; echo {pid} >/run/kafka/kafka.pid; echo {pid}1 >/run/kafka/other.pid")
        for name, text in (("kafka-start", "echo $! >/run/kafka/kafka.pid"), ("kafka-stop", "kill it")):
            yard.sh(f"cat >/usr/local/sbin/{name}; chmod 755 /usr/local/sbin/{name}", f"#!/bin/sh\n{text}\n")
        server = yard.describes()[1]
    assert server.programs == {"/run/kafka/kafka.pid": ["/usr/local/sbin/kafka-start"]}
    assert server.beside == ["/usr/local/sbin/kafka-stop"]
