"""A login by answers: an account's password, and what else a server asks, like for a second factor.

The password comes from the inventory or the terminal, and is kept in memory. All other questions are asked at the
terminal anew at each login, because such answers are good for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import paramiko

from chaosk.hosts.transport.ssh import terminal
from chaosk.hosts.transport.ssh.passwords import NoPasswordError, Password, password
from chaosk.hosts.transport.ssh.route import Hop
from chaosk.spec.secrets import Secret

_TYPED_WITHIN = 120.0
"""Seconds to answer; sshd hangs up after that (LoginGraceTime)."""
_STAGES = 4
"""Most methods that a server may want one after the other."""


class LoginRefusedError(Exception):
    """The server was reached and its host key is right, but nothing opened it; the message says what to do."""


class _UnansweredError(paramiko.SSHException):
    """A question has no answer; it ends paramiko's thread, so that nothing wrong is sent."""


@dataclass(frozen=True, slots=True)
class QuestionLogin:
    """One attempt to log in."""

    name: str
    """The host in the inventory that is logged in to, or led to."""
    hop: Hop

    def can(self, methods: Sequence[str]) -> bool:
        """Return whether one of the methods that a server offers can be tried."""
        answers = self.hop.password is not None or terminal.is_there()
        return answers and bool({"password", "keyboard-interactive"} & set(methods))

    def authenticate(self, transport: paramiko.Transport, methods: Sequence[str]) -> None:
        """Answer until the server is content; raises LoginRefusedError or paramiko's errors."""
        with _patient(transport):
            for _ in range(_STAGES):
                if not self.can(methods):
                    break
                methods = self._once(transport, methods)
                if not methods:
                    return
        raise LoginRefusedError(
            f"reached, and {self.hop.user} needs {' or '.join(methods)} as well, which chaosk does not answer; let "
            "less suffice for this account (AuthenticationMethods)"
        )

    def _once(self, transport: paramiko.Transport, methods: Sequence[str]) -> list[str]:
        """Carry out one method; return those that the server wants beside it, none if that was all."""
        single = "password" in methods and (self.hop.password is not None or "keyboard-interactive" not in methods)
        try:
            return self._by_password(transport) if single else self._by_questions(transport)
        except NoPasswordError as error:
            raise LoginRefusedError(f"reached, but {error}") from error

    @property
    def _password(self) -> Password:
        """Return the password; a jump host has one of its own, which only the terminal gives."""
        return password("password", self.hop.user, self.hop.password, at=self.hop.label)

    @property
    def at(self) -> str:
        """Return what messages call the server."""
        return self.hop.label or self.name

    def _by_password(self, transport: paramiko.Transport) -> list[str]:
        known = self._password
        with known.offered(self.at) as secret:
            try:
                more = transport.auth_password(self.hop.user, secret.reveal(), fallback=False)
            except paramiko.AuthenticationException as error:
                raise known.refuse(self.at) from error
            known.accept()
            return more

    def _by_questions(self, transport: paramiko.Transport) -> list[str]:
        with ExitStack() as lent:
            questions = _Questions(self, self._password, lent)
            try:
                more = transport.auth_interactive(self.hop.user, questions.answer)
            except _UnansweredError as error:
                raise LoginRefusedError(f"reached, but {error}") from error
            except paramiko.AuthenticationException as error:
                if questions.only_the_password:
                    raise self._password.refuse(self.at) from error
                raise LoginRefusedError(
                    f"reached, but login as {self.hop.user} by keyboard-interactive was refused; try again, and mind "
                    "that wrong answers lock accounts"
                ) from error
            if questions.by_password:
                self._password.accept()
            return more


class _Questions:
    """The questions of one keyboard-interactive login."""

    def __init__(self, login: QuestionLogin, known: Password, lent: ExitStack) -> None:
        self._login = login
        self._known = known
        self._lent = lent
        self._others = False
        self.by_password: Secret | None = None

    @property
    def only_the_password(self) -> bool:
        """True if nothing else can have been wrong."""
        return self.by_password is not None and not self._others

    def answer(self, title: str, instructions: str, prompts: Sequence[tuple[str, bool]]) -> list[str]:
        """Answer a server; raises _UnansweredError. Called by paramiko, in its thread."""
        for text in (title, instructions):
            if text.strip() and terminal.is_there():
                terminal.tell(f"{self._login.at} says: {text.strip()}")
        return [self._one(prompt, echo=echo).reveal() for prompt, echo in prompts]

    def _one(self, prompt: str, *, echo: bool) -> Secret:
        at, user = self._login.at, self._login.hop.user
        if not echo and "passw" in prompt.lower() and self.by_password is None:
            try:
                self.by_password = self._lent.enter_context(self._known.offered(at))
            except NoPasswordError as error:
                raise _UnansweredError(str(error)) from error
            return self.by_password
        self._others = True
        if not terminal.is_there():
            hint = "run chaosk at a terminal, or let a key alone suffice for this account (AuthenticationMethods)"
            raise _UnansweredError(f"it asks {user} {prompt.strip()!r}, and there is no terminal; {hint}")
        return terminal.ask(f"{user} on {at}: {prompt}", echo=echo)


@contextmanager
def _patient(transport: paramiko.Transport) -> Iterator[None]:
    """Leave a person the time to type."""
    before = transport.auth_timeout
    transport.auth_timeout = _TYPED_WITHIN
    try:
        yield
    finally:
        transport.auth_timeout = before
