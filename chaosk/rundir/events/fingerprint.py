"""Order-independent fingerprints of sets of records: a count, and exclusive or and sum of the records' hashes.

A fingerprint is three numbers, for any number of records. A missing, duplicate or foreign record changes it: a pair of
equal records cancels out in the exclusive or, but not in the sum and the count. The hash is XXH64 of 64-bit numbers
with the seed 42, in which the hash of one number is the seed of the next. This is Spark's ``xxhash64``, so both sides
of a comparison can be computed without a custom function in Spark.

Source of the hash: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md, for inputs of eight bytes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Longs: TypeAlias = NDArray[np.int64]
Hashes: TypeAlias = NDArray[np.uint64]

WRAP = 1 << 64
_SEED = 42
_P1, _P2, _P3 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
_LEAST = np.iinfo(np.int16).min + 1
_P4, _P5 = np.uint64(0x85EBCA77C2B2AE63), 0x27D4EB2F165667C5


class Fingerprint(NamedTuple):
    """The fingerprint of a set of records; ``xor``, ``sum`` and ``nanoseconds`` are unsigned, modulo 2**64."""

    records: int = 0
    xor: int = 0
    sum: int = 0
    nanoseconds: int = 0
    """The sum of one time value per record; 0 if the records have none."""

    def joined(self, other: Fingerprint) -> Fingerprint:
        """Return the fingerprint of the union of both sets."""
        return Fingerprint(
            self.records + other.records,
            self.xor ^ other.xor,
            (self.sum + other.sum) % WRAP,
            (self.nanoseconds + other.nanoseconds) % WRAP,
        )


def hashed(*columns: Longs) -> Hashes:
    """Return one hash for each row."""
    seed: Hashes = np.full(len(columns[0]), _SEED, np.uint64)
    for column in columns:
        mixed = column.view(np.uint64) * _P2
        mixed = _rotated(mixed, 31) * _P1
        mixed ^= seed + np.uint64(_P5 + 8)
        mixed = _rotated(mixed, 27) * _P1 + _P4
        mixed ^= mixed >> np.uint64(33)
        mixed *= _P2
        mixed ^= mixed >> np.uint64(29)
        mixed *= _P3
        mixed ^= mixed >> np.uint64(32)
        seed = mixed
    return seed


def _rotated(values: Hashes, bits: int) -> Hashes:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def by_group(groups: NDArray[np.integer], hashes: Hashes, times: Longs) -> dict[int, Fingerprint]:
    """Return the fingerprint of each group by its number; the three arrays have one value for each record."""
    if not len(groups):
        return {}
    short = groups.min() >= _LEAST and groups.max() <= -_LEAST  # 16-bit numbers get a radix sort
    order = np.argsort(groups.astype(np.int16) if short else groups, kind="stable")
    sorted_groups, hashes, times = groups[order], hashes[order], times[order]
    starts = np.concatenate([[0], np.flatnonzero(sorted_groups[1:] != sorted_groups[:-1]) + 1])
    columns = (
        np.diff(starts, append=len(groups)),
        np.bitwise_xor.reduceat(hashes, starts),
        np.add.reduceat(hashes, starts),
        np.add.reduceat(times.view(np.uint64), starts),
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(sorted_groups[starts].tolist(), (Fingerprint(*row) for row in rows), strict=True))
