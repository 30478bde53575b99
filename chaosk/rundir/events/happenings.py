"""Tables of the run's own actions, and of the clocks that time them."""

from __future__ import annotations

from chaosk.rundir.events.table import table

FAULTS = table(
    "faults",
    "[FT] one row per timeline entry that acted, written when it was done",
    ("fault", "string", "the entry's name in the plan"),
    ("step", "string", "the step"),
    ("targets", "string", "the resolved targets, like `broker 2 on node3`"),
    ("invoked", "time", "when injecting began"),
    ("applied", "time", "since when it was in place, as was verified then; empty if it was not", True),
    ("heal_invoked", "time", "when undoing began; empty if it has no undo", True),
    ("healed", "time", "when the undo was verified; empty if never", True),
    ("took", "bool", "whether the effect was verified after injecting and still before undoing"),
    ("undone", "bool", "whether the undo was verified, or there is none"),
    ("why", "string", "what was seen, when it did not take or was not undone", True),
)
PHASES = table(
    "phases",
    "one row per phase of the run",
    ("phase", "string", "warm_up, baseline, timeline, heal, settle, drain, whole, audit or markers"),
    ("began", "time", "when"),
    ("ended", "time", "when; empty if the run was cut short", True),
)
CLOCKS = table(
    "clocks",
    "monotonic and wall clock of chaosk's machine, once a second",
    ("monotonic", "time", "nanoseconds"),
    ("wall", "long", "nanoseconds since 1970, UTC"),
)
REMAKINGS = table(
    "remakings",
    "one row per topic that was deleted and made again, which ends one topic of that name and begins another",
    ("topic", "string", "topic"),
    ("gone", "time", "when no broker knew it any more"),
    (
        "made",
        "time",
        "when the controller was asked to make it again; earlier answers concern the old topic",
    ),
)
HOST_CLOCKS = table(
    "host_clocks",
    "one four-timestamp comparison of a host's wall clock with this machine's",
    ("host", "string", "host"),
    ("at", "time", "when"),
    ("offset", "long", "host minus this machine, nanoseconds"),
    ("error", "long", "bound of that offset's error: half the round trip, nanoseconds"),
)
DECISIONS = table(
    "decisions",
    "one row per decision or note of an operator who is asked before each step",
    ("at", "time", "when"),
    ("wall", "long", "the wall clock then, nanoseconds since 1970, UTC"),
    ("who", "string", "the operator"),
    ("what", "string", "go, skip, note, stop (heal and stop), unanswered (so it was stopped), lost (the connection)"),
    ("entry", "string", "the timeline entry that was asked about", True),
    ("text", "string", "the note, or what else there is to say", True),
)

TABLES = (FAULTS, PHASES, CLOCKS, REMAKINGS, HOST_CLOCKS, DECISIONS)
