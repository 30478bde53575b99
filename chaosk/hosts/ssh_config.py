"""A host's settings in a configuration of ssh(1), as OpenSSH itself reads it (``ssh -G``).

OpenSSH's reader knows ``Include``, every kind of ``Match`` and the rules of precedence; Paramiko's ``SSHConfig``
ignores ``Include`` without a word, and takes kinds of ``Match`` that it does not know for a match.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chaosk.core.errors import UsageError

_WITHIN = 20.0
"""Seconds for OpenSSH's answer; ``Match exec`` may run commands."""
_MOST_JUMPS = 8
"""Jump hosts on a way; more are taken for a circle."""
_JUMP = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@\s]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*)(?::(?P<port>\d+))?/?"
)
_LISTS = ("identityfile", "certificatefile")
_LINE = re.compile(r"^(?P<file>.+?):? line (?P<line>\d+): (?P<what>.+)$")


@dataclass(frozen=True, slots=True)
class SshConfigEntry:
    """The settings of one host."""

    file: Path
    alias: str
    """The name that was asked for."""
    address: str
    port: int
    user: str
    key_files: tuple[Path, ...]
    """The keys to try, in order; some may not exist."""
    certificates: tuple[Path, ...]
    known_hosts: tuple[Path, ...]
    """Files with known host keys, the user's first; some may not exist."""
    key_alias: str | None
    """The name under which its host key is known, if that is not its address."""
    agent: str | None
    """The socket of the SSH agent; None for no agent."""
    only_these_keys: bool
    """True if an agent is asked for the keys in ``key_files`` only."""
    jumps: tuple[str, ...]
    """Jump hosts, nearest first, as they are written: ``[USER@]HOST[:PORT]``."""
    proxy_command: str | None
    """The command whose standard streams lead to the host."""
    proxied_at: str
    """File and line of the setting that names jump hosts or the command; only the file if the line is not known."""

    @property
    def direct(self) -> bool:
        """Return True if neither jump hosts nor a command lead there."""
        return not self.jumps and self.proxy_command is None


def entry(file: Path, alias: str, user: str | None = None, port: int | None = None) -> SshConfigEntry:
    """Return the settings of ``alias`` in ``file``; ``user`` and ``port`` precede the file's.

    Raises UsageError, with the line of a mistake in the file.
    """
    words = [_program(file), "-G", "-T", "-F", str(file)]
    words += [] if user is None else ["-l", user]
    words += [] if port is None else ["-p", str(port)]
    try:
        done = subprocess.run(
            [*words, alias], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_WITHIN, check=False
        )
    except subprocess.TimeoutExpired:
        what = f"ssh did not read it within {_WITHIN:g} s; does a command of `Match exec` in it hang?"
        raise UsageError(f"{file}: {what}") from None
    if done.returncode != 0:
        raise UsageError(_mistake(file, done.stderr))
    settings: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        settings.setdefault(key.lower(), []).append(value)
    return _entry(file, alias, {key: values if key in _LISTS else values[:1] for key, values in settings.items()})


@dataclass(frozen=True, slots=True)
class Jump:
    """A jump host on the way to another host."""

    written: str
    """As the configuration names it."""
    at: str
    """File and line that name it."""
    entry: SshConfigEntry
    nearest: bool
    """True if nothing but its own ``ProxyCommand`` is before it."""


def jumps(target: SshConfigEntry, beyond: tuple[str, ...] = ()) -> tuple[Jump, ...]:
    """Return the jump hosts to a target, nearest first; the first one may have jump hosts of its own, as with ssh(1).

    Raises UsageError.
    """
    found: list[Jump] = []
    for position, text in enumerate(target.jumps):
        written = _JUMP.fullmatch(text)
        if written is None:
            raise UsageError(f"{target.proxied_at}: {text!r} is no jump host; write [USER@]HOST[:PORT]")
        if text in beyond or len(beyond) + len(target.jumps) > _MOST_JUMPS:
            raise UsageError(
                f"{target.proxied_at}: the jump host {text} is reached through itself, or through more than "
                f"{_MOST_JUMPS} others; give it `ProxyJump none`"
            )
        port = None if written["port"] is None else int(written["port"])
        own = entry(target.file, written["host"].strip("[]"), written["user"], port)
        before = jumps(own, (*beyond, *target.jumps)) if position == 0 else ()
        found += [*before, Jump(text, target.proxied_at, own, nearest=position == 0 and not before)]
    return tuple(found)


