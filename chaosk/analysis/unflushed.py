"""Partitions whose unflushed data was lost on all hosts at once, which excuses a loss.

Brokers acknowledge data in their page caches before it is on disk. So ``acks=all`` does not help if as many replicas of
a partition as ``min.insync.replicas`` lost their power (or their kernel, or their disk) at once, while other faults
kept all other replicas offline. An ISR that shrank for any other reason excuses nothing, nor do hosts without a
replica, nor brokers that are only cut off from clients. What the other in-sync replicas had is lost only if a replica
without it then becomes leader, see ``chaosk.analysis.frames.truncations``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from chaosk.analysis.case import Case, TimeSpan
from chaosk.analysis.observed_settings import min_isr
from chaosk.rundir.verdict import Fault

FORGETTING = frozenset({"power_off", "crash_kernel", "fail_disk", "reboot", "wipe_disk"})
"""Kinds of step that lose unflushed data of a host; of ``reboot`` only the hard one. ``wipe_disk`` also loses flushed
data."""
_AWAY = {
    "stop_broker", "kill_broker", "pause_broker", "cut_network", "fill_disk", "change_owner", "remount_read_only",
}  # fmt: skip
"""Further kinds of step that keep a broker out of the ISR."""


class UnflushedLoss(NamedTuple):
    """A loss of unflushed data on hosts of a partition, while all its other replicas were offline."""

    began: int
    """Invocation of the fault."""
    applied: int
    """Time at which the fault was in force."""
    ended: int
    """End of the fault."""
    brokers: frozenset[int]
    """Replicas whose hosts lost unflushed data."""


def losing(case: Case) -> frozenset[int]:
    """Return the brokers whose hosts lost unflushed data at any time of the run."""
    lost = _hosts(fault for fault in case.faults if _forgets(case, fault))
    return frozenset(broker for broker, host in case.hosts.items() if host in lost)


def cut_power(case: Case, topic: str) -> dict[int, tuple[UnflushedLoss, ...]]:
    """Return the partitions of a topic with such losses; none with unknown replicas."""
    found: dict[int, list[UnflushedLoss]] = {}
    for (name, partition), brokers in case.replicas.items():
        if name != topic or not brokers <= case.hosts.keys():
            continue
        at = [case.hosts[broker] for broker in brokers]
        for cut, lost, away in _cuts(case):
            least = min_isr(case, topic, TimeSpan("until then", 0, cut.invoked))
            if away.issuperset(at) and sum(host in lost for host in at) >= least:
                dark = frozenset(broker for broker in brokers if case.hosts[broker] in lost)
                ended = cut.healed or case.record.ended
                loss = UnflushedLoss(cut.invoked, cut.applied or cut.invoked, ended, dark)
                found.setdefault(partition, []).append(loss)
    return {partition: tuple(losses) for partition, losses in found.items()}


def _cuts(case: Case) -> Iterable[tuple[Fault, set[str], set[str]]]:
    """Yield each such fault, the hosts that had lost data by then, and these with the hosts that were kept offline."""
    for cut in (fault for fault in case.faults if _forgets(case, fault)):
        standing = [one for one in case.faults if one.invoked <= cut.invoked <= (one.healed or case.record.ended)]
        lost = _hosts(fault for fault in standing if _forgets(case, fault))
        yield cut, lost, lost | _hosts(fault for fault in standing if _keeps_away(case, fault))


def _keeps_away(case: Case, fault: Fault) -> bool:
    """Return True if a fault keeps its brokers out of the ISR: a cut between brokers and probes alone does not."""
    steps = (entry.step for entry in case.plan.timeline if entry.name == fault.name)
    return fault.step in _AWAY and not any(_cuts_off_probes_alone(step) for step in steps)


def _cuts_off_probes_alone(step: Mapping[str, Any]) -> bool:
    sides = step.get("between")
    groups = [[side] if isinstance(side, str) else side for side in sides] if isinstance(sides, list) else []
    return any(isinstance(group, list) and all(_is_probe(name) for name in group) for group in groups)


def _is_probe(name: object) -> bool:
    return isinstance(name, str) and name.startswith("probe")


def _forgets(case: Case, fault: Fault) -> bool:
    hard = any(entry.step.get("how") == "hard" for entry in case.plan.timeline if entry.name == fault.name)
    return fault.step in FORGETTING and (fault.step != "reboot" or hard)


def _hosts(faults: Iterable[Fault]) -> set[str]:
    """Return the hosts in targets: ``host node1``, ``broker 0 on node1``."""
    return {words.rpartition(" ")[2] for fault in faults for words in fault.targets.split(", ")}
