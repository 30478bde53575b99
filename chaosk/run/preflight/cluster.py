"""Health of the cluster before an experiment: brokers, listeners, controllers, ZooKeeper, partitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from chaosk.cluster.advertised import Advertised, advertised
from chaosk.cluster.brokers import Brokers
from chaosk.cluster.client_settings import client_settings
from chaosk.cluster.health import INTERNAL, complaint, unhealthy
from chaosk.cluster.ongoing_reassignments import reassigning
from chaosk.cluster.views import partitions
from chaosk.cluster.wire import PATIENCE
from chaosk.core.errors import ClusterError
from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok
from chaosk.spec.contracts.live import Live, PartitionState
from chaosk.spec.inventory import Inventory

FEW = 5
"""Maximum number of partitions named; the others are only counted."""
_WAIT = "wait until the cluster is healthy, or repair it; a fault on top would prove nothing"


def cluster(live: Live, brokers: Brokers, inventory: Inventory, own: Collection[str] = ()) -> Iterator[Diagnostic]:
    """Yield the findings about a cluster; ``own``: topics that are recreated, so that their state does not matter.

    Raises PreflightError for unusable client settings.
    """
    problems = unhealthy(live, inventory)
    for problem in problems:
        yield bad("cluster", "health", problem, _WAIT)
    if not problems:
        yield ok("cluster", "health", _whole(inventory))
    yield from listeners(advertised(inventory, client_settings(inventory), PATIENCE))
    try:
        every = partitions(brokers.views(None))
        yield _partitions([one for one in every if one.topic not in {*own, *INTERNAL}])
    except ClusterError as error:
        yield bad("cluster", "partitions", str(error), _WAIT)
    try:
        yield _moving(reassigning(brokers))
    except ClusterError as error:
        yield bad("cluster", "reassignments", str(error), _WAIT)


def listeners(found: Iterable[Advertised]) -> Iterator[Diagnostic]:
    """Yield a finding for each client listener of each broker: the advertised address must be reachable."""
    for one in found:
        where, what = f"broker {one.broker}", f"listener {one.listener}"
        if one.says is None:
            yield bad(
                where, what, f"does not answer at the address in the inventory: {one.why_not}",
                one.todo or "start the broker, or correct its address or the TLS and login settings in client:",
            )  # fmt: skip
        elif one.is_broker is not None:
            yield bad(
                where, what, f"broker {one.is_broker} answers there: a fault would hit the wrong broker",
                f"have the inventory name the host, the files and the listeners of broker {one.broker} for it",
            )  # fmt: skip
        elif one.why_not is not None:
            yield bad(
                where, what, f"advertises {_spell(one.says)}, and that leads nowhere from here: {one.why_not}",
                one.todo or "correct its advertised.listeners, or how that name resolves on this machine",
            )  # fmt: skip
        else:
            yield ok(where, what, f"advertises {_spell(one.says)}, which answers")


def _whole(inventory: Inventory) -> str:
    if inventory.kraft:
        return "every broker serves, every controller takes part in the quorum, and one leads it"
    return "every broker and ZooKeeper node serves, there is a controller"


def _partitions(every: Sequence[PartitionState]) -> Diagnostic:
    told = [said for one in every if (said := complaint(one)) is not None]
    if told:
        more = f"; and {len(told) - FEW} more" if len(told) > FEW else ""
        return bad("cluster", "partitions", "; ".join(told[:FEW]) + more, _WAIT)
    return ok("cluster", "partitions", f"all {len(every)} have a leader and a full ISR")


def _moving(moving: Sequence[str]) -> Diagnostic:
    if moving:
        more = f" and {len(moving) - FEW} more" if len(moving) > FEW else ""
        return bad(
            "cluster", "reassignments", f"under way for {', '.join(moving[:FEW])}{more}",
            "wait for the end, or cancel them with kafka-reassign-partitions.sh --cancel",
        )  # fmt: skip
    return ok("cluster", "reassignments", "none under way")


def _spell(place: tuple[str, int]) -> str:
    return f"{place[0]}:{place[1]}"
