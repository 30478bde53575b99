"""An account with a password; a private sshd sees its files of accounts, PAM and sudo in place of the machine's.

Everything else of the machine's sshd, sudo and PAM is real.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from chaosk.core.errors import HostError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Host

from .conftest import Sshd, serving

USER = "chaosk-pia"
PASSWORD = "right horse battery 4711"  # noqa: S105 - the point of it
KEYS = "AuthorizedKeysFile /run/keys/chaosk"
"""Where the account may read them; sshd reads as the account."""
SUDO_PAM = """\
auth required pam_faillock.so preauth dir={tally}
auth [success=1 default=ignore] pam_unix.so nodelay
auth [default=die] pam_faillock.so authfail dir={tally}
auth required pam_faillock.so authsucc dir={tally}
account required pam_permit.so
session required pam_permit.so
"""
AT_A_TERMINAL = """
import sys
from chaosk.core.errors import HostError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host
for _ in range(2):
    ssh = Ssh(dict.fromkeys(('node1', 'node2'), Host.model_validate_json(sys.argv[1])))
    for name in ('node1', 'node2'):
        try:
            print(ssh.run(Command(host=name, argv=('id',), sudo=True, timeout=60)).stdout)
        except HostError as error:
            print(error)
    ssh.close()
"""
SSHD_PAM = """\
auth required pam_unix.so nodelay
account required pam_permit.so
session required pam_permit.so
"""


def serving_account(
    folder: Path, sudoers: str = "{user} ALL = (ALL) ALL", more: str = ""
) -> AbstractContextManager[Sshd]:
    """A server with the account, whose sudo has these rules, and whose hosts keep nothing on the machine."""
    return serving(folder, f"UsePAM yes\n{more}\n{KEYS}", _mounts(folder, sudoers))


def _mounts(folder: Path, sudoers: str) -> str:
    """Commands of a shell that put the account and its rules over the machine's files, in the server's namespace."""
    made = folder / "etc"
    (made / "pam.d").mkdir(parents=True)
    (folder / "tally").mkdir()
    digest = subprocess.run(["openssl", "passwd", "-6", PASSWORD], capture_output=True, text=True, check=True).stdout
    passwd, shadow = (Path("/etc", name).read_text("utf-8") for name in ("passwd", "shadow"))
    files = {
        "passwd": (f"{passwd}{USER}:x:4711:4711::/tmp:/bin/sh\n", 0o644),
        "shadow": (f"{shadow}{USER}:{digest.strip()}:19000:0:99999:7:::\n", 0o640),
        "sudoers": (f"{sudoers.format(user=USER)}\n", 0o440),
        "pam.d/sudo": (SUDO_PAM.format(tally=folder / "tally"), 0o644),
        "pam.d/sshd": (SSHD_PAM, 0o644),
    }
    for name, (text, mode) in files.items():
        (made / name).write_text(text, "utf-8")
        (made / name).chmod(mode)
    own = (f"mount --bind {made / name} /etc/{name}" for name in files)
    keys = f"mkdir /run/keys && cp {folder}/authorized_keys /run/keys/chaosk"
    return " && ".join((*own, keys, "mount -t tmpfs tmpfs /var/lib"))


def account(sshd: Sshd, **changes: object) -> Host:
    """How to log in as the account."""
    return sshd.host(user=USER, sudo=True, **changes)


def failures(sshd: Sshd) -> int:
    """How many wrong passwords sudo's PAM has counted."""
    words = ["faillock", "--dir", str(sshd.folder / "tally"), "--user", USER]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return sum(line.endswith(" V") for line in said.splitlines())


def as_root(*argv: str, **more: object) -> Command:
    """A command as root, with time for a machine that is busy."""
    return Command.model_validate({"host": "node1", "argv": argv, "sudo": True, "timeout": 60.0, **more})


def ran(host: Host, *commands: Command) -> list[Result]:
    """What the commands answer, over one connection."""
    transport = Ssh({"node1": host})
    try:
        return [transport.run(command) for command in commands]
    finally:
        transport.close()


def refused(host: Host) -> str:
    """Why a command as root did not run."""
    try:
        done = ran(host, as_root("id", "-u"))
    except HostError as error:
        return str(error)
    raise AssertionError(done)


def typing(host: Host, answer: str, *, after: str) -> str:
    """What two chaosk-like connections in one process say at a terminal where somebody types an answer."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", AT_A_TERMINAL, host.model_dump_json()])  # noqa: S606
    said = b""
    try:
        while after.encode() not in said:
            said += os.read(terminal, 1024)
        os.write(terminal, f"{answer}\n".encode())
        while more := os.read(terminal, 1024):
            said += more
    except OSError:
        pass
    os.waitpid(child, 0)
    os.close(terminal)
    return said.decode()
