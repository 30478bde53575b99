"""SASL login at a broker by KIP-43 and KIP-152: a handshake, then the mechanism's messages in requests.

The mechanisms themselves are kafka-python's; tokens come from :mod:`chaosk.cluster.tokens`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka.net.sasl import get_sasl_mechanism
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from chaosk.cluster import codes, tokens
from chaosk.cluster.oauthbearer import SCOPE, TOKEN_URL
from chaosk.cluster.security import Login

_HANDSHAKE_VERSION = 1  # from this version on, messages go in requests: every broker since 1.0
_MS = 1000.0


class Refused(Exception):  # noqa: N818 - names the event
    """A broker refused the login; the reason and the remedy."""

    def __init__(self, why: str, todo: str) -> None:
        super().__init__(why)
        self.todo = todo


def log_in(ask: Callable[[ApiMessage], Any], login: Login, left: Callable[[], float]) -> float | None:
    """Log in through ``ask``; return the lifetime of the login in seconds, None if unlimited. Raises Refused.

    ``left``: the seconds that are left for it.
    """
    hello = ask(SaslHandshakeRequest(mechanism=login.mechanism, version=_HANDSHAKE_VERSION))
    if hello.error_code == codes.UNSUPPORTED_SASL_MECHANISM:
        offers = ", ".join(hello.mechanisms)
        raise Refused(f"takes no login by {login.mechanism}, only by {offers}", "correct client: sasl.mechanism")
    if hello.error_code:
        why = f"answers a login with {codes.error_name(hello.error_code)}"
        raise Refused(why, "correct client: security.protocol; it may want no login")
    if login.endpoint is None:
        return _spoken(ask, login, _by_password(login))
    token = _token(login, left())
    try:
        return _spoken(ask, login, _by_token(login, token))
    except Refused:
        tokens.of(login).forget(token)
        raise


def _by_password(login: Login) -> Any:  # noqa: ANN401 - kafka-python's mechanisms have no types
    mechanism: Any = get_sasl_mechanism(login.mechanism)  # type: ignore[no-untyped-call]
    return mechanism(
        sasl_plain_username=login.user, sasl_plain_password=login.password.reveal(), sasl_mechanism=login.mechanism
    )


def _by_token(login: Login, token: str) -> Any:  # noqa: ANN401 - as above
    mechanism: Any = get_sasl_mechanism(login.mechanism)  # type: ignore[no-untyped-call]
    extensions = {} if login.endpoint is None else dict(login.endpoint.extensions)
    return mechanism(sasl_oauth_token_provider=_Given(token, extensions))


def _token(login: Login, within: float) -> str:
    try:
        return tokens.of(login).current(within)
    except tokens.NoToken as error:
        raise Refused(f"no token to log in with: {error}", error.todo) from None


class _Given(AbstractTokenProvider):
    """One token and its extensions, as kafka-python takes them."""

    def __init__(self, token: str, extensions: dict[str, str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._token, self._extensions = token, extensions

    def token(self) -> str:
        return self._token

    def extensions(self) -> dict[str, str]:
        return self._extensions


def _spoken(ask: Callable[[ApiMessage], Any], login: Login, words: Any) -> float | None:  # noqa: ANN401 - as above
    while True:
        answer = ask(SaslAuthenticateRequest(auth_bytes=words.auth_bytes()))
        if answer.error_code:
            said = answer.error_message or codes.error_name(answer.error_code)
            raise Refused(f"refuses the login of {login.user!r} by {login.mechanism}: {said}", _todo(login))
        try:
            words.receive(answer.auth_bytes)
        except (ValueError, LookupError) as error:
            # raised also for a broker that does not know the password, which it has to prove
            raise Refused(f"does not prove that it knows {login.user!r}: {error}", "look who answers there") from None
        if words.is_done():
            lifetime = getattr(answer, "session_lifetime_ms", 0) or 0
            return lifetime / _MS if lifetime > 0 else None


def _todo(login: Login) -> str:
    if login.endpoint is not None:
        return (
            "compare the token's issuer, audience, scope and subject with that listener's sasl.oauthbearer settings, "
            f"and correct client: {SCOPE} or {TOKEN_URL}"
        )
    return "correct client: sasl.username and sasl.password, or that user's credentials in the cluster"
