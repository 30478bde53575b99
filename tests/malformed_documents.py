"""A corpus of malformed scenario files, by the class of their mistake."""

from __future__ import annotations

from dataclasses import dataclass

from sample_documents import SCENARIO, spoil


@dataclass(frozen=True, slots=True)
class Malformed:
    """A file with one mistake, and where and how it must be reported."""

    kind: str
    """The class of the mistake."""
    document: bytes
    line: int
    path: str
    says: str
    """A part of the message."""


def _case(kind: str, old: str, new: str, path: str, says: str) -> Malformed:
    """The sample scenario with ``old`` replaced; the mistake is in the line where ``@`` stands in ``new``."""
    document = spoil(SCENARIO, old, new)
    line = document[: document.index("@")].count("\n") + 1
    return Malformed(kind, document.replace("@", "", 1).encode(), line, path, says)


def _raw(kind: str, document: bytes | str, line: int, says: str, path: str = "") -> Malformed:
    return Malformed(kind, document if isinstance(document, bytes) else document.encode(), line, path, says)


TARGET = 'kill_broker: {target: "leader(orders, 0)"}'
KILL = "timeline[0].kill_broker"
_WAIT = "      - wait: {duration: 1s}\n"

_SYNTAX = (
    _raw("syntax", "name: [a, b\n", 2, "not closed"),
    _raw("syntax", 'name: "abc\n', 2, "not closed"),
    _raw("syntax", "name: a: b\n", 1, "colon"),
    _raw("syntax", "name:\n\t- a\n", 2, "use spaces"),
    _raw("syntax", "name: @a\n", 1, "quote"),
    _raw("syntax", 'name: "\\q"\n', 1, "backslash"),
    _raw("syntax", "a: 1\n b: 2\n", 2, "indentation"),
    _raw("syntax", "- a\nb: 1\n", 2, "indentation"),
)
_EMPTY = (
    _raw("empty", b"", 1, "is empty"),
    _raw("empty", "# only a comment\n", 1, "is empty"),
    _raw("empty", "---\n...\n", 1, "is empty"),
    _raw("empty", "~\n", 1, "is empty"),
    _case("no value", "settle: 20s", "settle:@", "settle", "has no value"),
    _case("no value", "hold: 30s", "hold: @~", "variables.hold", "has no value"),
    _case("no value", TARGET, "kill_broker:@", KILL, "has no value"),
)
_ENCODING = (
    _raw("encoding", b"\xef\xbb\xbfname: a\n", 1, "byte order mark"),
    _raw("encoding", "name: a\n".encode("utf-16"), 1, "byte order mark"),
    _raw("encoding", b"name: a\nhypothesis: caf\xe9\n", 2, "not UTF-8"),
    _raw("encoding", b"name: a\x00b\n", 1, "U+0000"),
    _raw("encoding", b"name: a\x1b[31mb\n", 1, "U+001B"),
    _raw("encoding", b"name: a\x7fb\n", 1, "U+007F"),
    _raw("bidi", "name: a\nhypothesis: abc \u202e txet\n", 2, "U+202E RIGHT-TO-LEFT OVERRIDE"),
    _raw("bidi", "name: \u2066a\u2069\n", 1, "U+2066"),
    _raw("bidi", "name: a\u200bb\n", 1, "U+200B ZERO WIDTH SPACE"),
    _case("escaped control", "name: Kill the leader", 'name: @"a\\u202eb"', "name", "U+202E"),
    _case("escaped control", "name: Kill the leader", 'name: @"a\\0b"', "name", "U+0000"),
)
_SIZE = (
    _raw("size", b"name: " + b"a" * 1024 * 1024, 1, "1 MiB"),
    _raw("depth", "a: " + "[" * 40 + "]" * 40, 1, "nested deeper than 32"),
    _raw("depth", "".join(f"{' ' * level}a:\n" for level in range(40)), 33, "nested deeper than 32"),
    _raw("depth", "{" * 5000, 1, "nested deeper than 32"),
    _raw("depth", "? " * 200 + "a", 1, "nested deeper than 32"),
)
_YAML = (
    _case("duplicate key", "settle: 20s", "settle: 20s\n@settle: 30s", "settle", "twice, first in line 40"),
    _case("duplicate key", "count: 6", "count: 6\n  @hold: 1h", "variables.hold", "twice, first in line 5"),
    _case("duplicate key", "{entry: kill, is: healed", "{entry: kill, @entry: cut, is: healed",
          "timeline[2].after.entry", "twice"),
    _case("alias", "count: 6", "count: @&n 6", "variables.count", "anchors (&n)"),
    _case("alias", "at: 10s", "at: @*other", "timeline[0].at", "aliases (*other)"),
    _case("merge key", "count: 6", "count: 6\n  @<<: {a: 1}", "variables", "merge keys"),
    _case("tag", "count: 6", "count: @!!int 6", "variables.count", "tags"),
    _case("tag", "name: Kill the leader", "name: @!!python/object/apply:os.system [id]", "name", "tags"),
    _case("tag", "name: Kill the leader", "name: @! a", "name", "tags"),
    _raw("documents", "---\nname: a\n---\nname: b\n", 3, "second document"),
    _raw("documents", f"%YAML 1.1\n---\n{SCENARIO}", 1, "directives"),
    _case("key", "count: 6", "count: 6\n  @[a, b]: 1", "variables", "cannot be a key"),
    _case("key", "count: 6", "count: 6\n  @true: 1", "variables", "'true' as a key"),
    _case("key", "count: 6", "count: 6\n  @1.5: 1", "variables", "'1.5' as a key"),
)  # fmt: skip
_YAML_1_1 = (
    _case("octal", "replication_factor: 3", "replication_factor: @03", "topics.orders.replication_factor", "different"),
    _case("octal", "count: 6", "count: @0o6", "variables.count", "different"),
    _case("hexadecimal", "count: 6", "count: @0x6", "variables.count", "different"),
    _case("underscores", "count: 6", "count: @1_000", "variables.count", "different"),
    _case("sexagesimal", "at: 10s", "at: @22:30", "timeline[0].at", "'22:30' is not a duration"),
    _case("not finite", "replication_factor: 3", "replication_factor: @.inf", "topics.orders.replication_factor",
          "not a finite number"),
    _case("not finite", "count: 6", "count: @.nan", "variables.count", "not a finite number"),
    _case("not finite", "count: 6", "count: @1e999", "variables.count", "too large"),
    _case("huge", "count: 6", f"count: @{'9' * 5000}", "variables.count", "too large"),
    _case("word for a boolean", "commit: sync", "commit: @on", "probes.reader.consume.commit", "'on' is not one of"),
)  # fmt: skip
_UNKNOWN = (
    _case("unknown key", "settle: 20s", "@setle: 20s", "setle", "did you mean 'settle'?"),
    _case("unknown key", "partitions: ${count}", "partitions: ${count}\n    @replicas: 3", "topics.orders.replicas",
          "write one of config, partitions, replication_factor"),
    _case("unknown key", TARGET, 'kill_broker: {@taget: "leader(orders, 0)", target: brokers}', f"{KILL}.taget",
          "did you mean 'target'?"),
    _case("unknown step", TARGET, "@kil_broker: {target: brokers}", "timeline[0].kil_broker",
          "did you mean 'kill_broker'?"),
    _case("unknown probe", "produce: {topic: orders, rate: 500/s, config: {acks: all}}", "@producer: {topic: orders}",
          "probes.writer.producer", "did you mean 'produce'?"),
    _case("unknown metric", "recovery: 30s", "@recover: 30s", "expect.recover", "did you mean 'recovery'?"),
    _case("unknown target", "leader(orders, 0)", "@leadr(orders, 0)", f"{KILL}.target", "did you mean 'leader'?"),
    _case("unknown condition", "isr_full(orders)", "@isr_ful(orders)", "timeline[1].when", "did you mean 'isr_full'?"),
)  # fmt: skip
_TYPES = (
    _case("type", "name: Kill the leader", "name: @5", "name", "must be text, not the number 5; write it in quotes"),
    _case("type", "covers: [C2]", "covers: @C2", "covers", "must be a list, not 'C2'; write [C2]"),
    _case("type", "replication_factor: 3", "replication_factor: @'3'", "topics.orders.replication_factor",
          "write 3, without quotes"),
    _case("type", "replication_factor: 3", "replication_factor: @1.5", "topics.orders.replication_factor",
          "must be a whole number"),
    _case("type", TARGET, "kill_broker: @leader(orders)", KILL, "must be a mapping"),
    _case("type", "  - when: isr_full(orders)\n    timeout: 60s\n", "  - @hello\n  - ", "timeline[1]",
          "must be a mapping"),
    _case("type", "min.insync.replicas: 2", "min.insync.replicas: @[2]", "topics.orders.config.min.insync.replicas",
          "must be a single value, not a list"),
    _raw("type", "just text\n", 1, "must be a mapping"),
    _raw("type", "- a\n- b\n", 1, "must be a mapping"),
)  # fmt: skip
_RANGE = (
    _case("range", "replication_factor: 3", "replication_factor: @0", "topics.orders.replication_factor",
          "too small; write at least 1"),
    _case("range", "replication_factor: 3", "replication_factor: @-1", "topics.orders.replication_factor",
          "at least 1"),
    _case("range", "name: Kill the leader", f"name: @{'x' * 200}", "name", "too long"),
    _case("range", "name: Kill the leader", "name: @''", "name", "too short"),
    _case("range", "replication_factor: 3", "replication_factor: @5", "topics.orders.replication_factor",
          "on at most 3 brokers"),
    _case("range", "min.insync.replicas: 2", "min.insync.replicas: @4", "topics.orders.config.min.insync.replicas",
          "more than the replication_factor 3"),
)  # fmt: skip
_DURATIONS = tuple(
    _case("duration", "settle: 20s", f"settle: @{text}", "settle", says)
    for text, says in (
        ("20", "20 is not a duration; write a number and a unit"),
        ("-5s", "'-5s' is not a duration"),
        ("20 s", "'20 s' is not a duration"),
        ("20S", "'20S' is not a duration"),
        ("s", "'s' is not a duration"),
        ("1d", "'1d' is not a duration"),
        ("1m30s", "'1m30s' is not a duration"),
        ("2000h", "longer than 1000h"),
        (".5s", "'.5s' is not a duration"),
        ("1e3s", "'1e3s' is not a duration"),
        ("'٣s'", "is not a duration"),
    )
)
_MISSING = (
    _case("missing", "name: Kill the leader\n", "@", "", "'name' is missing; add `name:`"),
    _case("missing", "name: Kill the leader\nhypothesis: Nothing acknowledged is lost.", "@name: a", "",
          "'hypothesis' is missing"),
    _case("missing", TARGET, "kill_broker: @{}", KILL, "'target' is missing"),
    _case("missing", '- name: kill\n    at: 10s\n    kill_broker: {target: "leader(orders, 0)"}\n',
          "- @name: kill\n    at: 10s\n", "timeline[0]", "names no step"),
    _case("missing", "produce: {topic: orders, rate: 500/s, config: {acks: all}}", "@{}", "probes.writer",
          "names no kind of probe"),
    _case("missing", "{min: 1s, max: 20s, during: kill}", "@{during: kill}", "expect.unavailability.writer",
          "bounds nothing; add max"),
)  # fmt: skip
_REFERENCES = (
    _case("reference", "consume: {topic: orders", "consume: {topic: @order", "probes.reader.consume.topic",
          "no topic 'order'; did you mean 'orders'?"),
    _case("reference", "leader(orders, 0)", "@leader(order, 0)", f"{KILL}.target", "no topic 'order'"),
    _case("reference", "leader(orders, 0)", "@leader(orders, 6)", f"{KILL}.target", "it has partitions 0 to 5"),
    _case("reference", "leader(orders, 0)", "@random(1, leader(orders, 6))", f"{KILL}.target", "no partition 6"),
    _case("reference", "leader(orders, 0)", "@coordinator(reader)", f"{KILL}.target", "did you mean 'readers'?"),
    _case("reference", "elect_leader: {topic: orders", "elect_leader: {topic: @odrers",
          "timeline[1].elect_leader.topic", "did you mean 'orders'?"),
    _case("reference", "isr_full(orders)", "@isr_full(order)", "timeline[1].when", "no topic 'order'"),
    _case("reference", "isr_full(orders)", "@caught_up(raeder)", "timeline[1].when", "did you mean 'reader'?"),
    _case("reference", "isr_full(orders)", "@all(isr_full(orders), not(isr_full(order)))", "timeline[1].when",
          "no topic 'order'"),
    _case("unknown condition", "isr_full(orders)", "@not(isr_full(orders), isr_ful(orders))", "timeline[1].when",
          "one argument too many; write not(CONDITION)"),
    _case("unknown condition", "isr_full(orders)", "@any(isr_full(orders), not(isr_ful(orders)))", "timeline[1].when",
          "column 27: there is no condition 'isr_ful'; did you mean 'isr_full'?"),
    _case("reference", "{entry: kill,", "{entry: @kil,", "timeline[2].after.entry", "did you mean 'kill'?"),
    _case("reference", "    writer: {min", "    @wrter: {min", "expect.unavailability.wrter", "no probe 'wrter'"),
    _case("reference", "during: kill", "during: @kil", "expect.unavailability.writer.during", "no window 'kil'"),
    _case("reference", "recovery: 30s", "recovery: {max: 30s, of: [kill, @kil]}", "expect.recovery.of[1]",
          "there is no fault 'kil' to measure the recovery of; did you mean 'kill'?"),
    _case("type", "recovery: 30s", "recovery: {max: 30s, of: @kill}", "expect.recovery.of", "must be a list of faults"),
    _case("type", "recovery: 30s", "recovery: {max: 30s, or: @void}", "expect.recovery.or", "write or: inconclusive"),
    _case("reference", "[broker 1, [broker 2, broker 0]]", "[broker 1, [@probe raeder]]",
          "timeline[2].cut_network.between[1][0]", "no probe 'raeder'"),
    _case("cycle", "{entry: kill,", "{entry: @cut,", "timeline[2].after.entry", "only wait for one above"),
    _case("name twice", "name: cut", "name: @kill", "timeline[2].name", "called 'kill', too"),
    _case("name twice", "name: cut", "name: @elect_leader-2", "timeline[2].name", "called 'elect_leader-2', too"),
    _case("name taken", "name: cut", "name: @run", "timeline[2].name", "the name of a window"),
)  # fmt: skip
_AGAIN, _NEXT = "timeline[3].entries[0]", "timeline[3].entries[1]"
_AFTER = "after: {entry: again, is: healed}"
_ROUNDS = (
    _case("rounds", "repeat: 2", "repeat: @0", "timeline[3].repeat", "too small; write at least 1"),
    _case("rounds", "repeat: 2", "repeat: @201", "timeline[3].repeat", "too large; write at most 200"),
    _case("rounds", "repeat: 2", "repeat: @true", "timeline[3].repeat", "must be a whole number"),
    _case("rounds", "repeat: 2\n    entries:\n", f"repeat: @125\n    entries:\n{2 * _WAIT}", "timeline[3].repeat",
          "has 503 entries; write fewer rounds, for 500"),
    _case("rounds", "repeat: 2\n    entries:\n", "@entries:\n", "timeline[3]", "`entries` without `repeat`"),
    _case("rounds", "  - repeat: 2\n", "  - @repeat: 2\n  - repeat: 2\n", "timeline[3]", "`repeat` without `entries`"),
    _case("rounds", "repeat: 2", "repeat: 2\n    @at: 5s", "timeline[3].at", "begins when the entry above it is done"),
    _case("rounds", "repeat: 2", "repeat: 2\n    @for: 5s", "timeline[3].for", "`for` is of one entry"),
    _case("rounds", "repeat: 2", "repeat: 2\n    @wait: {duration: 1s}", "timeline[3].wait", "`wait` is of one entry"),
    _case("rounds", "repeat: 2", "repeat: 2\n    @until: 2", "timeline[3].until", "there is no 'until' here"),
    _case("rounds", "    entries:\n", "    entries:\n      - @repeat: 3\n        entries: [{wait: {duration: 1s}}]\n",
          _AGAIN, "a `repeat` inside another"),
    _case("rounds", "name: again", "name: again\n        @at: 5s", f"{_AGAIN}.at", "the same moment"),
    _case("rounds", "not(broker_up(9))", "@isr_full(order)", f"{_AGAIN}.when", "no topic 'order'"),
    _case("rounds", "pause_broker:", "@puase_broker:", f"{_AGAIN}.puase_broker", "did you mean 'pause_"),
    _case("rounds", "{entry: again", "{entry: @agian", f"{_NEXT}.after.entry", "did you mean 'again'?"),
    _case("rounds", "{entry: again", "{entry: @again-1", f"{_NEXT}.after.entry", "again is not in this round"),
    _case("rounds", "{entry: again", "{entry: @kill", f"{_NEXT}.after.entry", "kill is not in this round"),
    _case("rounds", "{entry: again", "{entry: @wait-4.2", f"{_NEXT}.after.entry", "only wait for one above"),
    _case("rounds", "        for: 1s\n      - after: {", "      - after: {@", f"{_NEXT}.after.entry",
          "again is not healed before the timeline ends"),
    _case("rounds", "{entry: kill,", "{entry: @again,", "timeline[2].after.entry", "no entry 'again' above this one"),
    _case("rounds", "during: kill", "during: @agian", "expect.unavailability.writer.during", "did you mean 'again'?"),
    _case("rounds", "during: kill", "during: @again-3", "expect.unavailability.writer.during", "did you mean 'again'?"),
    _case("rounds", "recovery: 30s", "recovery: {@again-3: 30s}", "expect.recovery.again-3", "did you mean 'again'?"),
    _case("name twice", _AFTER, "name: @again", f"{_NEXT}.name", "timeline[3].entries[0] is called 'again', too"),
    _case("name twice", _AFTER, "name: @again-2", f"{_NEXT}.name", "timeline[3].entries[0] is called 'again-2', too"),
    _case("name twice", _AFTER, "name: @cut", f"{_NEXT}.name", "timeline[2] is called 'cut', too"),
    _case("name taken", _AFTER, "name: @run", f"{_NEXT}.name", "the name of a window"),
    _case("name too long", _AFTER, f"name: @{'x' * 61}", f"{_NEXT}.name", "at most 60 characters"),
)  # fmt: skip
_LATE = (
    _case("never started", "commit: sync", "commit: sync, started_by: @step", "probes.reader.consume.started_by",
          "nothing starts it; write `start_probe: {probe: reader}`"),
    _case("never started", "acks: all}}", "acks: all}, started_by: @later}", "probes.writer.produce.started_by",
          "'later' is not one of the choices"),
)  # fmt: skip
_EXCLUDED = (
    _case("excluded", "at: 10s", "at: 10s\n    @timeout: 5s", "timeline[0].timeout", "limits `when`"),
    _case("excluded", "    timeout: 60s", "    timeout: 60s\n    @for: 5s", "timeline[1].for",
          "elect_leader leaves nothing"),
    _case("excluded", "    after: {entry", "    at: 5s\n    @after: {entry", "timeline[2].after", "`at` and `after`"),
    _case("excluded", "    for: ${hold}", "    for: ${hold}\n    @stop_broker: {target: brokers}",
          "timeline[0].stop_broker",
          "kill_broker and stop_broker in one mapping"),
    _case("excluded", "{min: 1s, max: 20s", "@{min: 30s, max: 20s", "expect.unavailability.writer",
          "min is more than max"),
)  # fmt: skip
_EXPRESSIONS = tuple(
    _case("expression", "leader(orders, 0)", f"@{text}", f"{KILL}.target", says)
    for text, says in (
        ("leader(orders, 0", "not closed"),
        ("leader(orders)", "'partition' is missing; write leader(TOPIC, PARTITION)"),
        ("leader(orders, 0, 1)", "one argument too many"),
        ("leader(orders, x)", "must be a whole number"),
        ("leader(orders, -1)", "too small; write at least 0"),
        ("leader(orders,, 0)", "an argument is missing"),
        ("leader(orders, 0) x", "unexpected text"),
        ("broker", "'id' is missing"),
        ("broker 1 2", "write arguments as broker(a, b)"),
        ("", "expected the name of a target"),
        ("; rm -rf /", "expected the name of a target"),
        ("$(id)", "expected the name of a target"),
        ("random(1, leadr(orders, 0))", "column 11: there is no target 'leadr'"),
        ("random" + "(1, random" * 20 + "(1)" + ")" * 20, "nested deeper"),
    )
)
_VARIABLES = (
    _case("variable", "for: ${hold}", "for: @${hodl}", "timeline[0].for", "did you mean 'hold'?"),
    _case("variable", "count: 6", "count: 6\n  @other: 7", "variables.other", "never used"),
    _case("variable", "count: 6", "count: @${hold}", "variables.count", "cannot use another"),
    _case("variable", "count: 6", "count: @[6]", "variables.count", "a single value"),
    _case("variable", "settle: 20s", "settle: @${count}", "settle", "(${count} is 6 by default)"),
)
_VARIANTS = (
    _case("variants", "count: 6", "count: 6\nvariants: @{}", "variants", "too short; write at least 1"),
    _case("variants", "count: 6", "count: 6\nvariants: @[a]", "variants", "must be a mapping"),
    _case("variants", "count: 6", "count: 6\nvariants: {a: {hold: @[5s]}, b: {}}", "variants.a.hold", "a single value"),
    _case("variants", "count: 6", "count: 6\nvariants: {@A b: {}}", "variants.A b", "write a name of lower-case"),
    _case("matrix", "count: 6", "count: 6\nmatrix: @{}", "matrix", "too short; write at least 1"),
    _case("matrix", "count: 6", "count: 6\nmatrix: {hold: @[]}", "matrix.hold", "too short; write at least 1"),
    _case("matrix", "count: 6", "count: 6\nmatrix: {hold: @5s}", "matrix.hold", "must be a list, not '5s'; write [5s]"),
    _case("matrix", "count: 6", "count: 6\nmatrix: {hold: [@[5s]]}", "matrix.hold[0]", "a single value"),
    _case("both", "count: 6", "count: 6\nvariants: {a: {}}\n@matrix: {hold: [5s]}", "matrix", "keep one of them"),
    _case(
        "in a variant",
        "count: 6",
        "count: 6\nvariants: {a: {@hodl: 5s}, b: {}}",
        "variants.a.hodl",
        "did you mean 'hold'?",
    ),
    _case(
        "in a variant",
        "count: 6",
        "count: 6\nvariants: {a: {hold: '@${count}'}, b: {}}",
        "variants.a.hold",
        "cannot use another",
    ),
    _case(
        "in a variant",
        "count: 6",
        "count: 6\nvariants: {a: {hold: 5s}, @b: {hold: 5s}}",
        "variants.b",
        "does the same as 'a'",
    ),
    _case("in a variant", "count: 6", "count: 6\nmatrix: {hold: [5s, @5s]}", "matrix.hold[1]", "is here twice"),
    _case(
        "in a variant",
        "count: 6",
        f"count: 6\n@matrix: {{count: [{', '.join(map(str, range(1, 52)))}]}}",
        "matrix",
        "more than 50 variants",
    ),
    _case("in a variant", "topics:\n  orders:\n    partitions: ${count}",
          "variants: {a: {hold: 5s}, b: {count: 0}}\ntopics:\n  orders:\n    partitions: @${count}",
          "topics.orders.partitions", "(${count} is 0) (in variant `b`)"),
)  # fmt: skip
_SECRETS = (
    _case("secret", "config: {acks: all}", "config: {acks: all, sasl.password: @hunter2}",
          "probes.writer.produce.config.sasl.password", "a secret must not be in a file"),
)  # fmt: skip

CORPUS = (
    *_SYNTAX, *_EMPTY, *_ENCODING, *_SIZE, *_YAML, *_YAML_1_1, *_UNKNOWN, *_TYPES, *_RANGE, *_DURATIONS, *_MISSING,
    *_REFERENCES, *_ROUNDS, *_LATE, *_EXCLUDED, *_EXPRESSIONS, *_VARIABLES, *_VARIANTS, *_SECRETS,
)  # fmt: skip
