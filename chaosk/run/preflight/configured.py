"""Examination of the broker settings that a scenario needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.configs import broker_config
from chaosk.core.errors import ClusterError
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok
from chaosk.spec.entity import spelled
from chaosk.spec.scenario import Scalar

_TODO = "configure it so, or name another cluster with --inventory"


def configured(brokers: Brokers, every: tuple[int, ...], wanted: Mapping[str, Scalar]) -> Iterator[Diagnostic]:
    """Yield a finding for each broker about the settings that the scenario needs; none if it needs none."""
    for broker in every if wanted else ():
        where = f"broker {broker}"
        try:
            found = broker_config(brokers, broker, wanted).values
        except ClusterError as error:
            yield bad(where, "configuration", str(error), "find out why it cannot be read")
            continue
        wrong = [
            f"{name} is {found[name]!r}" if name in found else f"{name} is unknown to it"
            for name, value in sorted(wanted.items())
            if found.get(name) != spelled(value)
        ]
        needs = ", ".join(f"{name}: {spelled(value)}" for name, value in sorted(wanted.items()))
        if wrong:
            yield bad(where, "configuration", f"{'; '.join(wrong)}; the scenario needs {needs}", _TODO)
        else:
            yield ok(where, "configuration", needs)
