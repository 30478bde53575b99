"""How hosts are reached over SSH: from options, and from an OpenSSH client configuration.

An inventory has all settings of its hosts, and chaosk ignores ``~/.ssh/config`` otherwise; here it is translated.
"""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import paramiko

from chaosk.core.errors import UsageError
from chaosk.discovery.findings import Value

_LOGIN = re.compile(
    r"(?:(?P<user>[^@\s]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9.-]*|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+)?(?::(?P<port>\d+))?"
)
ADDRESS = "where it is named"
"""The source of an address that no setting has changed."""
_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")


@dataclass(frozen=True, slots=True)
class SshLogin:
    """One ``--ssh``: an account, for one host or for all."""

    user: str | None = None
    host: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class SshAccess:
    """All that is known about logins to hosts."""

    logins: tuple[SshLogin, ...] = ()
    key_file: Path | None = None
    known_hosts: Path | None = None
    config: paramiko.SSHConfig | None = None
    config_file: Path | None = None
    own: Mapping[str, Mapping[str, tuple[Value, str]]] = field(default_factory=dict)
    """By address, settings of another source, like an inventory of Ansible's, with that source."""

    def hosts(self) -> tuple[str, ...]:
        """Return the hosts that are named themselves."""
        return tuple(login.host for login in self.logins if login.host is not None)

    def settings(self, address: str) -> dict[str, tuple[Value, str]]:
        """Return the keys of a host in the inventory, each with its source; raises UsageError for a jump host."""
        found: dict[str, tuple[Value, str]] = dict(self.own.get(address, {}))
        found.setdefault("address", (address, ADDRESS))
        found |= self._configured(address)
        for login in (
            *(one for one in self.logins if one.host is None),
            *(one for one in self.logins if one.host == address),
        ):
            found |= {} if login.user is None else {"user": (login.user, "--ssh")}
            found |= {} if login.port is None else {"port": (login.port, "--ssh")}
        if "user" not in found:
            found["user"] = (getpass.getuser(), "this account, since --ssh names none")
        if self.key_file is not None:
            found["key_file"] = (str(self.key_file.expanduser().absolute()), "--key")
        elif "key_file" not in found and (usual := _usual_key()) is not None:
            found["key_file"] = (str(usual), "the key of this account; there is no SSH agent")
        if self.known_hosts is not None:
            found["known_hosts"] = (str(self.known_hosts.expanduser().absolute()), "--known-hosts")
        return found

    def _configured(self, address: str) -> dict[str, tuple[Value, str]]:
        if self.config is None:
            return {}
        said, source = self.config.lookup(address), f"{self.config_file}"
        for name in ("proxyjump", "proxycommand"):
            if (said.get(name) or "none").lower() != "none":
                raise UsageError(
                    f"{self.config_file}: {address} is reached by {name} {said[name]}, and chaosk goes through no jump "
                    "host: run chaosk on a machine that reaches the hosts themselves, like that one"
                )
        found: dict[str, tuple[Value, str]] = {}
        if said["hostname"] != address:
            found["address"] = (said["hostname"], source)
        if "user" in said:
            found["user"] = (said["user"], source)
        if "port" in said:
            found["port"] = (int(said["port"]), source)
        keys = [Path(one).expanduser() for one in said.get("identityfile", ())]
        if existing := next((one for one in keys if one.is_file()), None):
            found["key_file"] = (str(existing.absolute()), source)
        if "userknownhostsfile" in said:
            found["known_hosts"] = (str(Path(said["userknownhostsfile"].split()[0]).expanduser().absolute()), source)
        return found


def login_of(text: str) -> SshLogin:
    """Parse ``USER@``, ``USER@HOST``, ``HOST:PORT`` and so on; a single word is an account. Raises UsageError."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.\\-]*@?", text):
        return SshLogin(user=text.removesuffix("@"))
    found = _LOGIN.fullmatch(text)
    if found is None or not any(found.groupdict().values()):
        raise UsageError(f"--ssh {text}: no login; write USER@ for all hosts, or USER@HOST or USER@HOST:PORT for one")
    port = found["port"]
    return SshLogin(found["user"], (found["host"] or "").strip("[]") or None, None if port is None else int(port))


def configuration(path: Path) -> paramiko.SSHConfig:
    """Read an OpenSSH client configuration; raises UsageError if that is not possible."""
    try:
        return paramiko.SSHConfig.from_path(str(path.expanduser()))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"{path}: cannot be read: {why}; name a file that you may read") from error
    except (paramiko.SSHException, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is no configuration of ssh(1): {error}") from error


def _usual_key() -> Path | None:
    """Return this account's key where ssh(1) looks for one, if there is no agent."""
    if os.environ.get("SSH_AUTH_SOCK"):
        return None
    return next((key for name in _KEYS if (key := Path.home() / ".ssh" / name).is_file()), None)
