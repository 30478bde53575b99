"""Latency buckets: a value in nanoseconds is reduced to its first bits, which keeps figures accurate to 0.1 %."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BITS = 11
"""Significant bits that a bucket keeps."""
COUNT = (64 - BITS) << BITS
"""Upper bound of the buckets' numbers, exclusive."""


def numbers(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bucket number of each value; a negative value counts as 0. Accurate up to 2**47 ns, or 39 hours."""
    values = np.maximum(values, 0)
    cut = np.maximum(np.frexp(values.astype(np.float64))[1].astype(np.int64) - BITS, 0)
    found: NDArray[np.int64] = (cut << BITS) + (values >> cut)
    return found


def lower_bounds(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the smallest value of each bucket."""
    found: NDArray[np.int64] = (numbers & ((1 << BITS) - 1)) << (numbers >> BITS)
    return found
