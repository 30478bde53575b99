"""Frames that checks share: DataFrame in, DataFrame out, each ending in the ``select`` that is its contract.

Words used throughout: a *value* is a record as its producer named it, a *place* is where it stands in a log, a
*reader* is a consumer group, or a probe that reads without one.
"""

from __future__ import annotations

PLACE = ("topic", "partition")
"""Columns that name a partition."""
VALUE = ("producer", "producer_incarnation", "seq")
"""Columns that name a record."""
OF_PRODUCER = {"probe": "producer", "incarnation": "producer_incarnation"}
"""What the columns of a row that a producer wrote of itself are called as part of a value."""
