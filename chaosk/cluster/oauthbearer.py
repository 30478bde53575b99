"""Settings of a login by OAUTHBEARER, of which chaosk supports OpenID Connect's client credentials. Pure.

Names and values are librdkafka's. What it can do besides is refused, because chaosk's own connections cannot follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

METHOD = "sasl.oauthbearer.method"
CLIENT_ID = "sasl.oauthbearer.client.id"
CLIENT_SECRET = "sasl.oauthbearer.client.secret"  # noqa: S105 - a setting's name
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"  # noqa: S105 - a setting's name
SCOPE = "sasl.oauthbearer.scope"
EXTENSIONS = "sasl.oauthbearer.extensions"
CA = "https.ca.location"

_ALIASES = {
    "sasl.oauthbearer.client.credentials.client.id": CLIENT_ID,
    "sasl.oauthbearer.client.credentials.client.secret": CLIENT_SECRET,
}
"""Newer names of the same settings."""
_NEEDED = {
    METHOD: "write oidc",
    CLIENT_ID: "write the client's id",
    CLIENT_SECRET: "write {env: NAME} or {file: PATH}",
    TOKEN_URL: "write the address at which the server gives tokens",
}
_OIDC_ONLY = "chaosk gets tokens by OpenID Connect's client credentials only"
_CREDENTIALS = f"leave it out, and write {CLIENT_ID} and {CLIENT_SECRET}"
_ASSERTION = "sasl.oauthbearer.assertion."
_ONLY_VALUE = {
    METHOD: ("oidc", "write oidc"),
    "sasl.oauthbearer.grant.type": ("client_credentials", _CREDENTIALS),
    "sasl.oauthbearer.metadata.authentication.type": ("none", _CREDENTIALS),
    "enable.sasl.oauthbearer.unsecure.jwt": ("false", f"leave it out, and write {METHOD}: oidc"),
}
"""The only supported value of a setting, and the remedy for others."""
_UNUSED = "sasl.oauthbearer.config"


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """Where a client gets its tokens, and what it asks for."""

    url: str
    scope: str | None = None
    ca: str | None = None
    """A file or folder of certificates to trust, as PEM; None for those of this machine."""
    extensions: tuple[tuple[str, str], ...] = ()
    """Names and values that brokers get with the token."""


def canonical(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings that have a value, under the names that this module uses."""
    return {_ALIASES.get(name, name): value for name, value in settings.items() if value is not None and value != ""}


def mistakes(settings: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each setting that is missing, wrong or not supported, and what to write."""
    given = canonical(settings)
    for name, todo in _NEEDED.items():
        if name not in given:
            yield name, f"OAUTHBEARER needs it; {todo}"
    for name, (only, todo) in _ONLY_VALUE.items():
        if name in given and str(given[name]).lower() != only:
            yield name, f"{_OIDC_ONLY}; {todo}"
    for name in given:
        if name.startswith(_ASSERTION) or name == _UNUSED:
            yield name, f"{_OIDC_ONLY}; {_CREDENTIALS}"
    if TOKEN_URL in given and not _is_url(str(given[TOKEN_URL])):
        yield TOKEN_URL, "is no address of a token server; write one that begins with https:// or http://"
    if EXTENSIONS in given and any("=" not in one for one in str(given[EXTENSIONS]).split(",")):
        yield EXTENSIONS, "write NAME=VALUE, several with commas between"


def endpoint(settings: Mapping[str, object]) -> TokenEndpoint:
    """Return where the token comes from; the settings must be without :func:`mistakes`."""
    given = canonical(settings)
    scope, ca = given.get(SCOPE), given.get(CA)
    pairs = [one.partition("=") for one in str(given.get(EXTENSIONS, "")).split(",") if one]
    return TokenEndpoint(
        url=str(given[TOKEN_URL]),
        scope=None if scope is None else str(scope),
        ca=None if ca is None or ca == "probe" else str(ca),
        extensions=tuple((name.strip(), value) for name, _, value in pairs),
    )


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
