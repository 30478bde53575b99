"""Client settings of an inventory: librdkafka's names and values, and the logins that chaosk supports.

Settings that only Java's clients have are reported with their replacement, since many users start from a
``client.properties``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaosk.cluster import oauthbearer
from chaosk.cluster.security import INSTEAD, MECHANISMS, PROTOCOLS, only_by
from chaosk.document.nodes import Mapping, Node, Scalar, SourcePosition, descend, plain
from chaosk.document.parse import Found
from chaosk.probes._client import is_known, refused

_PEM = "leave it out: a PEM file of certificates has neither a type nor a password"
_JAVA = {
    "sasl.jaas.config": "write sasl.username, and sasl.password as {env: NAME} or {file: PATH}; or "
    "have the whole file translated by: chaosk discover --command-config client.properties",
    "ssl.truststore.location": "write ssl.ca.location, a PEM file; chaosk discover --command-config "
    "client.properties --pem FOLDER makes it",
    "ssl.truststore.password": _PEM,
    "ssl.truststore.type": _PEM,
    "ssl.truststore.certificates": "write ssl.ca.location, a PEM file",
    "ssl.keystore.type": "leave it out, and write ssl.certificate.location and ssl.key.location, PEM files",
    "ssl.keystore.key": "write ssl.key.location, a PEM file",
    "ssl.keystore.certificate.chain": "write ssl.certificate.location, a PEM file",
    "ssl.enabled.protocols": "leave it out: TLS 1.2 and newer are used",
    "ssl.protocol": "leave it out: TLS 1.2 and newer are used",
    "key.serializer": "leave it out",
    "value.serializer": "leave it out",
    "key.deserializer": "leave it out",
    "value.deserializer": "leave it out",
}
"""Settings of Java's clients that librdkafka does not have, with their replacement."""
_OURS = {
    "metadata.broker.list": "write bootstrap.servers",
    "plugin.library.paths": "an inventory loads no code; leave it out",
    "default.topic.config": "write its settings beside the others",
    "client.id": "probes have their own; leave it out",
    "on_delivery": "leave it out", "error_cb": "leave it out", "logger": "leave it out", "dr_cb": "leave it out",
    "dr_msg_cb": "leave it out", "on_commit": "leave it out", "enabled_events": "leave it out",
    "delivery.report.only.error": "every outcome is an event; leave it out",
    "internal.termination.signal": "librdkafka sends it to this very process; leave it out",
    "test.mock.num.brokers": "a mock cluster proves nothing; leave it out",
}  # fmt: skip
"""Settings of librdkafka or its Python client that an inventory may not set."""
_BLOCKS = ("client", "probe_client")
_JUDGED_APART = ("security.protocol", "bootstrap.servers")
_OF_FILES = ("ssl.", "sasl.", "https.")
"""Prefixes of settings whose values are read, loaded or run when a client is created: only their names are checked."""


def client_settings(root: Node) -> Iterator[Found]:
    """Yield each client setting that no client accepts, or that chaosk's own connections do not support."""
    inherited: dict[Any, Node] = {}
    for block in _BLOCKS:
        settings = descend(root, (block,))
        if isinstance(settings, Mapping):
            wrong = {str(name): says for name in settings.values if (says := _wrong(str(name))) is not None}
            for name, says in wrong.items():
                yield settings.values[name].place, (block, name), says
            yield from _logins(block, inherited, settings.values)
            yield from _refused(block, {name: node for name, node in settings.values.items() if name not in wrong})
            inherited = settings.values


def _wrong(name: str) -> str | None:
    if name in _JAVA:
        return f"is a setting of Java's clients, and chaosk's go by librdkafka's; {_JAVA[name]}"
    if name in _OURS:
        return _OURS[name]
    if name in INSTEAD:
        return f"chaosk's own connections to brokers cannot use it; {INSTEAD[name]}"
    if not is_known(name):
        return f"librdkafka has no setting {name!r}; its CONFIGURATION.md lists all that there are"
    return None


def _refused(block: str, settings: dict[Any, Node]) -> Iterator[Found]:
    """Yield librdkafka's complaint about the values; they are tested together, because some depend on others."""
    values = {
        str(name): node.value
        for name, node in settings.items()
        if isinstance(node, Scalar) and node.value is not None and not str(name).startswith(_OF_FILES)
        and name not in _JUDGED_APART
    }  # fmt: skip
    if values and (says := refused(values)) is not None:
        name = next((name for name in sorted(values, key=len, reverse=True) if name in says), next(iter(values)))
        yield settings[name].place, (block, name), says


def _logins(block: str, inherited: dict[Any, Node], own: dict[Any, Node]) -> Iterator[Found]:
    """Yield what is wrong with the login of a block, ``own``, that was not wrong with what it overrides."""
    before = {(path, says) for _, path, says in _login(block, inherited)}
    yield from (found for found in _login(block, {**inherited, **own}) if found[1:] not in before)


def _login(block: str, settings: dict[Any, Node]) -> Iterator[Found]:
    protocol = settings.get("security.protocol")
    if not isinstance(protocol, Scalar):
        return
    word = str(protocol.value).lower()
    if word not in PROTOCOLS:
        yield protocol.place, (block, "security.protocol"), f"there is no such; write {', '.join(PROTOCOLS)}"
    if not word.startswith("sasl"):
        return
    name = "sasl.mechanism" if "sasl.mechanism" in settings else "sasl.mechanisms"
    mechanism = settings.get(name)
    said = str(mechanism.value).upper() if isinstance(mechanism, Scalar) else "GSSAPI"
    place = protocol.place if mechanism is None else mechanism.place
    if said not in MECHANISMS:
        yield (
            place, (block, name if mechanism is not None else "security.protocol"),
            f"{only_by(said)}; name a listener that takes one of them",
        )  # fmt: skip
    if said == "OAUTHBEARER":
        yield from _tokens(block, settings, place)


def _tokens(block: str, settings: dict[Any, Node], place: SourcePosition) -> Iterator[Found]:
    """Yield what a login by a token lacks or cannot have; ``place``: where the mechanism is written."""
    given = {str(name): plain(node) for name, node in settings.items()}
    for name, says in oauthbearer.mistakes(given):
        node = settings.get(name)
        yield place if node is None else node.place, (block, name), says
