"""What a consumer believes of its positions after a poll."""

from __future__ import annotations

from typing import Any, cast

import pytest
from confluent_kafka import Consumer, KafkaError

from chaosk.probes import _client
from chaosk.probes._fetching import Fetching

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
    fetching = Fetching(cast("Consumer", AtTheEnd()), 1, _client.Errors(cast("Any", None)), positions)
    assert fetching.poll(0.0) == ([], [])
    fetching.settle(back)
    assert positions == {PLACE: position}
