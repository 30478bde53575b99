"""Malformed scenarios and inventories by the hundred: places of a right document times what is wrong in each of them.

``malformed_documents`` has the cases whose message is known word by word; these are many, and of each it is known where
it is wrong, and that it must be refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from malformed_bytes import RAW, bombs
from sample_documents import INVENTORY, SCENARIO, spoil

Kind = Literal["scenario", "inventory"]
DOCUMENTS: dict[Kind, str] = {"scenario": SCENARIO, "inventory": INVENTORY}


@dataclass(frozen=True, slots=True)
class Bad:
    """A document that must be refused."""

    kind: Kind
    family: str
    """The class of its mistake."""
    document: bytes
    lines: range
    """Where the mistake may be reported, from 1."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value in one of the documents."""

    kind: Kind
    old: str
    """A text that is in the document once."""
    new: str
    """The same with ``@`` where the value goes."""

    def bad(self, family: str, value: str) -> Bad:
        """The document with another value there."""
        document = spoil(DOCUMENTS[self.kind], self.old, self.new.replace("@", f"\0{value}"))
        line = document[: document.index("\0")].count("\n") + 1
        # a flow collection that is broken off is noticed where it should have gone on
        last = document.count("\n") + 2 if "@:" in self.new else line + 2  # a key is also missed where it is named
        return Bad(self.kind, family, document.replace("\0", "").encode(), range(line, last))


def _slots(kind: Kind, *places: tuple[str, str]) -> tuple[Slot, ...]:
    return tuple(Slot(kind, old, new) for old, new in places)


DURATIONS = _slots(
    "scenario", ("baseline: 5s", "baseline: @"), ("settle: 20s", "settle: @"), ("at: 10s", "at: @"),
    ("timeout: 60s", "timeout: @"), ("delay: 2s", "delay: @"), ("for: 5s", "for: @"), ("recovery: 30s", "recovery: @"),
    ("{min: 1s,", "{min: @,"),
) + _slots("inventory", ("name: staging\n", "name: staging\nlongest_lease: @\n"))  # fmt: skip
NUMBERS = _slots(
    "scenario", ("replication_factor: 3", "replication_factor: @"), ("brokers: 3", "brokers: @"),
    ("lost_records: 0", "lost_records: @"), ("repeat: 2", "repeat: @"),
) + _slots(
    "inventory", ("example.com, port: 9092}\n  1", "example.com, port: @}\n  1"), ("port: 9093", "port: @"),
    ("address: 192.0.2.11,", "address: 192.0.2.11, port: @,"),
    ("zookeeper.service}", "zookeeper.service}, client_port: @"),
)  # fmt: skip
NAMES = _slots(
    "scenario", ("name: cut\n", "name: @\n"), ("topic: orders, rate", "topic: @, rate"), ("{entry: kill", "{entry: @"),
    ('"leader(orders, 0)"', "@"), ("isr_full(orders)", "@"), ("broker 1,", "@,"),
    ("election: preferred", "election: @"),
    ("  writer:\n    produce", "  @:\n    produce"), ("  orders:\n", "  @:\n"), ("during: kill", "during: @"),
    ("name: again\n", "name: @\n"),
) + _slots(
    "inventory", ("name: staging", "name: @"), ("  node1: {", "  @: {"), ("{host: node1", "{host: @"),
    ("address: 192.0.2.11", "address: @"), ("zookeeper.service", "@"), ("pid_file: /run/kafka.pid", "pid_file: @"),
    ("address: kafka1.example.com", "address: @"), ("  0:\n", "  @:\n"),
    ("name: staging\n", "name: staging\nnetwork_namespace: @\n"),
)  # fmt: skip
VARIED = _slots(
    "scenario", ("count: 6\n", "count: 6\nvariants: {a: {hold: @}, b: {}}\n"),
    ("count: 6\n", "count: 6\nmatrix: {hold: [5s, @]}\n"),
)  # fmt: skip
BLOCKS = _slots("scenario", ("count: 6\n", "count: 6\nvariants: @\n"), ("count: 6\n", "count: 6\nmatrix: @\n"))
MANY = ", ".join(map(str, range(1, 52)))
"""Numbers of a matrix with one variant too many."""
ANY = (*DURATIONS[:3], *NUMBERS, *NAMES[:5], *NAMES[11:16])

