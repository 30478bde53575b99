"""Buckets of latency: a number of nanoseconds as its first bits, so that figures are right to 0.1 %."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BITS = 11
"""Significant bits that a bucket keeps."""
COUNT = (64 - BITS) << BITS
"""Numbers of buckets are below that."""


def numbers(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each value's bucket; negative values belong to that of 0. Right up to 2**47, which is 39 hours."""
    values = np.maximum(values, 0)
    cut = np.maximum(np.frexp(values.astype(np.float64))[1].astype(np.int64) - BITS, 0)
    found: NDArray[np.int64] = (cut << BITS) + (values >> cut)
    return found


def lower_bounds(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least value in each bucket."""
    found: NDArray[np.int64] = (numbers & ((1 << BITS) - 1)) << (numbers >> BITS)
    return found
