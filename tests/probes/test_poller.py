"""What a consumer believes of its positions after a poll."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import Consumer, KafkaError

from chaosk.probes import _client
from chaosk.probes._poller import Poller

PLACE = ("orders", 0)


class End:
    """The end of a partition, as librdkafka tells it among the records."""

    def error(self) -> KafkaError:
        """No error, says librdkafka."""
        return KafkaError(KafkaError._PARTITION_EOF)

    def topic(self) -> str:
        """Where."""
        return PLACE[0]

    def partition(self) -> int:
        """Where."""
        return PLACE[1]

    def offset(self) -> int:
        """The offset to read next."""
        return 40


class AtTheEnd:
    """A client that has no more records."""

    def poll(self, _wait: float) -> Any:
        """The end."""
        return End()


@pytest.mark.parametrize(("back", "position"), [((), 40), ((PLACE,), 36), ((("orders", 1),), 40)])
def test_the_end_of_a_partition_that_it_went_back_in_lies_ahead_again(
    back: tuple[tuple[str, int], ...], position: int
) -> None:
    """A record at 36 failed and is to be tried again: the end that came with the same poll is not where it is."""
    positions = {PLACE: 36}
    fetching = Poller(cast("Consumer", AtTheEnd()), 1, _client.ErrorReporter(cast("Any", None)), positions)
    assert fetching.poll(0.0) == ([], [])
    fetching.settle(back)
    assert positions == {PLACE: position}


SAID = "Fatal error: Broker: Static consumer fenced by other consumer with same group.instance.id: by broker 2"
"""As librdkafka says it."""


class Fatal(End):
    """What librdkafka returns once where a client is of no more use."""

    def error(self) -> KafkaError:
        """Why is in the words only."""
        return KafkaError(KafkaError._FATAL, SAID)


class Fenced:
    """A client that another one has taken the place of."""

    def poll(self, _wait: float) -> Any:
        """The error."""
        return Fatal()


def test_a_client_that_is_of_no_more_use_says_so_with_the_reason() -> None:
    """The poll has librdkafka's own name for it, the event has that of what is behind it."""
    written: list[tuple[Any, ...]] = []
    log = SimpleNamespace(write=lambda table, row: written.append((table, *row)))
    place = SimpleNamespace(probe="till", incarnation=3, log=log)
    errors = _client.ErrorReporter(cast("Any", place))
    fetching = Poller(cast("Consumer", Fenced()), 1, errors, {})
    polled = [(fetching.fatal, *fetching.poll(0.0)), fetching.fatal]
    assert polled == [(False, [], ["_FATAL"]), True]
    assert [(*row[:3], *row[4:]) for row in written] == [("errors", "till", 3, "FENCED_INSTANCE_ID", SAID, True)]
    assert errors.last == "FENCED_INSTANCE_ID"


def test_an_error_that_is_not_fatal_is_its_own_reason() -> None:
    """Nor is one whose words name no other."""
    assert _client.reason(KafkaError(KafkaError._TRANSPORT)) == "_TRANSPORT"
    assert _client.reason(KafkaError(KafkaError._FATAL, "Fatal error: of a kind of its own")) == "_FATAL"