VALUES: tuple[tuple[str, tuple[Slot, ...], tuple[str, ...]], ...] = (
    ("duration", DURATIONS, ("20", "'20'", "20 s", "20S", "s", "1d", "1m30s", ".5s", "1e3s", "1_0s", "0x5s", "'٣s'")),
    ("negative or infinite", DURATIONS, ("-5s", "-0.1s", ".inf", "-.inf", ".nan", "inf", "infs", "nans", "2000h")),
    ("wrong type", DURATIONS + NUMBERS, ("true", "[5s]", "{a: 5s}", "2020-01-01", "null", "", "[]", "{}")),
    ("number", NUMBERS, ("-1", "1.5", "'3'", "three", "1e2", "100000000000000000000")),
    ("YAML 1.1", NUMBERS, ("03", "0x3", "0o3", "0b11", "1_000", "+.inf", "1:30", "yes", "off", "1.")),
    ("shell", NAMES, ("'$(touch canary)'", "'`touch canary`'", "'a; touch canary'", "'a|b'", "'a>b'", '"a\\nb"', "'*'",
                      "\"a'b\"", "'a\"b'")),
    ("options", NAMES, ("'-j ACCEPT'", "'--help'", "'-'", "'-F'")),
    ("path traversal", NAMES, ("../../etc/passwd", "'..'", "'./a/../b'", "a/../../b", '"a\\x00b"')),
    ("template", NAMES, ("'{{ 7 * 7 }}'", "'{% raw %}'", "'${7*7}'", "'%s%n'")),
    ("markup", NAMES, ("'<script>alert(1)</script>'", "'&lt;'")),
    ("too long", NAMES, ("a" * 300, "a" * 20_000)),
    ("python tag", ANY, ("!!python/object/apply:os.system [id]", "!!python/name:os.system x", "!!python/module:os x")),
    ("other tag", ANY, ("!!binary aGk=", "!Ref x", "!!timestamp 2020-01-01", "!<tag:yaml.org,2002:int> 1", "! 1")),
    ("anchor", ANY, ("&a x", "*a", "&a [*a]")),
    ("control character", ANY, ('"a\\x00"', '"a\\x1b[31m"', '"\\u202ea"', '"a\\u200bb"', '"\\uFEFFa"')),
    ("variant", VARIED, ("'${count}'", "[9s]", "{a: 5s}", "null", "05", "!!str 5s", "*a", '"\\u200b"', "a" * 201)),
    ("variants", BLOCKS, ("{}", "[]", "5", "word", "", "[5s]", "{a: 5s}", "{hold: [], count: 5}", "{a: {hodl: 5s}}",
                          "{hodl: [5s]}", "{hold: {a: 5s}}", "{a: {hold: [5s]}}", "{1.5: {}}", "{hold: [{}]}",
                          "{A b: {}}", "{a: {}, b: {}}", "{hold: [5s, 5s]}", f"{{count: [{MANY}]}}")),
    ("list for a value", NAMES[:5] + NAMES[11:15], ("[[a]]", "{a: {b: c}}")),
)  # fmt: skip
"""Class of the mistake, the places it is made in, and the values."""


def _in_slots() -> Iterator[Bad]:
    for family, slots, values in VALUES:
        for slot, value in product(slots, values):
            if (slot.old, value) not in RIGHT:
                yield slot.bad(family, value)


RIGHT = {("brokers: 3", "{}"), ("recovery: 30s", "[5s]")}
"""What is right there, so no mistake: a size whose bounds have defaults, a list of bounds."""


def _lines(kind: Kind) -> Iterator[Bad]:
    """Each line of the document twice, misspelt, taken out, after a tab and cut short, wherever that is a mistake."""
    lines = DOCUMENTS[kind].splitlines(keepends=True)
    for at, line in enumerate(lines):
        key = line.strip().removeprefix("- ").partition(":")[0]
        before, after = "".join(lines[:at]), "".join(lines[at + 1 :])
        inner = len(lines[at + 1 :]) and lines[at + 1].startswith(" " * (len(line) - len(line.lstrip()) + 1))
        around = range(1, len(lines) + 3)
        if not inner and not line.strip().startswith("-"):
            yield Bad(kind, "duplicate key", (before + line + line + after).encode(), range(at + 2, at + 3))
        if key in KEYS:
            misspelt = line.replace(key, f"{key}x", 1)
            yield Bad(kind, "unknown key", (before + misspelt + after).encode(), around)
        if key in NEEDED[kind] and not inner:
            yield Bad(kind, "missing", (before + after).encode(), around)
        yield Bad(kind, "tab", (before + "\t" + line + after).encode(), around)
        yield Bad(kind, "cut short", (before + line.rstrip()[: len(line.rstrip()) // 2] + "\n\0").encode(), around)


KEYS = {
    "name", "hypothesis", "covers", "variables", "cluster", "topics", "probes", "baseline", "timeline", "settle", "at",
    "expect", "partitions", "replication_factor", "config", "produce", "consume", "kill_broker", "elect_leader", "when",
    "timeout", "after", "cut_network", "recovery", "lost_records", "rate", "hosts", "brokers", "zookeepers", "client",
    "host", "service", "start", "stop", "pid_file", "listeners", "repeat", "entries",
}  # fmt: skip
NEEDED: dict[Kind, frozenset[str]] = {
    "scenario": frozenset({"name", "hypothesis", "produce", "kill_broker", "elect_leader", "repeat"}),
    "inventory": frozenset({"name", "host", "start", "stop", "pid_file"}),
}


def families() -> tuple[Bad, ...]:
    """Every case, each document once."""
    every: dict[tuple[Kind, bytes], Bad] = {}
    kinds: tuple[Kind, ...] = ("scenario", "inventory")
    cases = [*_in_slots(), *(bad for kind in kinds for bad in _lines(kind))]
    for kind in kinds:
        for family, document in (*RAW, *bombs(DOCUMENTS[kind])):
            cases.append(Bad(kind, family, document, range(1, document.count(b"\n") + 3)))
    for bad in cases:
        every.setdefault((bad.kind, bad.document), bad)
    return tuple(every.values())
