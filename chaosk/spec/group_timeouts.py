"""Consumer group time-outs: the longest time that they leave a partition without a member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_SESSION = 45_000
"""Default of ``session.timeout.ms`` in librdkafka."""
_POLLS = 300_000
"""Default of ``max.poll.interval.ms`` in librdkafka."""


def patience(configs: Sequence[Mapping[str, Any]]) -> int:
    """Return the milliseconds after which no time-out of a member explains a partition that no member owns.

    A lost member is detected after ``session.timeout.ms``, and the others join again within
    ``max.poll.interval.ms``. ``configs``: the client settings of each member.
    """
    session = max(int(one.get("session.timeout.ms", _SESSION)) for one in configs)
    return session + max(int(one.get("max.poll.interval.ms", _POLLS)) for one in configs)
