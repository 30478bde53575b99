"""The experiments that operators did by hand, and the kinds of those beyond, by the ids of ``covers``."""

from __future__ import annotations

EXPERIMENTS = {
    "A1": "the only broker stops and comes back",
    "B1": "the ZooKeeper leader stops and comes back",
    "B2": "ZooKeeper nodes are restarted one by one",
    "B3": "the whole ZooKeeper ensemble stops and comes back",
    "B4": "ZooKeeper loses its quorum",
    "C1": "leader, replicas and ISR of each partition, before, during and after",
    "C2": "a leader is killed under a producer",
    "C3": "the killed broker returns, leadership does not",
    "C4": "a preferred election; a producer with and without retries",
    "C5": "automatic return of leadership",
    "C6": "a broker is killed under producer and consumer",
    "C7": "a restart and an election under a consumer group",
    "C8": "a consumer with assigned partitions: its committed records",
    "C9": "a consumer is killed between two automatic commits: records read again",
    "C10": "a broker advertises a name that clients cannot resolve",
    "C11": "a broker started over SSH outlives the session",
    "D1": "a message that always fails is committed past",
    "D2": "a failure is swallowed and not committed",
    "D3": "a dead-letter topic; seeking back and retrying",
    "D4": "the stages of joining a group",
    "E1": "a consumer's connections over its life",
    "E2": "many clients are restarted at once",
    "E3": "health checks, and a storm of them",
    "E4": "a broker comes back under another address",
    "F1": "log start, high watermark, last stable offset and end over time",
    "F2": "markers of transactions take offsets",
    "F3": "readers of committed and of uncommitted transactions",
    "F4": "consume, transform, produce exactly once under kills",
    "F5": "two processes with one transactional.id",
    "F6": "an application that keeps its offsets in a topic",
    "F7": "a group's coordinator dies and returns",
    "F8": "the cost of a rebalance: eager, cooperative, static",
    "F9": "processing takes longer than max.poll.interval.ms",
    "G1": "two of three hosts cut off, then clients start; min.insync.replicas 2",
    "G2": "the same with min.insync.replicas 1",
    "G3": "one host cut off, the client restarted: which calls hang",
    "G4": "brokers killed and started in quick succession",
    "G5": "kill and cut, running and restarted clients: fifteen cells",
    "G6": "a client restarted right after a cut",
    "G7": "healed, against healed and restarted",
    "G8": "log directories of another owner",
    "G9": "a broker cut from ZooKeeper only, or from clients only",
}
"""Titles of the experiments, by id."""

GROUPS = {"A": "One broker stops and comes back", "B": "ZooKeeper", "C": "Two brokers: leaders, elections, commits",
          "D": "Commits of a consumer", "E": "Connections", "F": "Offsets, transactions, exactly once",
          "G": "Network cut against process kill"}  # fmt: skip
"""Titles of the groups of experiments, by letter."""

KINDS = {
    "faults": {
        "H/pause": "leader, controller or coordinator frozen",
        "H/several": "several or all nodes killed, stopped or cut off at once",
        "H/one-way-cut": "a cut in one direction",
        "H/listener-cut": "a cut of one listener",
        "H/group-cut": "a cut between any two groups",
        "H/two-leaders": "a deposed leader that still serves",
        "H/reset": "open connections reset",
        "H/bad-line": "packet loss, delay, low bandwidth",
        "H/full-disk": "a full disk",
        "H/slow-disk": "a slow disk",
        "H/failed-disk": "a failed disk",
        "H/read-only-disk": "a disk that accepts no new files",
        "H/wiped-disk": "a wiped disk",
        "H/corrupted-log": "a corrupted log",
        "H/one-log-directory": "one log directory of several lost",
        "H/owner": "files of another owner",
        "H/process-restart": "a process restarted",
        "H/machine-restart": "a machine restarted, or its power cut",
        "H/memory": "processor time or memory taken, up to a kill by the kernel",
        "H/clock": "a wrong clock",
        "H/rolling-restart": "rolling restarts in the right and the wrong order",
        "H/certificates-and-rights": "certificates and rights changed under the clients",
        "H/name-resolution": "name resolution that fails or returns wrong addresses",
    },
    "operations": {
        "H/reassignment": "replicas moved under load",
        "H/reassignment-cancelled": "a reassignment cancelled",
        "H/broker-replaced": "a broker decommissioned, and one added",
        "H/topic-made-again": "a topic deleted and created again",
        "H/partitions-added": "partitions added",
        "H/settings-changed": "settings changed under load",
        "H/quotas-changed": "quotas changed under load",
        "H/retention": "retention and compaction overtaking readers",
        "H/preferred-election": "a preferred election",
        "H/unclean-election": "an unclean election",
        "H/leadership-moved": "leadership moved on purpose",
        "H/versions-rolled": "a rolling upgrade or downgrade",
    },
    "clients": {
        "H/client-frozen": "a client frozen",
        "H/client-killed": "a client killed",
        "H/client-closed-in-a-cut": "a client closed while its broker is cut off",
        "H/transactional-id-taken": "a transactional id taken over",
        "H/static-member-twice": "a static member joined twice",
        "H/worst-moment": "clients started at the worst moment",
        "H/connection-storm": "a storm of connections",
    },
    "roles": {
        "H/roles-placed": "leaders placed on chosen nodes before the fault",
        "H/roles-apart": "leader, controller and coordinator on different nodes",
        "H/roles-together": "several roles on one node",
        "H/role-targets": "a target by its role",
        "H/transaction-coordinator": "a transaction coordinator as target",
        "H/set-targets": "followers, replicas, in-sync replicas, all nodes as target",
        "H/voters": "voters of a controller quorum as target",
        "H/rack": "a rack as target",
        "H/minority": "a random minority as target",
    },
    "shapes": {
        "H/overlap": "overlapping faults",
        "H/nested": "one fault during another",
        "H/chase": "the new leader hit as soon as it appears",
        "H/progress-trigger": "a step triggered by progress",
        "H/state-trigger": "a step triggered by the cluster's state",
        "H/rounds": "rounds with a check of recovery in each",
        "H/random-sequence": "a random sequence from a seed",
        "H/crossed": "one fault crossed with several settings",
    },
    "pass-rules": {
        "H/progress-during-the-fault": "progress required during the fault",
        "H/range-of-losses": "losses or duplicates within a range",
        "H/did-not-happen": "an event that did not happen",
        "H/exactly-this-error": "exactly the named errors",
        "H/lower-bound-of-time": "a minimum duration",
        "H/time-to-start-and-close": "the time that clients take to start and to close",
        "H/equal-replicas": "equal replicas at the end",
        "H/sums": "sums over several topics",
    },
    "kraft": {"H/kraft": "the same with a controller quorum"},
}
"""Titles of the further kinds, by group and id."""

KNOWN = EXPERIMENTS | {one: says for kinds in KINDS.values() for one, says in kinds.items()}
"""Every id that a scenario of this repository can name in ``covers``; those of others have ids of their own."""


def page_of(one: str) -> str:
    """Where the text about an experiment is, as a link from ``docs/experiments/``."""
    for group, kinds in KINDS.items():
        if one in kinds:
            return f"H-{group}.md#{one.replace('/', '').lower()}"
    return f"{one}.md"
