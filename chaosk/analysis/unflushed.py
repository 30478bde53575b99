"""Partitions whose unflushed data was lost on all hosts at once, which excuses a loss.

Brokers acknowledge data in their page caches before it is on disk. So ``acks=all`` does not help if as many replicas of
a partition as ``min.insync.replicas`` lost their power (or their kernel, or their disk) at once, while other faults
kept all other replicas offline. An ISR that shrank for any other reason excuses nothing, nor do hosts without a
replica.
"""

from __future__ import annotations

from collections.abc import Iterable

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


def excused_partitions(case: Case, topic: str) -> frozenset[int]:
    """Return the partitions of a topic that lost unflushed data on all replicas; none with unknown replicas."""
    return frozenset(cut_power(case, topic))


def cut_power(case: Case, topic: str) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return these partitions with the times of each loss: from the invocation of the fault until its end."""
    found: dict[int, list[tuple[int, int]]] = {}
    for (name, partition), brokers in case.replicas.items():
        if name != topic or not brokers <= case.hosts.keys():
            continue
        at = [case.hosts[broker] for broker in brokers]
        for cut, lost, away in _cuts(case):
            least = min_isr(case, topic, TimeSpan("until then", 0, cut.invoked))
            if away.issuperset(at) and sum(host in lost for host in at) >= least:
                found.setdefault(partition, []).append((cut.invoked, cut.healed or case.record.ended))
    return {partition: tuple(spans) for partition, spans in found.items()}


def _cuts(case: Case) -> Iterable[tuple[Fault, set[str], set[str]]]:
    """Yield each such fault, the hosts that had lost data by then, and these with the hosts that were kept offline."""
    for cut in (fault for fault in case.faults if _forgets(case, fault)):
        standing = [one for one in case.faults if one.invoked <= cut.invoked <= (one.healed or case.record.ended)]
        lost = _hosts(fault for fault in standing if _forgets(case, fault))
        yield cut, lost, lost | _hosts(fault for fault in standing if fault.step in _AWAY)


def _forgets(case: Case, fault: Fault) -> bool:
    hard = any(entry.step.get("how") == "hard" for entry in case.plan.timeline if entry.name == fault.name)
    return fault.step in FORGETTING and (fault.step != "reboot" or hard)


def _hosts(faults: Iterable[Fault]) -> set[str]:
    """Return the hosts in targets: ``host node1``, ``broker 0 on node1``."""
    return {words.rpartition(" ")[2] for fault in faults for words in fault.targets.split(", ")}