def _entry(file: Path, alias: str, settings: Mapping[str, list[str]]) -> SshConfigEntry:
    def first(key: str) -> str | None:
        value = next(iter(settings.get(key, ())), "none")
        return None if value.lower() == "none" else value

    address, port = first("hostname") or alias, int(first("port") or 22)
    user, key_alias = first("user") or getpass.getuser(), first("hostkeyalias")
    tokens = {
        "%": "%", "d": str(Path.home()), "h": address, "i": str(os.getuid()), "k": key_alias or alias,
        "L": socket.gethostname().partition(".")[0], "l": socket.gethostname(), "n": alias, "p": str(port), "r": user,
        "u": getpass.getuser(),
    }  # fmt: skip
    jump, command = first("proxyjump"), first("proxycommand")
    known = f"{first('userknownhostsfile') or ''} {first('globalknownhostsfile') or ''}"
    agent = first("identityagent") if "identityagent" in settings else "SSH_AUTH_SOCK"
    return SshConfigEntry(
        file=file, alias=alias, address=address, port=port, user=user,
        key_files=_files(settings.get("identityfile", ()), tokens),
        certificates=_files(settings.get("certificatefile", ()), tokens),
        known_hosts=_files(_split(known), tokens), key_alias=key_alias, agent=_agent(agent, tokens),
        only_these_keys=first("identitiesonly") == "yes",
        jumps=() if jump is None else tuple(hop.strip() for hop in jump.split(",")),
        proxy_command=None if command is None else _expanded(command, tokens),
        proxied_at=_where(file, *(("proxyjump", jump) if jump is not None else ("proxycommand", command))),
    )  # fmt: skip


def _program(file: Path) -> str:
    path = shutil.which("ssh")
    if path is None:
        raise UsageError(f"{file}: is read by OpenSSH's ssh, which this machine lacks; install openssh-client")
    if not os.access(file, os.R_OK) or not file.is_file():
        raise UsageError(f"{file}: cannot be read; name a configuration of ssh(1) that you may read")
    return path


def _mistake(file: Path, said: str) -> str:
    """Return the first mistake that ssh reports, as FILE:LINE."""
    lines = [line for line in said.splitlines() if line.strip()]
    for line in lines:
        if (at := _LINE.match(line)) is not None:
            return f"{at['file']}:{at['line']}: {at['what'].strip().rstrip('.')}; correct the configuration of ssh(1)"
    return f"{file}: ssh cannot read it: {lines[-1].strip() if lines else 'no reason given'}"


def _where(file: Path, key: str, value: str | None) -> str:
    """Return file and line of a setting; only the file if the line is elsewhere, like in an included one."""
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        if value is not None and re.match(rf"\s*{key}[\s=]+\"?{re.escape(value)}\"?\s*$", line, re.IGNORECASE):
            return f"{file}:{number}"
    return str(file)


def _files(names: list[str] | tuple[str, ...], tokens: Mapping[str, str]) -> tuple[Path, ...]:
    return tuple(Path(_expanded(name, tokens)).expanduser() for name in names if name.lower() != "none")


def _split(names: str) -> list[str]:
    """Split paths at blanks before ``/`` or ``~``: ssh prints them without quotes, and one may contain a blank."""
    return [name.strip() for name in re.split(r"\s+(?=[/~])", names) if name.strip()]


def _agent(name: str | None, tokens: Mapping[str, str]) -> str | None:
    if name is None:
        return None
    if name == "SSH_AUTH_SOCK" or name.startswith("$"):
        return os.environ.get(name.strip("${}")) or None
    return str(Path(_expanded(name, tokens)).expanduser())


def _expanded(text: str, tokens: Mapping[str, str]) -> str:
    """Replace ``%`` tokens and ``${NAME}``; an unknown token stays."""
    text = re.sub(r"%(.)", lambda found: tokens.get(found[1], found[0]), text)
    return re.sub(r"\$\{(\w+)\}", lambda found: os.environ.get(found[1], ""), text)
