"""What a cluster says about itself, as findings. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.discovery.cluster_description import BrokerDescription, ClusterDescription
from chaosk.discovery.findings import Findings, Learned, Remark, Unlearned
from chaosk.discovery.server_settings import ServerIdentity, identity, kafka_findings


def cluster_findings(cluster: ClusterDescription) -> Iterator[Findings]:
    """Yield the findings about the quorum and about each broker."""
    missing = tuple(
        Unlearned(
            ("brokers", str(number)), "it has replicas, and the cluster does not name it: start it, and ask again"
        )
        for number in cluster.missing
    )
    yield Findings(voters=cluster.voters, questions=missing)
    for broker in cluster.brokers:
        yield from _broker(broker)


def _broker(broker: BrokerDescription) -> Iterator[Findings]:
    server = identity(broker.settings) or ServerIdentity("brokers", broker.number)
    place = ("brokers", str(broker.number))
    facts = [] if broker.rack is None else [Learned((*place, "rack"), broker.rack, "Metadata")]
    if broker.why_not is None and broker.settings:
        reached = (broker.address, broker.port)
        yield Findings(facts=tuple(facts), addresses={place: (broker.address,)})
        yield kafka_findings(broker.settings, server, lambda name: f"{name} (DescribeConfigs)", reached)
        return
    why = broker.why_not or "it describes no settings"
    yield Findings(
        facts=tuple(facts),
        questions=(
            Unlearned(
                (*place, "listeners"),
                f"Metadata has {broker.address}:{broker.port}, and what this listener is called is not known: {why}; "
                "write NAME: {address: ..., port: ...} as in advertised.listeners",
            ),
        ),
        remarks=(Remark(place, f"its settings are not known: {why}"),),
        addresses={place: (broker.address,)},
    )
