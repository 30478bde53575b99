"""A consumer's lag, from local knowledge only."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from confluent_kafka import Consumer, TopicPartition

from chaosk.probes._ownership import Place


def lag(client: Consumer, held: Collection[Place], positions: Mapping[Place, int]) -> int | None:
    """Return the records up to the high watermark of the last fetch; None without partitions, or if one is unknown."""
    behind = 0
    for place in held:
        _low, high = client.get_watermark_offsets(TopicPartition(*place), cached=True)
        position = positions.get(place)
        if position is None or high < 0:
            return None
        behind += max(0, high - position)
    return behind if held else None


def reached(held: Collection[Place], positions: Mapping[Place, int]) -> int | None:
    """Return the sum of the next offsets; None without partitions, or if one is unknown."""
    return sum(positions[place] for place in held) if held and all(place in positions for place in held) else None
