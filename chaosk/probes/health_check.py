"""The probe ``health_check``: connects to brokers at a rate and closes again, like load balancers and monitors."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from chaosk.core.units import Duration, Rate
from chaosk.probes._schedule import Schedule
from chaosk.spec.contracts.probe import Probe, Workplace

MOST = 400.0
"""Checks per second and broker: each leaves a port in TIME_WAIT for a minute, of which a system has some 28,000."""


def _affordable(rate: float) -> float:
    if rate <= 0:
        msg = "a rate of 0 checks nothing; write more than that, like 1/s"
        raise ValueError(msg)
    if rate > MOST:
        msg = f"more than {MOST:g} health checks a second of one broker use up this machine's ports; write {MOST:g}/s"
        raise ValueError(msg)
    return rate


class HealthCheck(Probe):
    """Connect to each broker at a rate, and close the connection at once, like a load balancer's health check.

    Each check is due at a predetermined time, independent of earlier results. A rate of hundreds per second is a storm
    of connections. Brokers are reached at the inventory's addresses, each separately; names are resolved once, when the
    probe starts. While a hundred checks of a broker hang, later ones wait; one that got no turn within ``timeout`` is
    no evidence about the broker.
    """

    example: ClassVar[str] = "health_check: {rate: 1/s, timeout: 2s}"

    rate: Annotated[Rate, AfterValidator(_affordable)] = 1.0
    """Checks of each broker per second, like ``1/s``; at most ``400/s``."""
    brokers: Literal["all"] | Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(strict=False, min_length=1)] = (
        "all"
    )
    """The brokers to check: ``all`` or a list of their ids."""
    timeout: Annotated[Duration, Field(ge=0.05, le=30.0)] = 3.0
    """Time-out of a check."""
    exchange: Literal["none", "api_versions"] = "none"
    """``none``: an established connection suffices; ``api_versions``: the broker must answer that request.

    If clients use TLS, that request uses it, too; it needs no login.
    """

    def topics(self) -> tuple[str, ...]:
        """Empty."""
        return ()

    def schedule(self, brokers: int) -> Schedule:
        """Return the due times of checks of so many brokers, which take turns."""
        return Schedule(self.rate * brokers, self.rate * brokers)

    def work(self, place: Workplace) -> None:
        """Check until stopped."""
        from chaosk.probes._health_check_loop import HealthCheckLoop  # noqa: PLC0415 - loads a Kafka client, not needed to read

        HealthCheckLoop(self, place).run()
