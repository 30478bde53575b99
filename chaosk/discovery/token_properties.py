"""A Java client's properties of a login by OAUTHBEARER, as librdkafka's settings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chaosk.cluster import oauthbearer
from chaosk.cluster.oauthbearer import CLIENT_ID, CLIENT_SECRET, EXTENSIONS, SCOPE, TOKEN_URL

_HANDLER = "sasl.login.callback.handler.class"
_RETRIEVER = "sasl.oauthbearer.jwt.retriever.class"
_JAAS = "sasl.jaas.config"
_CLASSES = {
    _HANDLER: ("OAuthBearerLoginCallbackHandler",),
    _RETRIEVER: ("ClientCredentialsJwtRetriever", "DefaultJwtRetriever"),
}
"""The classes that get a token by a client's id and secret."""
_SOURCES = {
    CLIENT_ID: ("sasl.oauthbearer.client.credentials.client.id", "clientId"),
    CLIENT_SECRET: ("sasl.oauthbearer.client.credentials.client.secret", "clientSecret"),
    SCOPE: ("sasl.oauthbearer.scope", "scope"),
}
"""By setting, Java's property since Kafka 4.1 and the option of the login module, which is older."""
_EXTENSION = "extension_"

HANDLED = (_HANDLER, _RETRIEVER, TOKEN_URL, *(name for name, _ in _SOURCES.values()))
"""Properties that are translated here."""
QUESTIONS = {
    CLIENT_ID: "which client of the token server is chaosk?",
    CLIENT_SECRET: "where is the client's secret? Write {env: NAME} or {file: PATH}",
    TOKEN_URL: "at which address does the server give tokens?",
}
"""What must be answered if a file does not say it."""


def mistakes(given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each property that gets a token in a way that chaosk has not."""
    for name, classes in _CLASSES.items():
        said = given.get(name, "").rpartition(".")[2]
        if said not in classes and (said or name == _HANDLER):
            other = said or f"making them itself, as Java does without {name}"
            yield name, f"chaosk gets tokens by a client's id and secret only, as {classes[0]} does, and not by {other}"
    if url := given.get(TOKEN_URL):
        yield from (found for found in oauthbearer.mistakes({TOKEN_URL: url}) if found[0] == TOKEN_URL)


def translated(given: Mapping[str, str], options: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return librdkafka's settings, each with its value and the property that it is from; secrets are among them.

    ``options``: those of the login module.
    """
    found = {}
    for name, (java, option) in _SOURCES.items():
        value, of = (given[java], java) if given.get(java) else (options.get(option, ""), _JAAS)
        if value:
            found[name] = value, of
    if url := given.get(TOKEN_URL):
        found[TOKEN_URL] = url, TOKEN_URL
    more = {name.removeprefix(_EXTENSION): value for name, value in options.items() if name.startswith(_EXTENSION)}
    if more:
        found[EXTENSIONS] = ",".join(f"{name}={value}" for name, value in more.items()), _JAAS
    return found
