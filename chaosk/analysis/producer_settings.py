"""Settings of a run's producers that no event records: retries, and the time after which a request is sent again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chaosk.analysis.case import Case

_RETRIES = ("retries", "message.send.max.retries")
_TIMEOUTS = {"request.timeout.ms": 30_000, "socket.timeout.ms": 60_000}
"""librdkafka's limits of a produce request, with their defaults: the broker's for the append, and the client's."""
DEFAULT_TIMEOUT = min(_TIMEOUTS.values()) * 1_000_000
"""Nanoseconds after which a request is sent again, without any setting."""


def without_retries(case: Case) -> tuple[str, ...]:
    """Return the names of the probes whose producers have ``retries: 0``, sorted."""
    return tuple(name for name, config in _producers(case) if _number(config, _RETRIES) == 0)


def request_timeouts(case: Case) -> dict[str, int]:
    """Return by probe the nanoseconds after which its producer sends a request again that nobody answered."""
    return {
        name: min(_number(config, (setting,), default) for setting, default in _TIMEOUTS.items()) * 1_000_000
        for name, config in _producers(case)
    }


def _producers(case: Case) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each probe that may write, with the settings of its producer."""
    for name, probe in sorted(case.plan.probes.items()):
        for kind, key in (("produce", "config"), ("transform", "producer_config"), ("consume", "producer_config")):
            if kind in probe:
                yield name, {**case.client, **((probe[kind] or {}).get(key) or {})}


def _number(config: Mapping[str, Any], names: tuple[str, ...], default: int = -1) -> int:
    """Return the first of these settings that is a number."""
    values = (str(config[name]) for name in names if name in config)
    return next((int(value) for value in values if value.isdigit()), default)
