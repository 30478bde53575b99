"""SASL login at a broker by KIP-43 and KIP-152: a handshake, then the mechanism's messages in requests.

The mechanisms themselves are kafka-python's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka.net.sasl import get_sasl_mechanism
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from chaosk.cluster import codes
from chaosk.cluster.security import Login

_HANDSHAKE_VERSION = 1  # from this version on, messages go in requests: every broker since 1.0
_MS = 1000.0


class Refused(Exception):  # noqa: N818 - names the event
    """A broker refused the login; the reason and the remedy."""

    def __init__(self, why: str, todo: str) -> None:
        super().__init__(why)
        self.todo = todo


def log_in(ask: Callable[[ApiMessage], Any], login: Login) -> float | None:
    """Log in through ``ask``; return the lifetime of the login in seconds, None if unlimited. Raises Refused."""
    hello = ask(SaslHandshakeRequest(mechanism=login.mechanism, version=_HANDSHAKE_VERSION))
    if hello.error_code == codes.UNSUPPORTED_SASL_MECHANISM:
        offers = ", ".join(hello.mechanisms)
        raise Refused(f"takes no login by {login.mechanism}, only by {offers}", "correct client: sasl.mechanism")
    if hello.error_code:
        why = f"answers a login with {codes.error_name(hello.error_code)}"
        raise Refused(why, "correct client: security.protocol; it may want no login")
    mechanism: Any = get_sasl_mechanism(login.mechanism)  # type: ignore[no-untyped-call]
    words = mechanism(
        sasl_plain_username=login.user, sasl_plain_password=login.password.reveal(), sasl_mechanism=login.mechanism
    )
    while True:
        answer = ask(SaslAuthenticateRequest(auth_bytes=words.auth_bytes()))
        if answer.error_code:
            said = answer.error_message or codes.error_name(answer.error_code)
            raise Refused(
                f"refuses the login of {login.user!r} by {login.mechanism}: {said}",
                "correct client: sasl.username and sasl.password, or that user's credentials in the cluster",
            )
        try:
            words.receive(answer.auth_bytes)
        except (ValueError, LookupError) as error:
            # raised also for a broker that does not know the password, which it has to prove
            raise Refused(f"does not prove that it knows {login.user!r}: {error}", "look who answers there") from None
        if words.is_done():
            lifetime = getattr(answer, "session_lifetime_ms", 0) or 0
            return lifetime / _MS if lifetime > 0 else None
