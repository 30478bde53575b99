"""Tokens of a client from its OpenID Connect server: asked for when a login needs one, kept while they are valid.

The exchange is Authlib's, over requests. It runs in a thread of its own, so that a slow server costs a caller no more
time than it has, and the next caller gets what arrived meanwhile.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chaosk.cluster.security import Login

RENEWED = 0.8
"""Share of a token's lifetime after which another is asked for, as librdkafka does."""
_WITHIN = 10.0
"""Seconds that a server has for each step of its answer."""
_AGAIN = 5.0
"""Seconds until a server that gave no token is asked again: several connections need one at the same time."""


class NoToken(Exception):  # noqa: N818 - names the event
    """There is no token; the reason and the remedy."""

    def __init__(self, why: str, todo: str) -> None:
        super().__init__(why)
        self.todo = todo


@dataclass(frozen=True, slots=True)
class Token:
    """A token as its server gave it."""

    text: str
    lifetime: float
    """Seconds; 0 if the server does not tell, and each login gets a new one."""


class Tokens:
    """The current token of one client, for all its connections and threads."""

    def __init__(self, asked: Callable[[], Token], clock: Callable[[], float] = time.monotonic) -> None:
        """``asked``: gets a new one, or raises NoToken."""
        self._asked, self._clock = asked, clock
        self._lock = threading.Lock()
        self._text: str | None = None
        self._renew = self._expires = self._again = 0.0
        self._refusal: NoToken | None = None
        self._asking: Future[Token] | None = None

    def current(self, within: float) -> str:
        """Return a valid token, at most ``within`` seconds later; raises NoToken."""
        with self._lock:
            now = self._clock()
            if self._text is not None and now < self._renew:
                return self._text
            if self._refusal is not None and now < self._again:
                return self._old(now, self._refusal)
            asking = self._asking = self._asking or self._begun()
        try:
            return asking.result(max(within, 0.0)).text
        except TimeoutError:
            slow = NoToken("the token server has not answered yet", "look whether this machine reaches it")
            return self._old(self._clock(), slow)
        except NoToken as refusal:
            return self._old(self._clock(), refusal)

    def forget(self, text: str) -> None:
        """Drop a token that a broker refused, unless there is another one already."""
        with self._lock:
            if self._text == text:
                self._text = None

    def _old(self, now: float, refusal: NoToken) -> str:
        """Return the token that there is, if it is still valid: a server may be away for a while."""
        text = self._text
        if text is None or now >= self._expires:
            raise refusal
        return text

    def _begun(self) -> Future[Token]:
        asking: Future[Token] = Future()
        # a daemon: chaosk ends without waiting for a server
        threading.Thread(target=self._fetch, args=(asking,), name="token", daemon=True).start()
        return asking

    def _fetch(self, asking: Future[Token]) -> None:
        began = self._clock()
        try:
            token = self._asked()
        except NoToken as refusal:
            with self._lock:
                self._asking, self._refusal, self._again = None, refusal, self._clock() + _AGAIN
            asking.set_exception(refusal)
            return
        with self._lock:
            self._asking, self._refusal, self._text = None, None, token.text
            self._renew, self._expires = began + RENEWED * token.lifetime, began + token.lifetime
        asking.set_result(token)


@lru_cache(maxsize=16)
def of(login: Login) -> Tokens:
    """Return the tokens of a login, the same for all connections of this process."""
    return Tokens(lambda: asked(login))


def asked(login: Login) -> Token:
    """Ask the server for a token once; raises NoToken."""
    # here: only who logs in by a token waits for their import
    import requests  # noqa: PLC0415
    from authlib.integrations.requests_client import OAuth2Session, OAuthError  # noqa: PLC0415

    place = login.endpoint
    if place is None:
        raise ValueError(f"a login by {login.mechanism} has no tokens")
    server = f"the token server {place.url}"
    client = "correct client: sasl.oauthbearer.client.id and sasl.oauthbearer.client.secret, or that client there"
    address = "correct client: sasl.oauthbearer.token.endpoint.url, or look after that server"
    try:
        # no types, as of all of Authlib
        session: Any = OAuth2Session(  # type: ignore[no-untyped-call]
            login.user, login.password.reveal(), "client_secret_basic", scope=place.scope
        )
        with session:
            answer = session.fetch_token(
                place.url, grant_type="client_credentials", timeout=_WITHIN, allow_redirects=False,
                verify=place.ca or _own_authorities(),
            )  # fmt: skip
        return Token(str(answer["access_token"]), float(answer.get("expires_in") or 0))
    except OAuthError as error:
        said = str(error).removesuffix(": ")  # without a description
        raise NoToken(f"{server} refuses the client {login.user!r}: {said}", client) from None
    except requests.exceptions.SSLError as error:
        raise NoToken(f"{server}: no connection by TLS: {_cause(error)}", "correct client: https.ca.location") from None
    except requests.exceptions.HTTPError as error:
        raise NoToken(f"{server} answers with HTTP {error.response.status_code}", address) from None
    except requests.exceptions.RequestException as error:
        raise NoToken(f"{server} cannot be reached: {_cause(error)}", address) from None
    except (OSError, ValueError, KeyError, TypeError):
        # `from None`: an error of the encoding would quote the secret
        raise NoToken(f"{server} answers without a token", address) from None


def _own_authorities() -> str | bool:
    """Return what this machine trusts: requests would go by a list of its own, which lacks a company's authority."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath or True


def _cause(error: BaseException) -> str:
    """Return the innermost reason: requests and urllib3 wrap it in several of their own."""
    within = (getattr(error, "reason", None), *error.args, error.__cause__)
    inner = next((one for one in within if isinstance(one, BaseException)), None)
    if inner is not None:
        return _cause(inner)
    return str(getattr(error, "verify_message", None) or getattr(error, "strerror", None) or error).lower()
