"""A real sshd on loopback, with keys of its own, in a mount namespace so that the machine's files stay as they are."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chaosk.spec.inventory import Host

CONFIG = """
{more}
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv SHLVL=2
LogLevel VERBOSE
"""
"""SHLVL: bash reads no rc file of the account then, which may wait for a lock that somebody left."""


@dataclass
class Sshd:
    """One server; its log is a file."""

    folder: Path
    port: int
    more: str = ""
    """More lines of its configuration."""
    mounts: str = "true"
    """Commands of a shell that change what it sees of the machine's files."""
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        """Start it, and wait until it listens."""
        config = self.folder / "sshd_config"
        config.write_text(CONFIG.format(port=self.port, folder=self.folder, more=self.more))
        seen = f"mount -t tmpfs tmpfs /run && mkdir /run/sshd && {self.mounts}"
        private = f"{seen} && exec {shutil.which('sshd')} -D -e -f {config}"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", private],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        for _ in range(100):
            if self._listens():
                return
            time.sleep(0.05)
        pytest.fail(f"sshd did not start: {self.log.read_text()}")

    def stop(self) -> None:
        """End it and every session of it, and wait until its port is free."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for _ in range(100):
            if not self._listens():
                return
            time.sleep(0.05)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / "log"

    def host(self, **changes: object) -> Host:
        """How to log in to it."""
        known = {"key_file": str(self.folder / "client_key"), "known_hosts": str(self.folder / "known_hosts")}
        fields = {"address": "127.0.0.1", "port": self.port, "user": "root", "sudo": False, **known, **changes}
        return Host.model_validate(fields)

    def logins(self) -> int:
        """How often somebody logged in."""
        return self.log.read_text().count("Accepted publickey")


def make_key(path: Path, *, kind: str = "ed25519", passphrase: str = "") -> str:
    """Make a key pair; the public half as written to known_hosts and authorized_keys."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "", "-f", path], check=True)
    return path.with_suffix(".pub").read_text().strip()


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server that knows one client key, and a known_hosts file that knows the server."""
    with serving(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@contextmanager
def serving(folder: Path, more: str = "", mounts: str = "true") -> Iterator[Sshd]:
    """Such a server, with more lines of configuration, and other files than the machine's."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Sshd(folder, free.getsockname()[1], more, mounts)
    public = make_key(folder / "host_key")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {public}\n")
    (folder / "authorized_keys").write_text(make_key(folder / "client_key") + "\n")
    server.start()
    try:
        yield server
    finally:
        server.stop()
