"""A cluster as its brokers describe it: Metadata, DescribeConfigs, DescribeQuorum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chaosk.cluster.configs import broker_request, configuration
from chaosk.cluster.quorum import quorum_request
from chaosk.cluster.security import Security
from chaosk.cluster.views import metadata_request
from chaosk.cluster.wire import PATIENCE, BrokerConnection, Endpoint, NoAnswer
from chaosk.core.errors import ClusterError, PreflightError
from chaosk.core.parallel import parallel_map
from chaosk.discovery.findings import QuorumMember


@dataclass(frozen=True, slots=True)
class BrokerDescription:
    """One broker."""

    number: int
    address: str
    """Where clients reach it, as Metadata answers."""
    port: int
    rack: str | None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Its configuration, as it describes it."""
    why_not: str | None = None
    """Why it does not; None if it does."""


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """A whole cluster."""

    bootstrap: str
    cluster_id: str
    brokers: tuple[BrokerDescription, ...]
    voters: tuple[QuorumMember, ...] = ()
    missing: tuple[int, ...] = ()
    """Brokers that have replicas, and that the cluster does not name: they are down, or gone."""


def describe(bootstrap: tuple[tuple[str, int], ...], opened: Security) -> ClusterDescription:
    """Ask a cluster through the first bootstrap address that answers; raises PreflightError if none does."""
    refusals = []
    for address, port in bootstrap:
        try:
            with BrokerConnection(Endpoint("bootstrap", address, port, opened), PATIENCE) as link:
                (metadata,) = link.ask(metadata_request(None))
                voters = _voters(link)
        except NoAnswer as error:
            refusals.append(f"{error}; {error.todo or _todo(opened)}")
            continue
        brokers = parallel_map(lambda broker: _described(broker, opened), metadata.brokers)
        ordered = sorted(brokers, key=lambda broker: broker.number)
        named = f"{address}:{port}", metadata.cluster_id or ""
        return ClusterDescription(*named, tuple(ordered), voters, _missing(metadata))
    raise PreflightError("\n".join(refusals))


def _missing(metadata: Any) -> tuple[int, ...]:  # noqa: ANN401 - kafka-python's answers
    replicas = {replica for topic in metadata.topics for part in topic.partitions for replica in part.replica_nodes}
    return tuple(sorted(replicas - {broker.node_id for broker in metadata.brokers}))


def _todo(opened: Security) -> str:
    if opened.tls is None and opened.login is None:
        return (
            "check the address; if that listener speaks TLS or wants a login, name --command-config client.properties"
        )
    return "check the address, and security.protocol in --command-config"


def _voters(link: BrokerConnection) -> tuple[QuorumMember, ...]:
    """Return the quorum's controllers with their addresses; empty with ZooKeeper, and if the broker does not tell."""
    try:
        (answer,) = link.ask(quorum_request())
    except NoAnswer:
        return ()
    source = "DescribeQuorum"
    voting = {voter.replica_id for topic in answer.topics for part in topic.partitions for voter in part.current_voters}
    return tuple(
        QuorumMember(node.node_id, end.host, end.port, source, end.name)
        for node in getattr(answer, "nodes", None) or ()
        for end in node.listeners[:1]
        if node.node_id in voting
    )


def _described(broker: Any, opened: Security) -> BrokerDescription:  # noqa: ANN401 - kafka-python's answers
    number, host, port = broker.node_id, broker.host, broker.port
    try:
        with BrokerConnection(Endpoint(f"broker {number}", host, port, opened), PATIENCE) as link:
            (answer,) = link.ask(broker_request(number))
        settings, why_not = dict(configuration(f"broker {number}", answer).values), None
    except ClusterError as error:
        settings, why_not = {}, str(error)
    return BrokerDescription(number, host, port, broker.rack, settings, why_not)
