"""The login, and the keys for it: certificates and the agent first, then files, as ssh(1) does; answers last."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import SSHCertificate, load_ssh_public_identity
from paramiko.agent import AgentKey, AgentSSH

from chaosk.hosts.transport.ssh.host_keys import blob_of, fingerprint
from chaosk.hosts.transport.ssh.passphrases import NoPassphraseError, passphrase
from chaosk.hosts.transport.ssh.questions import LoginRefusedError, QuestionLogin
from chaosk.hosts.transport.ssh.route import Hop
from chaosk.spec.secrets import Secret

_TRIES = 3
"""How often a passphrase is asked for."""
_SOCKET_WITHIN = 5.0
"""Seconds for an agent to accept a connection."""


@dataclass(slots=True)
class KeyLogin:
    """One attempt to log in."""

    hop: Hop
    answers: QuestionLogin
    """What else opens it, where keys do not suffice."""
    offered: list[str] = field(default_factory=list)
    """The keys that the server refused, in words."""
    missing: list[str] = field(default_factory=list)
    """The keys that could not be used, with the reason."""
    others: list[str] = field(default_factory=list)
    """The methods beside keys that the server offers."""

    def authenticate(self, transport: paramiko.Transport) -> None:
        """Log in by what the server offers and chaosk has.

        Raises LoginRefusedError, PreflightError or paramiko's errors.
        """
        methods = _methods(transport, self.hop.user)
        self.others = [method for method in methods if method != "publickey"]
        if "publickey" in methods:
            try:
                methods = self._by_key(transport)
            except LoginRefusedError:
                if not (self.answers.can(methods) and transport.is_active()):
                    raise
        elif methods and not self.answers.can(methods):
            raise LoginRefusedError(self._not_by_key(methods))
        if methods:
            self.answers.authenticate(transport, methods)

    def _by_key(self, transport: paramiko.Transport) -> list[str]:
        """Offer one key after the other; return the methods that the server wants beside, if they can be answered."""
        agent = _Agent(self.hop.agent)
        try:
            for name, key in self._keys(agent):
                try:
                    more = transport.auth_publickey(self.hop.user, key)
                except paramiko.BadAuthenticationType as error:
                    raise LoginRefusedError(self._not_by_key(error.allowed_types)) from error
                except paramiko.AuthenticationException:
                    self.offered.append(f"{name} ({fingerprint(key)})")
                    continue
                if more and not self.answers.can(more):
                    raise LoginRefusedError(
                        f"the {name} was accepted, and {self.hop.user} needs {' or '.join(more)} as well; run chaosk "
                        "at a terminal, or let a key alone suffice for this account (AuthenticationMethods)"
                    )
                return more
        except (EOFError, paramiko.SSHException) as error:
            if not self.offered or isinstance(error, paramiko.AuthenticationException):
                raise
            raise LoginRefusedError(self._refused(agent, "the server then hung up (MaxAuthTries?)")) from error
        finally:
            agent.close()
        raise LoginRefusedError(self._refused(agent))

    def _keys(self, agent: _Agent) -> Iterator[tuple[str, paramiko.PKey]]:
        hop = self.hop
        named = {blob: path for path in hop.key_files if (blob := _public_blob(path)) is not None}
        held = [key for key in agent.keys if not hop.only_these_keys or key.asbytes() in named]
        for key in sorted(held, key=lambda key: key.asbytes() not in named):
            for certificate in self._certificates(named.get(key.asbytes()), key):
                yield f"certificate {certificate}, whose key is in the SSH agent", key
                key.public_blob = None
            yield f"key {key.comment or fingerprint(key)} of the SSH agent", key
        own = {key.asbytes() for key in held}
        for path in hop.key_files:
            if _public_blob(path) not in own and (loaded := self._loaded(path)) is not None:
                for certificate in self._certificates(path, loaded):
                    yield f"certificate {certificate}", loaded
                    loaded.public_blob = None
                yield f"key {path}", loaded

    def _certificates(self, path: Path | None, key: paramiko.PKey) -> Iterator[Path]:
        """Load each certificate of a key into it."""
        beside = () if path is None else (path.with_name(f"{path.name}-cert.pub"),)
        for file in dict.fromkeys((*self.hop.certificates, *beside)):
            try:
                loaded = paramiko.pkey.PublicBlob.from_file(str(file))
                certified = load_ssh_public_identity(file.read_bytes())
            except (OSError, ValueError, IndexError, UnsupportedAlgorithm):
                continue
            if isinstance(certified, SSHCertificate) and blob_of(certified.public_key()) == key.asbytes():
                key.public_blob = loaded
                yield file

    def _loaded(self, path: Path) -> paramiko.PKey | None:
        """Load a private key; None for one that cannot be used, with the reason in ``missing``."""
        try:
            return self._opened(path)
        except FileNotFoundError:
            if self.hop.strict_key:
                self.missing.append(f"{path}: no such file")
        except OSError as error:
            self.missing.append(f"{path}: {(error.strerror or 'cannot be read').lower()}")
        except (paramiko.SSHException, NoPassphraseError) as reason:
            self.missing.append(f"{path}: {reason}")
        return None

    def _opened(self, path: Path) -> paramiko.PKey:
        """Read a private key, with its passphrase if it needs one; raises one of the errors of :meth:`_loaded`."""
        secret: Secret | None = None
        for _ in range(_TRIES):
            try:
                return _read(path, secret)
            except paramiko.SSHException as error:
                if secret is None and not isinstance(error, paramiko.PasswordRequiredException):
                    raise
            secret = passphrase(path, self.hop.passphrase, wrong=secret)
        raise NoPassphraseError("it needs another passphrase")

    def _refused(self, agent: _Agent, end: str = "") -> str:
        hop = self.hop
        unusable = f"; not usable: {', '.join(self.missing)}" if self.missing else ""
        hint = ""
        if any("passphrase" in why for why in self.missing):
            hint = "add the key to an SSH agent, run chaosk at a terminal, or name ssh.key_passphrase in the inventory"
        also = ""
        if self.others:
            also = f"; it offers {' and '.join(self.others)} as well, for a terminal or ssh.password in the inventory"
        if self.offered:
            keys = ", ".join(self.offered)
            todo = hint or "put the public key into its authorized_keys, or check its sshd's settings (AllowUsers?)"
            hung = f", and {end}" if end else ""
            return f"reached, but login as {hop.user} with the {keys} was refused{hung}{unusable}{also}; {todo}"
        todo = hint or "name a private key that this user may read as hosts.*.key_file, or start an SSH agent with one"
        asked = f"{agent.state}" if hop.agent is not None or not hop.strict_key else "only key_file is used"
        return f"reached, but there is no key to log in with as {hop.user}: {asked}{unusable}{also}; {todo}"

    def _not_by_key(self, allowed: list[str]) -> str:
        return (
            f"reached, but it lets {self.hop.user} log in by {' or '.join(allowed) or 'nothing'} only, not with a key; "
            "allow PubkeyAuthentication for this account, run chaosk at a terminal, or name ssh.password"
        )


class _Agent:
    """An SSH agent, asked once; one that does not answer has no keys."""

    def __init__(self, path: str | None) -> None:
        self.keys: list[AgentKey] = []
        self.state = "no SSH agent is running (SSH_AUTH_SOCK is not set)"
        self._link = AgentSSH()
        if path is None:
            return
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(_SOCKET_WITHIN)
        try:
            link.connect(path)
            link.settimeout(None)  # it may ask its user before it signs
            self._link._connect(link)  # type: ignore[attr-defined] # noqa: SLF001 - Agent() knows SSH_AUTH_SOCK only
            self.keys = list(self._link.get_keys())
            self.state = f"the SSH agent at {path} holds no key that may be used"
        except (OSError, EOFError, paramiko.SSHException) as error:
            link.close()
            self.state = f"the SSH agent at {path} does not answer ({error})"

    def close(self) -> None:
        self._link._close()  # type: ignore[attr-defined] # noqa: SLF001 - as above


def _methods(transport: paramiko.Transport, user: str) -> list[str]:
    """Return the methods that a server offers to an account; none if it lets the account in as it is."""
    try:
        return transport.auth_none(user)
    except paramiko.BadAuthenticationType as error:
        return error.allowed_types


def _public_blob(path: Path) -> bytes | None:
    """Return the public half of a key, from the file beside it."""
    try:
        blob = paramiko.pkey.PublicBlob.from_file(str(path.with_name(f"{path.name}.pub")))
    except (OSError, ValueError, IndexError):
        return None
    return bytes(blob.key_blob)


def _read(path: Path, secret: Secret | None) -> paramiko.PKey:
    """Read a private key of any kind; raises OSError, or paramiko's SSHException."""
    for kind in (paramiko.Ed25519Key, paramiko.RSAKey, paramiko.ECDSAKey):
        try:
            return kind.from_private_key_file(str(path), None if secret is None else secret.reveal())
        except paramiko.PasswordRequiredException:
            raise
        except (paramiko.SSHException, ValueError, TypeError, IndexError):  # its text may quote the file
            continue
    raise paramiko.SSHException("no private key that chaosk can use")
