"""Settings of a scenario's clients that decide if records may be lost, duplicated or missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chaosk.probes import _fields
from chaosk.probes.consume import Consume
from chaosk.probes.produce import Produce
from chaosk.probes.transform import Transform
from chaosk.spec.contracts.probe import Probe

SETTINGS = (
    "acks=all", "acks=1", "acks=0", "idempotent", "not idempotent", "transactions", "no transactions",
    "group", "assign", "commit automatic", "commit sync", "commit async", "commit none", "commit in transactions",
    "read_committed", "read_uncommitted",
)  # fmt: skip
"""All settings, in the order in which they are shown."""

_ACKS = {"all": "all", "-1": "all", "1": "1", "0": "0"}


def settings(probes: Mapping[str, Probe]) -> frozenset[str]:
    """Return the settings of a scenario's probes; a probe that neither reads nor writes records has none."""
    return frozenset(each for name, probe in probes.items() for each in _of(name, probe))


def _of(name: str, probe: Probe) -> Iterator[str]:
    if isinstance(probe, Produce):
        yield from _writes(probe.settings(name))
    elif isinstance(probe, Transform):
        yield from _writes(probe.writing(name))
        yield from ("group", "commit in transactions", "read_committed")
    elif isinstance(probe, Consume):
        yield "assign" if probe.assign is not None else "group"
        yield f"commit {probe.committing()}"
        yield probe.isolation_level
        if probe.writes_to() is not None:
            yield from _writes(probe.writing())


def _writes(config: Mapping[str, _fields.Setting]) -> Iterator[str]:
    """Yield a producer's settings, with librdkafka's defaults; transactions make it idempotent."""
    acks = str(config.get("acks", config.get("request.required.acks", "all"))).lower()
    transacts = "transactional.id" in config
    idempotent = transacts or str(config.get("enable.idempotence", False)).lower() == "true"
    yield f"acks={_ACKS.get(acks, acks)}"
    yield "idempotent" if idempotent else "not idempotent"
    yield "transactions" if transacts else "no transactions"
