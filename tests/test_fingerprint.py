"""Fingerprints: whatever the order the same, and another one for any other set of records."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chaosk.rundir.events import buckets
from chaosk.rundir.events.fingerprint import Fingerprint, by_group, hashed

LONG = st.integers(-(2**63), 2**63 - 1)
RECORDS = st.lists(st.tuples(st.integers(-1, 3), LONG, st.integers(-1, 2**40), LONG), min_size=1, max_size=60)


def prints(records: list[tuple[int, int, int, int]]) -> dict[int, Fingerprint]:
    """By partition, of records given as partition, seq, offset and latency."""
    partitions, seqs, offsets, times = (np.array(column, np.int64) for column in zip(*records, strict=True))
    return by_group(partitions, hashed(seqs, offsets), times)


def test_the_hash_is_xxh64() -> None:
    """What Spark's ``xxhash64`` answered for these numbers; ``tests/analysis/test_self_check.py`` asks it for more."""
    numbers = np.array([0, 1, -1, 42, 2**62])
    assert hashed(numbers).view(np.int64).tolist() == [
        -5252525462095825812, -7001672635703045582, 3858142552250413010, -6876166290308861218, 8973626371093010265,
    ]  # fmt: skip
    assert hashed(numbers[:1], numbers[1:2]).view(np.int64).tolist() == [8281773146650252936]


@given(RECORDS, st.randoms(use_true_random=False), st.integers(0, 60))
def test_order_and_portions_do_not_matter(records: list[tuple[int, int, int, int]], draw: Random, cut: int) -> None:
    """The fingerprint of all is that of any two portions in any order, joined."""
    turned = list(records)
    draw.shuffle(turned)
    found: dict[int, Fingerprint] = {}
    for portion in (turned[:cut], turned[cut:]):
        for partition, each in (prints(portion) if portion else {}).items():
            found[partition] = found.get(partition, Fingerprint()).joined(each)
    assert found == prints(records)


@given(RECORDS, st.data())
def test_any_other_set_has_another_fingerprint(records: list[tuple[int, int, int, int]], data: st.DataObject) -> None:
    """One record taken away, doubled, or changed in any column."""
    which = data.draw(st.integers(0, len(records) - 1))
    rest = records[:which] + records[which + 1 :]
    column = data.draw(st.integers(0, 3))
    changed = list(records[which])
    changed[column] += 1 if changed[column] < 2 else -1
    partition, seq, offset, latency = changed
    others = [[*records, records[which]], [*rest, (partition, seq, offset, latency)], rest]
    for other in others:
        assert not other or prints(other) != prints(records)


@given(st.lists(st.integers(-5, 2**47), min_size=1, max_size=50))
def test_a_bucket_is_the_first_bits(latencies: list[int]) -> None:
    """Its least value has the first eleven bits of the latency and zeros behind them; what is negative counts as 0."""
    numbers = buckets.numbers(np.array(latencies, np.int64))
    assert numbers.max() < buckets.COUNT
    for latency, bound in zip(latencies, buckets.lower_bounds(numbers).tolist(), strict=True):
        cut = max(max(latency, 0).bit_length() - buckets.BITS, 0)
        assert bound == max(latency, 0) >> cut << cut
