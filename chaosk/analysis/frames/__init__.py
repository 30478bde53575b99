"""DataFrames that checks share; the final ``select`` of each is its contract.

Terms: a *value* identifies a record by its producer, a *place* is a position in a log, a *reader* is a consumer group,
or a probe that reads without one.
"""

from __future__ import annotations

PLACE = ("topic", "partition")
"""Columns that identify a partition."""
VALUE = ("producer", "producer_incarnation", "seq")
"""Columns that identify a record."""
OF_PRODUCER = {"probe": "producer", "incarnation": "producer_incarnation"}
"""Renaming of a producer's columns to those of a value."""
