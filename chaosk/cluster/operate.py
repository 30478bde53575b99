"""Requests to the controller, by kind of deed."""

from __future__ import annotations

import structlog

from chaosk.cluster.add_partitions import add_partitions
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.elect import elect
from chaosk.cluster.entity_settings import configure
from chaosk.cluster.reassignment import reassign
from chaosk.cluster.remake import delete_topic, make_topic
from chaosk.spec.contracts.step import AddPartitions, Configure, DeleteTopic, Elect, MakeTopic, Operation, Reassign

log = structlog.get_logger()


def operate(brokers: Brokers, operation: Operation) -> None:
    """Execute an operation and log its result; raises StepError if it was refused, ClusterError without an answer."""
    match operation:
        case Elect():
            for one in elect(brokers, operation):
                log.info("election", topic=one.topic, partition=one.partition, elected=one.elected)
        case Reassign():
            accepted = reassign(brokers, operation)
            log.info("reassignment", topic=operation.topic, partitions=accepted, replicas=operation.replicas)
        case Configure():
            configure(brokers, operation.settings)
            log.info("settings", of=str(operation.settings.of), values=operation.settings.values)
        case AddPartitions():
            add_partitions(brokers, operation)
            log.info("partitions added", topic=operation.topic, count=operation.count)
        case DeleteTopic():
            delete_topic(brokers, operation)
            log.info("topic deleted", topic=operation.topic, id=operation.identity)
        case MakeTopic():
            made = make_topic(brokers, operation)
            log.info("topic made again", topic=operation.shape.topic, id=made)
